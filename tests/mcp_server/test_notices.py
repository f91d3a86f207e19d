"""What a client is told while it is connected: progress, changed settings, other tools."""

from __future__ import annotations

import os
import shlex
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from memolith import Memory
from memolith.context.engine import IndexCommands
from memolith.mcp_server.server import MemoryServer
from tests.mcp_server.conftest import Talk, call_and_cancel, program

if TYPE_CHECKING:
    from collections.abc import Callable


class Heard:
    """Everything a client was told without asking."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    async def __call__(self, message: Any) -> None:
        self.messages.append(message)

    def kinds(self) -> list[str]:
        return [str(getattr(message, "method", "")) for message in self.messages]

    async def until(self, there: Callable[[list[Any]], bool]) -> None:
        with anyio.fail_after(300):
            while not there(self.messages):
                await anyio.sleep(0.05)


def set_tools(root: str, tools: str) -> None:
    save(root, f'[mcp]\ntools = "{tools}"\n')


def save(root: str, settings: str) -> None:
    """As editors save: nobody sees half a file."""
    Path(root, "new.toml").write_text(settings, encoding="utf-8")
    os.replace(Path(root, "new.toml"), Path(root, "memolith.toml"))


def test_changed_settings_are_obeyed_and_told(root: str) -> None:
    with Memory(root) as memory:
        memory.init()
    set_tools(root, "memory_get")
    heard = Heard()

    async def run() -> None:
        async with Client(program(root), mode="legacy", message_handler=heard) as client:

            async def names() -> list[str]:
                return [tool.name for tool in (await client.list_tools(cache_mode="bypass")).tools]

            assert await names() == ["memory_get"]
            set_tools(root, "memory_get,memory_search")
            await heard.until(lambda _: "notifications/tools/list_changed" in heard.kinds())
            assert await names() == ["memory_get", "memory_search"]
            save(root, "[mcp\n")
            assert await names() == ["memory_get", "memory_search"]

    anyio.run(run)


def test_a_client_of_2026_hears_of_other_tools_when_it_listens(root: str) -> None:
    with Memory(root) as memory:
        memory.init()
    heard: list[Any] = []

    async def run() -> None:
        async with (
            Client(program(root), mode="auto") as client,
            client.listen(tools_list_changed=True) as news,
        ):
            set_tools(root, "memory_get")
            with anyio.fail_after(300):
                async for event in news:
                    heard.append(event)
                    break

    anyio.run(run)
    assert len(heard) == 1


def test_a_client_of_2026_hears_of_files_it_listens_to(root: str) -> None:
    with Memory(root) as memory:
        memory.init()
    heard: list[Any] = []

    async def run() -> None:
        uri = "memolith://file/MEMORY.md"
        async with (
            Client(program(root), mode="auto") as client,
            client.listen(resource_subscriptions=[uri], resources_list_changed=True) as news,
        ):

            async def write() -> None:
                for number in range(300):  # whoever watches may have only just begun
                    with Memory(root) as memory:
                        memory.remember(f"Tea at {number}")
                        memory.save_note(f"A note on tea {number}")
                    await anyio.sleep(1)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(write)
                with anyio.fail_after(300):
                    async for event in news:
                        heard.append(event)
                        if len({type(one) for one in heard}) == 2:
                            break
                tasks.cancel_scope.cancel()

    anyio.run(run)
    assert {type(one).__name__ for one in heard} == {"ResourceUpdated", "ResourcesListChanged"}


def test_what_can_change_is_promised_and_nothing_else(root: str, mode: str) -> None:
    async def ask(client: Client) -> types.ServerCapabilities:
        return client.server_capabilities

    with Memory(root) as memory:
        found = Talk(MemoryServer(memory), mode).with_client(ask)
    assert found.tools.list_changed
    assert found.resources.list_changed
    assert not found.prompts.list_changed
    assert bool(found.resources.subscribe) == (mode == "auto")


def test_a_list_of_files_that_groups_may_not_see_is_told_to_be_another(root: str) -> None:
    with Memory(root) as memory:
        memory.init()
    heard = Heard()

    async def run() -> None:
        async with Client(program(root), mode="legacy", message_handler=heard) as client:
            assert (await client.list_resources()).resources
            save(root, '[mcp]\nsession_kind = "group"\n')
            await heard.until(lambda _: "notifications/resources/list_changed" in heard.kinds())
            assert not (await client.list_resources(cache_mode="bypass")).resources

    anyio.run(run)


def test_long_work_tells_how_far_it_is(agent_memory: Memory, mode: str) -> None:
    for number in range(30):
        agent_memory.save_note(f"note {number}")
    steps: list[tuple[float, float | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        steps.append((progress, total))

    Talk(MemoryServer(agent_memory), mode).with_client(
        lambda client: client.call_tool("memory", {"action": "index"}, progress_callback=note)
    )
    assert steps
    assert steps[-1] == (30, 30)
    assert steps == sorted(steps)


def test_cancelled_work_stops_at_its_next_step(
    agent_memory: Memory, call_is_over: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        agent_memory.save_note(f"note {number}")
    begun = threading.Event()
    ended: list[str] = []
    real = IndexCommands.rebuild

    def slow(commands: IndexCommands, progress: Any) -> Any:
        def step(done: int, total: int) -> None:
            begun.set()
            assert call_is_over.wait(300)
            progress(done, total)

        try:
            return real(commands, step)
        except BaseException as error:
            ended.append(type(error).__name__)
            raise

    monkeypatch.setattr(IndexCommands, "rebuild", slow)

    async def cancel(client: Any) -> None:
        await call_and_cancel(client, begun, "memory", action="index")
        with anyio.fail_after(300):
            while not ended:
                await anyio.sleep(0.05)
        said = await client.call_tool("memory_search", {"query": "note 29"})
        assert not said.is_error

    Talk(MemoryServer(agent_memory), "legacy").with_client(cancel)
    assert ended == ["CallCancelledError"]
    assert agent_memory.search("note 29").hits  # what was left out is indexed by the next search


def test_a_misspelt_tool_takes_no_tool_away_from_a_running_server(root: str) -> None:
    with Memory(root) as memory:
        memory.init()
        set_tools(root, "memory_get")
        memory.reconfigure()
        talk = Talk(MemoryServer(memory), "legacy")
        set_tools(root, "memory_gte")
        assert "memory_gte" in memory.reconfigure().problem
        assert [tool.name for tool in talk.tools()] == ["memory_get"]


def test_what_is_wrong_with_changed_settings_is_on_standard_error(
    root: str, tmp_path: Path, mode: str
) -> None:
    with Memory(root) as memory:
        memory.init()
    error = tmp_path / "standard error"
    server = program(root)
    command = f"exec {shlex.join([server.command, *server.args])} 2> {shlex.quote(str(error))}"
    server = StdioServerParameters(command="sh", args=["-c", command], env=dict(os.environ))

    async def run() -> None:
        async with Client(server, mode=mode) as client:
            await client.list_tools()
            save(root, "[mcp\n")
            with anyio.fail_after(300):
                while "Settings kept as they were: " not in error.read_text():
                    await anyio.sleep(0.05)

    anyio.run(run)
