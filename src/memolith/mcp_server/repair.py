"""Messages with half a character in them, as a client sends that cut a text in the middle of an emoji.

The SDK cannot read such JSON, and who sent it would wait for an answer for ever.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A whole pair; or half of one; or any other escape, so that `\\ud800` is not taken for a half.
_ESCAPES = re.compile(
    rb"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\."
)
_UNKNOWN = rb"\ufffd"


def without_halves(line: bytes) -> bytes:
    """The JSON with the sign for an unknown character in place of each half; its length stays.

    >>> without_halves(rb'"\\ud83d\\ude00 \\ud83d"')
    b'"\\\\ud83d\\\\ude00 \\\\ufffd"'
    """
    if b"\\ud" not in line and b"\\uD" not in line:
        return line
    return _ESCAPES.sub(lambda found: _UNKNOWN if found["half"] else found[0], line)


class Repairing:
    """An ASGI application that is sent no halves."""

    def __init__(self, app: ASGIApp) -> None:
        """Stand before `app`."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on."""

        async def repaired() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                return {**message, "body": without_halves(message.get("body", b""))}
            return message

        await self._app(scope, repaired, send)
