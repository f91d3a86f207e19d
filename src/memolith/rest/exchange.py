"""The two halves of an exchange, as the guard sees them: a body that is read whole, an answer that is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.rest.answers import RequestError
from memolith.rest.web_pages import may_read

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Send

_HARMLESS_ANSWERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
)


async def read_body(receive: Receive, limit: int) -> bytes:
    """The whole body; one of more bytes than the limit is refused."""
    pieces: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise RequestError(400, "request", "The caller went away.")
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise too_large(limit)
        pieces.append(piece)
        if not message.get("more_body"):
            return b"".join(pieces)


def too_large(limit: int) -> RequestError:
    """What is said of a body that has more bytes."""
    return RequestError(
        413, "too-large", f"The body is larger than {limit:,} bytes.", hint="Send less at a time."
    )


def replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece, then whatever else the connection has to say."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return replay


class Reply:
    """Sends the answer on, with headers of ours; what comes after the time is over is dropped."""

    def __init__(self, send: Send, page: str = "") -> None:
        """Nothing is sent yet; `page` is a web page of another server that may read it."""
        self._send = send
        self._headers = (*_HARMLESS_ANSWERS, *(may_read(page) if page else ()))
        self._closed = False
        self._is_whole = False
        self.status = 0

    def close(self) -> None:
        """From now on only the guard answers; half an answer can only be taken back by hanging up."""
        self._closed = True
        if self.status:
            raise ConnectionAbortedError

    async def end(self) -> None:
        """End a stream as such: who reads it should not take it for cut off."""
        if self.status and not self._is_whole:
            await self({"type": "http.response.body"})

    async def __call__(self, message: Message) -> None:
        """Send one message."""
        if self._closed:
            return
        self._is_whole = message["type"] == "http.response.body" and not message.get("more_body")
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *self._headers]
        await self._send(message)
