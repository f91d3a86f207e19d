"""The MCP server: what a client asks for, handed to `Memory`, and its answers."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, TypeAlias

import anyio
import mcp_types as types
from anyio import from_thread, to_thread
from mcp.server.lowlevel import Server

from memolith.clock import monotonic
from memolith.errors import MemolithError
from memolith.mcp_server.answers import definition, error_result, result_of
from memolith.mcp_server.tool import read_text
from memolith.mcp_server.toolset import answer, chosen
from memolith.version import __version__

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

    from memolith.mcp_server.tool import Answer, Progress
    from memolith.memory import Memory

    Context: TypeAlias = ServerRequestContext[object]

_CALLS_AT_ONCE = 8
_PROGRESS_SECONDS = 0.1  # between two messages on how far a call is


class CallCancelledError(Exception):
    """The client no longer wants the answer: ends the work in its thread."""


class MemoryServer:
    """One memory as an MCP server; it serves any number of connections."""

    def __init__(self, memory: Memory) -> None:
        """Take an open memory; a tool that the settings ask for and that is not there is an error."""
        chosen(memory.config.mcp)
        self.memory = memory
        self._threads = anyio.CapacityLimiter(_CALLS_AT_ONCE)
        self.protocol: Server[object] = Server(
            "memolith",
            version=__version__,
            title="Memolith",
            instructions=read_text("server"),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    async def _list_tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        tools = chosen(self.memory.config.mcp)
        return types.ListToolsResult(tools=[definition(tool) for tool in tools.values()])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        cancelled = threading.Event()
        progress = _progress(context, cancelled)

        def work() -> Answer:
            return answer(self.memory, params.name, params.arguments or {}, progress)

        try:
            # The client is answered at once when it cancels; the work ends at its next step.
            done = await to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)
            return result_of(done)
        except MemolithError as error:
            return error_result(error)
        finally:
            cancelled.set()


def _progress(context: Context, cancelled: threading.Event) -> Progress:
    """Tells the client how far a call is, from the thread that does the work."""
    told = float("-inf")

    def tell(done: int, total: int) -> None:
        nonlocal told
        if cancelled.is_set():
            raise CallCancelledError
        if done == total or monotonic() - told >= _PROGRESS_SECONDS:
            told = monotonic()
            from_thread.run(context.session.report_progress, done, total)

    return tell
