"""`doctor` looks around: the index beside the files, and the programs that start us."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.jobs.server_files import TOKEN, server_token
from tests.jobs.damage import findings

if TYPE_CHECKING:
    from pathlib import Path

    from memolith.jobs.reports import Check

pytestmark = pytest.mark.usefixtures("opened_model")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's home, with no host in it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def statuses(memory: Memory, check_id: str) -> list[str]:
    return [check.status for check in memory.doctor().checks if check.id == check_id]


def hosts(memory: Memory) -> list[Check]:
    return findings(memory, "hosts")


def write(file: Path, text: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_an_index_is_off_until_a_search_makes_it_then_in_line_then_behind(
    files: Path, memory: Memory
) -> None:
    memory.remember("Tea")
    assert statuses(memory, "index") == ["off"]
    memory.search("tea")
    assert statuses(memory, "index") == ["ok"]
    (files / "memory" / "new.md").write_text("# New\n\nCoffee\n", encoding="utf-8")
    [found] = findings(memory, "index")
    assert (found.status, found.message) == ("info", "1 file changed since the last look.")


def test_a_damaged_index_is_named_left_as_it_is_and_made_anew_by_fixing(
    files: Path, memory: Memory
) -> None:
    memory.remember("Tea at four")
    for number in range(300):
        memory.remember(f"Tea number {number} is {number * 7919} years old")
    memory.search("tea")
    memory.close()
    [index] = (files / ".memolith" / "index").glob("*.db")
    data = index.read_bytes()
    index.write_bytes(data[: 3 * 4096] + bytes(range(255, -1, -1)) * 16 * 5 + data[8 * 4096 :])
    before = {path: path.read_bytes() for path in index.parent.iterdir()}
    for _ in range(2):
        assert memory.index.status().damaged
        [found] = findings(memory, "index")
        assert (found.status, "damaged" in found.message) == ("warn", True)
        assert {path: path.read_bytes() for path in index.parent.iterdir()} == before
    assert "index" in "".join(memory.doctor(fix=True).mended)
    assert memory.doctor(fix=True).mended == ()
    assert statuses(memory, "index") == ["ok"]
    assert memory.index.status().current


def test_an_index_that_cannot_be_opened_is_an_error(files: Path, memory: Memory) -> None:
    (files / ".memolith" / "index").write_text("not a folder")
    [found] = findings(memory, "index")
    assert found.status == "error"


def test_without_a_host_there_is_nothing_to_check(home: Path, memory: Memory) -> None:
    assert statuses(memory, "hosts") == ["off"]


def test_a_host_that_does_not_know_us_is_worth_a_line_with_its_command(
    home: Path, memory: Memory
) -> None:
    (home / ".codex").mkdir()
    [found] = hosts(memory)
    assert found.status == "info"
    assert "memolith install codex" in found.hint


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".codex/config.toml", "[mcp_servers.memolith]\ncommand = 'memolith'\n"),
        (".cursor/mcp.json", '{"mcpServers": {"memolith": {"command": "memolith"}}}'),
        (".cursor/mcp.json", '{"mcpServers": {"notes": {"command": "uvx", "args": ["memolith"]}}}'),
        (".cursor/mcp.json", '{"mcpServers": {"notes": {"command": "/home/ana/bin/memolith"}}}'),
        (".claude.json", '{"enabledPlugins": {"memolith@market": true}}'),
        (".openclaw/openclaw.json", "// mine\n{mcp: {servers: {memolith: {url: 'x',},},},}\n"),
    ],
)
def test_a_host_that_names_us_in_its_settings_knows_us(
    home: Path, memory: Memory, file: str, text: str
) -> None:
    if file == ".claude.json":
        (home / ".claude").mkdir()
    write(home / file, text)
    assert hosts(memory) == []


@pytest.mark.parametrize(
    "text", ["", "{", '{"projects": {"/home/ana/memolith": {}}}', '{"folder": "~/.memolith"}', "\0"]
)
def test_whatever_else_stands_in_a_hosts_file_it_does_not(
    home: Path, memory: Memory, text: str
) -> None:
    write(home / ".cursor/mcp.json", text)
    assert [check.status for check in hosts(memory)] == ["info"]


def test_a_token_that_others_could_read_is_replaced_by_fixing_and_closed(
    files: Path, memory: Memory
) -> None:
    known = server_token(str(files), memory.config.store)
    (files / TOKEN).chmod(0o644)
    [found] = findings(memory, "server")
    assert (found.status, "memolith token --rotate" in found.hint) == ("error", True)
    assert TOKEN in findings(memory, "modes")[0].message
    assert "token" in "".join(memory.doctor(fix=True).mended)
    assert (files / TOKEN).stat().st_mode & 0o777 == 0o600
    assert server_token(str(files), memory.config.store) not in ("", known)
    again = memory.doctor(fix=True)
    assert (again.mended, findings(memory, "server"), findings(memory, "modes")) == ((), [], [])
    (files / TOKEN).chmod(0o640)
    server_token(str(files), memory.config.store, rotate=True)
    assert findings(memory, "server") == []


def test_every_part_of_a_memory_has_its_check(home: Path, memory: Memory) -> None:
    memory.remember("Tea")
    ids = {check.id for check in memory.doctor().checks}
    wanted = "files records shapes lock index model space place modes hosts server jobs conflicts"
    assert set(wanted.split()) <= ids


def test_doctor_connects_to_no_host_but_loopback(
    root: str, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def connect(_: object, address: object, *more: object) -> None:
        asked.append(address)
        raise ConnectionRefusedError

    def look_up(host: object, *more: object, **options: object) -> list[object]:
        asked.append(host)
        raise socket.gaierror

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    settings = {
        "embed.kind": "openai",
        "embed.url": "https://models.example.com/v1",
        "embed.model": "m",
        "llm.url": "https://models.example.com/v1",
        "serve.host": "192.0.2.7",
    }
    with Memory(root, settings=settings) as memory:
        server_token(root, memory.config.store)
        report = memory.doctor()
    loopback = {"localhost", "127.0.0.1", "::1"}
    assert {one[0] if isinstance(one, tuple) else one for one in asked} <= loopback
    (model,) = [check for check in report.checks if check.id == "model"]
    assert (model.status, "is not asked" in model.message) == ("info", True)
