"""Web pages that the user has listed: their browser asks first whether they may call, and read answers.

A browser asks without the token, so it is told before that is looked at; the call that follows shows it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Scope

_METHODS = "GET, POST, PUT, DELETE"
_SENT = (
    "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id, "
    "X-Callback-Token"
)
_READ = "Mcp-Session-Id, Retry-After"
_SECONDS = "600"  # so long a browser does not ask again


def hosts(allow: Iterable[str]) -> set[str]:
    """The host names among the entries of `serve.allow`; the rest are pages."""
    return {entry.lower() for entry in allow if not _is_page(entry)}


def pages(allow: Iterable[str]) -> set[str]:
    """The origins of web pages among them."""
    return {entry.lower() for entry in allow if _is_page(entry)}


def _is_page(entry: str) -> bool:
    return "://" in entry or entry == "null"


def page_of(scope: Scope, allow: Iterable[str]) -> str:
    """The page that calls, if it is one of these; "" for every other caller."""
    origin: str = dict(scope["headers"]).get(b"origin", b"").decode("latin-1")
    return origin if origin.lower() in pages(allow) else ""


def asks_first(scope: Scope) -> bool:
    """Whether a browser asks what a page may do, instead of doing it."""
    named = b"access-control-request-method" in dict(scope["headers"])
    return scope["method"] == "OPTIONS" and named


def may_call() -> Response:
    """What a browser is told that asks for a listed page."""
    allowed = {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": _SENT,
        "Access-Control-Max-Age": _SECONDS,
    }
    return Response(status_code=204, headers=allowed)


def may_read(page: str) -> list[tuple[bytes, bytes]]:
    """The headers by which this page may read an answer: this one alone, and without cookies."""
    return [
        (b"access-control-allow-origin", page.encode("latin-1")),
        (b"access-control-expose-headers", _READ.encode()),
        (b"vary", b"Origin"),
    ]
