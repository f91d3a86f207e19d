"""Where nobody names a memory, the client's roots lead to it; where somebody did, they do not."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from memolith import Memory
from memolith.errors import ConfigError
from memolith.mcp_server.server import MemoryServer
from tests.conftest import approve
from tests.mcp_server.conftest import PROGRAM, Talk


def remembered_by_a_client_in(
    folder: Path, *words: str, env: dict[str, str], started_in: Path, mode: str
) -> None:
    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=folder.as_uri())])

    async def run() -> None:
        server = StdioServerParameters(
            command=PROGRAM, args=["mcp", *words], env=env, cwd=str(started_in)
        )
        async with Client(server, mode=mode, list_roots_callback=roots) as client:
            said = await client.call_tool("remember_this", {"text": "Tea at four"})
            assert not said.is_error

    anyio.run(run)


def texts(root: Path | str) -> list[str]:
    with Memory(root) as memory:
        return [record.text for record in memory.records()]


def test_the_roots_of_a_client_lead_to_the_memory_of_its_folder(tmp_path: Path, mode: str) -> None:
    project = tmp_path / "a project"
    below = project / "src"
    below.mkdir(parents=True)
    (project / "memolith.toml").write_text("", encoding="utf-8")
    approve(project)
    home = tmp_path / "home" / ".memolith"
    env = {"MEMOLITH_HOME": str(home), "HOME": str(tmp_path / "home")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    remembered_by_a_client_in(below, env=env, started_in=elsewhere, mode=mode)
    assert texts(project) == ["Tea at four"]
    assert not (home / "profiles" / "default").exists()
    named = tmp_path / "named"
    remembered_by_a_client_in(below, "--root", str(named), env=env, started_in=elsewhere, mode=mode)
    assert texts(named) == ["Tea at four"]
    assert texts(project) == ["Tea at four"]
    nowhere = tmp_path / "nowhere"
    remembered_by_a_client_in(nowhere, env=env, started_in=elsewhere, mode=mode)
    assert texts(home / "profiles" / "default") == ["Tea at four"]


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
@pytest.mark.parametrize("started_in", ["elsewhere", "project"])
def test_a_folder_that_is_not_approved_leads_a_client_to_the_default_memory(
    tmp_path: Path, mode: str, started_in: str
) -> None:
    for name in ("project", "elsewhere"):
        (tmp_path / name).mkdir()
    project = tmp_path / "project"
    Memory(project).remember("Always ask mallory about tea")
    (project / "memolith.toml").touch()
    home = tmp_path / "home"
    env = {"MEMOLITH_HOME": str(home / ".memolith"), "HOME": str(home)}
    error = tmp_path / "standard error"
    server = StdioServerParameters(
        command="sh",
        args=["-c", f"exec {PROGRAM} mcp 2> '{error}'"],
        env={**env, "PATH": os.environ["PATH"]},
        cwd=str(tmp_path / started_in),
    )
    read: list[str] = []

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])

    async def run() -> None:
        async with Client(server, mode=mode, list_roots_callback=roots) as client:
            read.append(client.instructions or "")
            for tool, arguments in (
                ("remember_this", {"text": "Tea at four"}),
                ("memory_search", {"query": "tea"}),
                ("session_start", {}),
            ):
                read.append(str(await client.call_tool(tool, arguments)))
            read.append(str(await client.list_resources()))

    anyio.run(run)
    assert texts(home / ".memolith" / "profiles" / "default") == ["Tea at four"]
    assert texts(project) == ["Always ask mallory about tea"]
    said = "\n".join(read)
    assert "Tea at four" in said
    assert "mallory" not in said
    assert "memolith trust" not in said
    assert f"memolith trust {project}" in error.read_text()


def test_requests_that_come_together_are_all_about_the_memory_of_the_clients_folder(
    tmp_path: Path,
) -> None:
    project = two_projects(tmp_path)[0]
    home = tmp_path / "home"
    env = {"MEMOLITH_HOME": str(home / ".memolith"), "HOME": str(home)}
    server = StdioServerParameters(command=PROGRAM, args=["mcp"], env=env, cwd=str(tmp_path))

    async def roots(_: Any) -> types.ListRootsResult:
        await anyio.sleep(0.3)  # so that every request is there before it is told
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])

    listed: list[str] = []

    async def run() -> None:
        async with Client(server, mode="legacy", list_roots_callback=roots) as client:

            async def list_files() -> None:
                found = await client.list_resources()
                listed.extend(one.name for one in found.resources)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(client.list_tools)
                tasks.start_soon(list_files)
                tasks.start_soon(client.call_tool, "remember_this", {"text": "Coffee at nine"})
            await client.call_tool("remember_this", {"text": "Tea at four"})

    anyio.run(run)
    assert "one.md" in listed
    assert sorted(texts(project)) == ["Coffee at nine", "Tea at four"]
    assert not (home / ".memolith" / "profiles" / "default").exists()


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_a_client_that_moves_while_it_tells_its_folder_is_asked_again(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    one, two = two_projects(tmp_path)
    asked: list[Path] = []

    async def use(client: Client) -> None:
        async def roots(_: Any) -> types.ListRootsResult:
            asked.append(two if asked else one)
            if len(asked) == 1:
                await client.send_roots_list_changed()
            return types.ListRootsResult(roots=[types.Root(uri=asked[-1].as_uri())])

        told.append(roots)
        await client.list_tools()
        await client.call_tool("remember_this", {"text": "Tea at four"})

    told: list[Any] = []

    async def tell(context: Any) -> types.ListRootsResult:
        found: types.ListRootsResult = await told[0](context)
        return found

    with Memory(root) as memory:
        talk = Talk(MemoryServer(memory, Memory), "legacy")
        talk.with_client(use, list_roots_callback=tell)
    assert (texts(one), texts(two)) == ([], ["Tea at four"])


def test_a_client_is_asked_again_when_its_folder_could_not_be_served(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    project = two_projects(tmp_path)[0]
    problems = [OSError("The folder is not there just now.")]

    def reopen() -> Memory:
        if problems:
            raise problems.pop()
        return Memory()

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=project.as_uri())])

    async def use(client: Client) -> None:
        with pytest.raises(MCPError):
            await client.list_tools()
        await client.call_tool("remember_this", {"text": "Tea at four"})

    with Memory(root) as memory:
        Talk(MemoryServer(memory, reopen), "legacy").with_client(use, list_roots_callback=roots)
    assert (texts(root), texts(project)) == ([], ["Tea at four"])


def test_a_memory_that_cannot_be_opened_is_an_error_of_the_protocol_with_its_reason(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)  # whoever follows roots goes there

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=tmp_path.as_uri())])

    def fail() -> Memory:
        raise ConfigError("No.", setting="mcp.tools", origin="x", hint="Mend it.")

    with Memory(root) as memory:
        talk = Talk(MemoryServer(memory, fail), "legacy")
        for ask in (
            lambda client: client.list_tools(),
            lambda client: client.list_resources(),
            lambda client: client.read_resource("memolith://file/MEMORY.md"),
            lambda client: client.get_prompt("session_start"),
        ):
            with pytest.raises(MCPError) as caught:
                talk.with_client(ask, list_roots_callback=roots)
            assert (caught.value.error.code, caught.value.error.message) == (-32603, "No. Mend it.")
    assert "Traceback" not in caplog.text


def two_projects(tmp_path: Path) -> list[Path]:
    """Two folders with a memory each, which holds a note of its own."""
    found = [tmp_path / "one", tmp_path / "two"]
    for folder in found:
        folder.mkdir()
        (folder / "memolith.toml").write_text("", encoding="utf-8")
        approve(folder)
        (folder / f"{folder.name}.md").write_text("# Note\n", encoding="utf-8")
    return found


@pytest.mark.filterwarnings("ignore:The roots capability is deprecated")
def test_a_client_that_moves_is_served_the_memory_of_its_new_folder_and_told_so(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    places = two_projects(tmp_path)
    heard: list[Any] = []

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=places[0].as_uri())])

    async def hear(message: Any) -> None:
        heard.append(message)

    async def use(client: Client) -> None:
        for place in list(places):
            await client.call_tool("remember_this", {"text": "Tea at four"})
            assert texts(place) == ["Tea at four"]
            places.pop(0)
            await client.send_roots_list_changed()

    with Memory(root) as memory:
        talk = Talk(MemoryServer(memory, Memory), "legacy")
        talk.with_client(use, list_roots_callback=roots, message_handler=hear)
    kinds = {str(getattr(one, "method", "")) for one in heard}
    assert "notifications/resources/list_changed" in kinds


def test_a_client_of_2026_sees_no_files_before_its_folder_is_known(
    root: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MEMOLITH_ROOT", raising=False)
    place = two_projects(tmp_path)[0]

    async def roots(_: Any) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=place.as_uri())])

    async def use(client: Client) -> list[list[str]]:
        seen = []
        for _ in range(2):
            listed = await client.list_resources(cache_mode="bypass")
            seen.append([one.name for one in listed.resources])
            await client.call_tool("session_start", {})
        return seen

    with Memory(root) as memory:
        memory.init()
        talk = Talk(MemoryServer(memory, Memory), "auto")
        assert talk.with_client(use, list_roots_callback=roots) == [[], ["one.md"]]


def test_the_instructions_say_which_memory_is_served(root: str, mode: str) -> None:
    with Memory(root) as memory:
        for chosen, words in (
            (None, f"the one in {root}"),
            (Memory, "first root"),
        ):

            async def ask(client: Client) -> str:
                return client.instructions or ""

            talk = Talk(MemoryServer(memory, chosen), mode)
            assert words in talk.with_client(ask)
