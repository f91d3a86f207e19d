"""Connections whose requests never come: closed after a while, so that they take nobody's place.

uvicorn waits for the end of the headers for ever. (A body has a time-out in the guard.)
"""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from memolith.rest import guard
from memolith.rest.answers import Answer, RequestError, detail_of

_LATE = RequestError(408, "timeout", "The headers of the request did not arrive in time.")


class ImpatientProtocol(H11Protocol):
    """A connection: counts from its beginning, or from the first byte of a further request."""

    _overdue: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody connects."""
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        """Some bytes of a request, which may be all of its headers."""
        super().data_received(data)
        # No cycle before the first request, whatever its type says.
        if self.cycle is None or self.cycle.response_complete:  # type: ignore[redundant-expr]
            self._await_headers()
        else:
            self._no_longer_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Somebody has gone."""
        self._no_longer_wait()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        if self._overdue is None:
            self._overdue = self.loop.call_later(guard.TIMEOUT_SECONDS, self._hang_up)

    def _no_longer_wait(self) -> None:
        if self._overdue is not None:
            self._overdue.cancel()
            self._overdue = None

    def _hang_up(self) -> None:
        if self.conn.our_state is h11.IDLE and self.conn.trailing_data[0]:
            self.transport.write(_answer())
        self.transport.close()


def _answer() -> bytes:
    body = bytes(Answer({"error": detail_of(_LATE, "")}).body)
    head = (
        f"HTTP/1.1 {_LATE.status} Request Timeout\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
