"""Ways to talk to the server: in this process, which is fast, and as the real program."""

from __future__ import annotations

import json
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from memolith import Memory
from memolith.mcp_server.server import MemoryServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memolith.clock import Clock

PROGRAM = str(Path(sys.executable).with_name("memolith"))
MODES = ("legacy", "auto")  # the handshake protocols, and that of 2026-07-28


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a call came to."""

    text: str
    values: Any
    failed: bool

    @property
    def error(self) -> Any:
        """The error object."""
        assert self.failed
        return json.loads(self.text)["error"]


class Talk:
    """Calls to one server in this process, each on a connection of its own."""

    def __init__(self, server: MemoryServer, mode: str) -> None:
        self.server = server
        self.mode = mode

    def with_client(self, use: Callable[[Client], Any], **options: Any) -> Any:
        """Connect, do something, and leave; an error of the protocol is raised afterwards."""

        async def run() -> Any:
            async with Client(self.server, mode=self.mode, **options) as client:
                try:
                    return await use(client)
                except MCPError as error:  # to raise it in here would end the connection too
                    return error

        result = anyio.run(run)
        if isinstance(result, MCPError):
            raise result
        return result

    def tools(self) -> list[Any]:
        """What is listed."""
        return list(self.with_client(lambda client: client.list_tools()).tools)

    def __call__(self, tool: str, **arguments: Any) -> Said:
        result = self.with_client(lambda client: client.call_tool(tool, arguments))
        return Said(
            text=result.content[0].text,
            values=result.structured_content,
            failed=bool(result.is_error),
        )


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """How client and server greet each other."""
    return str(request.param)


@pytest.fixture
def agent_memory(root: str, clock: Clock) -> Iterator[Memory]:
    """A memory as the server opens it, with every tool."""
    with Memory(root, clock=clock, channel="mcp", settings={"mcp.tools": "all"}) as memory:
        yield memory


@pytest.fixture
def talk(agent_memory: Memory) -> Talk:
    """Talk to a server with every tool."""
    return Talk(MemoryServer(agent_memory), "legacy")


@pytest.fixture
def call_is_over(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set when the server is done with a call: answered, or cancelled. Its work may still go on."""
    over, real = threading.Event(), MemoryServer._call_tool

    async def noted(self: MemoryServer, context: Any, params: Any) -> Any:
        try:
            return await real(self, context, params)
        finally:
            over.set()

    monkeypatch.setattr(MemoryServer, "_call_tool", noted)
    return over


async def call_and_cancel(
    client: Client, begun: threading.Event, tool: str, **arguments: Any
) -> None:
    """Call a tool, and cancel the call when its work has begun."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.call_tool, tool, arguments)
        assert await anyio.to_thread.run_sync(begun.wait, 300)
        tasks.cancel_scope.cancel()


def program(root: str, *words: str) -> StdioServerParameters:
    """How a client starts the real server."""
    return StdioServerParameters(command=PROGRAM, args=["mcp", "--root", root, *words])
