"""Who may call, and how: checked for every request before anything else sees it.

A local port can be reached by any web page in the user's browser. So a request must be addressed to
a name of ours (against DNS rebinding), must not come from a page we do not know (against forgery),
must show the token in a header, and must be JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memolith.memory import Memory
from memolith.rest.answers import RECALL_PATH, RequestError
from memolith.rest.callers import Allowance, TokenFile
from memolith.rest.web_pages import asks_first, hosts, page_of, pages

if TYPE_CHECKING:
    from starlette.types import Scope

Headers = Mapping[bytes, bytes]

MAX_REQUESTS_PER_SECOND = 500.0  # of one token, with bursts of as many
OPEN_PATHS = ("/healthz", "/readyz")  # they tell nothing but whether we are well
WITHOUT_BODY = ("GET", "HEAD", "OPTIONS")


class Admission:
    """Decides which requests are let in."""

    def __init__(self, memory: Memory, port: int) -> None:
        """Those of a server for `memory` that is reached on `port`; its settings are read at each request."""
        self._memory = memory
        self._port = port
        self._token = TokenFile(memory.root)
        self._allowance = Allowance()

    def check(self, scope: Scope) -> None:
        """Raise RequestError for a request that must not be looked at any further."""
        headers = _headers(scope)
        self._check_caller(scope, headers)
        if is_open(scope) or self.asks_for_a_page(scope):
            return
        if not self._allowance.take(MAX_REQUESTS_PER_SECOND):
            raise RequestError(
                429,
                "too-many",
                "Too many requests.",
                hint="Wait a moment.",
            )
        _check_content_type(scope, headers)

    def still_lets_in(self, scope: Scope) -> bool:
        """Whether who listens may go on: a token may have been rotated, a page taken off the list."""
        try:
            self._check_caller(scope, _headers(scope))
        except RequestError:
            return False
        return True

    def _check_caller(self, scope: Scope, headers: Headers) -> None:
        self._check_host(headers)
        self._check_origin(headers)
        if is_open(scope) or self.asks_for_a_page(scope):
            return
        if not self._token.accepts(_given_token(scope, headers)):
            raise RequestError(
                401,
                "token",
                "The token is missing or wrong.",
                hint="Send the header that this prints: memolith token --header",
            )

    def page(self, scope: Scope) -> str:
        """The web page of another server that calls, if the user has listed it."""
        return page_of(scope, self._memory.config.serve.allow)

    def asks_for_a_page(self, scope: Scope) -> bool:
        """Whether a browser asks, before it calls, if a listed page may."""
        return asks_first(scope) and bool(self.page(scope))

    def _check_host(self, headers: Headers) -> None:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if host not in self._hosts():
            raise RequestError(
                421,
                "host",
                "This server does not answer for that host name.",
                hint="Call it by 127.0.0.1 or localhost, or add the name to serve.allow.",
            )

    def _hosts(self) -> set[str]:
        serve = self._memory.config.serve
        names = {"127.0.0.1", "localhost", "[::1]", serve.host.lower(), *hosts(serve.allow)}
        return {f"{name}:{self._port}" for name in names} | (names if self._port == 80 else set())

    def _check_origin(self, headers: Headers) -> None:
        origin = headers.get(b"origin")
        if origin is None:
            return  # not a web page
        allowed = {*pages(self._memory.config.serve.allow), *self._own_origins()}
        if origin.decode("latin-1").lower() not in allowed:
            raise RequestError(
                403,
                "origin",
                "This web page may not call the server.",
                hint="Add it to serve.allow.",
            )

    def _own_origins(self) -> set[str]:
        return {f"http://{host}" for host in self._hosts()}


def is_open(scope: Scope) -> bool:
    """Whether this needs no token."""
    return scope["path"] in OPEN_PATHS and scope["method"] in ("GET", "HEAD")


def _headers(scope: Scope) -> Headers:
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        if name in headers and name in (b"host", b"origin", b"authorization", b"content-type"):
            raise RequestError(400, "request", f"The header {name.decode('latin-1')} stands twice.")
        headers[name] = value
    return headers


def _given_token(scope: Scope, headers: Headers) -> str:
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    if scope["path"] == RECALL_PATH:
        return headers.get(b"x-callback-token", b"").decode("latin-1").strip()
    return ""


def _check_content_type(scope: Scope, headers: Headers) -> None:
    has_body = headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers
    given = headers.get(b"content-type")
    if scope["method"] in WITHOUT_BODY or (given is None and not has_body):
        return
    kind = (given or b"").decode("latin-1").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RequestError(
            415,
            "content-type",
            "The body must be JSON.",
            hint="Send Content-Type: application/json",
        )
