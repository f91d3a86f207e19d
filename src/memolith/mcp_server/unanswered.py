"""Which requests of a client are still without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

if TYPE_CHECKING:
    from mcp_types import JSONRPCMessage


class Unanswered:
    """Looks at what comes and what goes."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self._ids: set[object] = set()
        self._changed = anyio.Event()

    def came(self, message: JSONRPCMessage) -> None:
        """The client said this."""
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method.endswith("/cancelled"):
            self._done((message.params or {}).get("requestId"))

    def went(self, message: JSONRPCMessage) -> None:
        """The client was told this."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._done(message.id)

    async def none_left(self) -> None:
        """Wait until everything is answered."""
        while self._ids:
            self._changed = anyio.Event()
            await self._changed.wait()

    def _done(self, request: object) -> None:
        if isinstance(request, int | str):
            self._ids.discard(request)
            self._changed.set()
