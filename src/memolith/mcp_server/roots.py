"""Which memory, when nobody named one: that of the folder the client works in, which it tells us.

A client may start us anywhere. Its roots then stand in for the current folder, and the usual rules
find the memory; once found, it stays the same for as long as the client is connected.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes, urlsplit

import anyio
import mcp_types as types
from mcp.shared.exceptions import MCPError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server.context import ServerRequestContext

    from memolith.memory import Memory

_SECONDS = 3.0


class ClientRoots:
    """Asks one client for its roots, once, before its first request is answered."""

    def __init__(self, reopen: Callable[[], Memory]) -> None:
        """`reopen` finds and opens the memory from the current folder."""
        self._reopen = reopen
        self._asking = anyio.Lock()
        self._settled = False

    async def choose(self, context: ServerRequestContext[object], memory: Memory) -> Memory:
        """The memory of the client's first root that is a folder here, or the one there is."""
        async with self._asking:
            if self._settled:
                return memory
            folder = next(filter(os.path.isdir, await _roots(context)), "")
            if folder:
                os.chdir(folder)
                found = self._reopen()
                if found.root != memory.root:
                    memory.close()
                    memory = found
            self._settled = True
            return memory


async def _roots(context: ServerRequestContext[object]) -> list[str]:
    known = context.session.client_capabilities
    if known is None or known.roots is None or not context.session.can_send_request:
        return []
    try:
        answer = await context.session.send_request(
            types.ListRootsRequest(), types.ListRootsResult, request_read_timeout_seconds=_SECONDS
        )
    except MCPError:  # it has roots, it says, but does not tell them
        return []
    places = [urlsplit(str(root.uri)) for root in answer.roots]
    return [os.fsdecode(unquote_to_bytes(at.path)) for at in places if at.scheme == "file"]
