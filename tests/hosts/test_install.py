"""`memolith install` writes only its own entries, and `memolith uninstall` leaves every file as it was."""

from __future__ import annotations

import json
import stat
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memolith.cli import options as exit_codes
from memolith.hosts.catalog import HOSTS, Host
from memolith.text import json_text
from tests.hosts.configs import CONFIGS, CURSOR, GEMINI
from tests.hosts.conftest import PROGRAM

if TYPE_CHECKING:
    from tests.hosts.conftest import User


def with_files(user: User, host: str, newline: str = "\n") -> None:
    for name, text in CONFIGS[host].items():
        path = user.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("\r\n", "\n").replace("\n", newline).encode())


def content(path: Path) -> Any:
    text = path.read_bytes().decode()
    return tomllib.loads(text) if path.suffix == ".toml" else json_text.parse(text).value


def server_of(user: User, host: Host) -> Any:
    found = content(user.home / host.folder / host.servers)
    for key in (*host.place, "memolith"):
        found = found[key]
    return found


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.anyio
async def test_what_is_installed_works_and_leaves_no_trace(
    host: str, newline: str, user: User
) -> None:
    with_files(user, host, newline)
    before = user.files()
    preview = user.memolith("install", host, "--dry-run")
    assert user.files() == before
    installed = user.memolith("install", host)
    assert "To do: " in installed
    after = user.files()
    assert PROGRAM in preview
    for name, data in before.items():
        rest = iter(after[name])
        assert all(byte in rest for byte in data), f"something of {name} is gone"
        assert after[name].count(b"\n") - after[name].count(b"\r\n") in (
            0,
            after[name].count(b"\n"),
        )
    assert user.memolith("install", host).count("Nothing to change") == 1
    assert user.files() == after

    server = server_of(user, HOSTS[host])
    assert server["command"] == PROGRAM
    ours = StdioServerParameters(
        command=server["command"], args=server["args"], env=user.environment
    )
    async with Client(stdio_client(ours)) as client:
        done = await client.call_tool("remember_this", {"text": "Ana owns the release key"})
        assert not done.is_error
    assert "release key" in user.memolith("list")

    user.memolith("uninstall", host)
    assert user.files() == before
    assert all(any(path.iterdir()) for path in user.home.rglob("*") if path.is_dir())


@pytest.mark.parametrize("host", HOSTS)
def test_a_host_without_settings_has_none_afterwards(host: str, user: User) -> None:
    user.memolith("install", host)
    assert user.files()
    user.memolith("uninstall", "all")
    if user.files():  # a host that was never used here
        user.memolith("uninstall", host)
    assert [*user.home.rglob("*")] == []


@pytest.mark.parametrize("host", HOSTS)
def test_what_others_changed_meanwhile_is_kept(host: str, user: User) -> None:
    with_files(user, host)
    user.memolith("install", host)
    changed = {}
    for name in CONFIGS[host]:
        path = user.home / name
        data = path.read_bytes()
        more = b"\n# later\n" if path.suffix in (".toml", ".md") else b"\n// later\n"
        path.write_bytes(data + more)
        changed[name] = more
    user.memolith("uninstall", host)
    for name, text in CONFIGS[host].items():
        path = user.home / name
        assert changed[name].strip() in path.read_bytes()
        assert b"bin/memolith" not in path.read_bytes()
        if path.suffix != ".md":
            was = text if path.suffix == ".toml" else None
            expected = tomllib.loads(was) if was else json_text.parse(text).value
            if name.startswith(".config/Claude"):
                assert isinstance(expected, dict)
                expected.pop("mcpServers")  # was empty
            assert content(path) == expected


def test_an_entry_of_the_users_own_comes_back(user: User) -> None:
    path = user.home / ".cursor" / "mcp.json"
    path.parent.mkdir()
    own = '{"mcpServers": {"memolith": {"command": "uvx", "args": ["memolith", "mcp"]}}}'
    path.write_text(own)
    user.memolith("install", "cursor")
    assert content(path)["mcpServers"]["memolith"]["command"] == PROGRAM
    user.memolith("uninstall", "cursor")
    assert path.read_text() == own


CODEX_ENTRY = """\
[mcp_servers.memolith] # mine
command = "memolith"
args = ["mcp", "--profile", "work", "--set", "mcp.tools=all"]
startup_timeout_sec = 40
env = {TZ = "UTC"}

[mcp_servers.memolith.tools.memory_search]
approval_mode = "approve"

[tui]
"""


def test_what_a_user_has_put_into_the_entry_stays(user: User) -> None:
    codex, cursor = user.home / ".codex" / "config.toml", user.home / ".cursor" / "mcp.json"
    for path in (codex, cursor):
        path.parent.mkdir()
    codex.write_text(CODEX_ENTRY)
    own = '{"mcpServers": {"memolith": {"env": {"TZ": "UTC"}, "command": "uvx", "args": ["memolith", "mcp"]}}}'
    cursor.write_text(own)
    before = user.files()
    for _ in range(2):
        user.memolith("install", "codex")
        user.memolith("install", "cursor")
        server = server_of(user, HOSTS["codex"])
        expected = tomllib.loads(CODEX_ENTRY)["mcp_servers"]["memolith"]
        assert server == {**expected, "command": PROGRAM}
        hooks = (codex.parent / "hooks.json").read_text()
        assert "context --profile work" in hooks
        assert server_of(user, HOSTS["cursor"])["env"] == {"TZ": "UTC"}
    user.memolith("init", "--profile", "home")
    user.memolith("install", "codex", "--profile", "home")
    server = server_of(user, HOSTS["codex"])
    assert server["args"] == ["mcp", "--profile", "home"]
    user.memolith("uninstall", "codex")
    user.memolith("uninstall", "cursor")
    assert user.files() == before


def test_what_a_user_adds_later_survives_an_update(user: User) -> None:
    user.memolith("install", "codex")
    user.memolith("install", "gemini")
    path = user.home / ".codex" / "config.toml"
    path.write_text(path.read_text() + "startup_timeout_sec = 40\n")
    settings = user.home / ".gemini" / "settings.json"
    settings.write_text(settings.read_text().replace('"command"', '"trust": true, "command"', 1))
    for _ in range(2):
        user.memolith("install", "codex")
        user.memolith("install", "gemini")
        assert server_of(user, HOSTS["codex"])["startup_timeout_sec"] == 40
        assert server_of(user, HOSTS["gemini"])["trust"] is True
    assert "Nothing to change" in user.memolith("install", "gemini")


def test_hooks_that_were_added_by_hand_are_not_doubled(user: User) -> None:
    path = user.home / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text(
        '{"hooks": {"PreCompact": [{"hooks": [{"type": "command", "command": "memolith flush"}]}]}}'
    )
    user.memolith("install", "codex")
    (group,) = content(path)["hooks"]["PreCompact"]
    assert group["hooks"][0]["command"].startswith(f"'{PROGRAM}'" if " " in PROGRAM else PROGRAM)


def test_an_update_replaces_the_older_entry(user: User) -> None:
    with_files(user, "gemini")
    before = user.files()
    user.memolith("install", "gemini")
    user.memolith("install", "gemini", "--root", str(user.home / "work"))
    server = server_of(user, HOSTS["gemini"])
    assert server["args"] == ["mcp", "--root", str(user.home / "work")]
    user.memolith("uninstall", "gemini")
    assert user.files() == before


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("cursor", ".cursor/mcp.json", CURSOR[:-1]),
        ("gemini", ".gemini/settings.json", GEMINI.replace('"theme":', '"theme"')),
        ("codex", ".codex/config.toml", 'mcp_servers = "none"\n'),
        ("codex", ".codex/config.toml", "model = \n"),
        ("codex", ".codex/config.toml", 'mcp_servers = {notes = {command = "x"}} # !\n[tui]\n'),
        ("vscode", ".config/Code/User/mcp.json", '{"servers": []}'),
    ],
)
def test_a_file_that_cannot_be_parsed_stays_as_it_is(
    host: str, name: str, text: str, user: User
) -> None:
    path = user.home / name
    path.parent.mkdir(parents=True)
    path.write_text(text)
    done = user.run(PROGRAM, "install", host)
    assert done.returncode != 0
    assert str(path) in done.stderr
    assert "memolith install mcp" in done.stderr
    assert user.files() == {name: text.encode()}


def test_a_table_of_codex_that_was_changed_by_hand_is_removed_too(user: User) -> None:
    path = user.home / ".codex" / "config.toml"
    path.parent.mkdir()
    user.memolith("install", "codex")
    ours = path.read_text()
    more = '[mcp_servers.memolith.tools.memory_search]\napproval_mode = "approve"\n\n[tui] # mine\n'
    path.write_text(f"{ours}\n# all of it\n{more}")
    user.memolith("uninstall", "codex")
    assert "memolith" not in path.read_text()
    assert content(path) == {"tui": {}}
    assert "# all of it" in path.read_text()


def test_modes_and_links_of_the_user_are_kept(user: User) -> None:
    dotfiles = user.home / "dotfiles"
    dotfiles.mkdir()
    real, link = dotfiles / "mcp.json", user.home / ".cursor" / "mcp.json"
    real.write_text(CURSOR)
    real.chmod(0o640)
    link.parent.mkdir()
    link.symlink_to(real)
    user.memolith("install", "cursor")
    assert link.is_symlink()
    assert "memolith" in real.read_text()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    backups = [*(user.home / ".memolith" / "host-backups").iterdir()]
    assert [backup.read_text() for backup in backups] == [CURSOR]
    assert stat.S_IMODE(backups[0].stat().st_mode) == 0o600  # there may be keys in it
    user.memolith("uninstall", "cursor")
    assert link.is_symlink()
    assert real.read_text() == CURSOR


def test_a_skill_of_somebody_else_is_left_alone(user: User) -> None:
    path = user.home / ".codex" / "skills" / "memory" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: memory\n---\nMine.\n")
    done = user.run(PROGRAM, "install", "codex")
    assert "somebody else's" in done.stderr
    user.memolith("uninstall", "codex")
    assert path.read_text().endswith("Mine.\n")


def test_the_user_learns_that_chats_are_kept_and_how_not_to(user: User) -> None:
    said = user.memolith("install", "codex").splitlines()
    kept = [line for line in said if line.startswith("Chats will be kept in ")]
    assert len(kept) == 1
    assert "conversation-history.jsonl" in kept[0]
    assert kept[0].endswith("memolith install codex --no-log")
    hooks = content(user.home / ".codex" / "hooks.json")["hooks"]
    assert "log --hook" in json.dumps(hooks["Stop"])
    quiet = user.memolith("install", "codex", "--no-log")
    assert "Chats will be kept" not in quiet
    assert "Stop" not in content(user.home / ".codex" / "hooks.json")["hooks"]


def test_all_is_every_host_of_this_machine(user: User) -> None:
    done = user.run(PROGRAM, "install", "all")
    assert done.returncode != 0
    assert "Name it" in done.stderr
    with_files(user, "cursor")
    with_files(user, "claude-desktop")
    before = user.files()
    said = json.loads(user.memolith("install", "all", "--json"))
    assert [one["host"] for one in said["hosts"]] == ["cursor", "claude-desktop"]
    user.memolith("uninstall", "all")
    assert user.files() == before
    assert user.memolith("uninstall", "all") == ""


def test_a_broken_file_does_not_stop_the_other_hosts(user: User) -> None:
    with_files(user, "cursor")
    broken = user.home / ".codex" / "config.toml"
    broken.parent.mkdir()
    broken.write_text("model = \n")
    done = user.run(PROGRAM, "install", "all")
    assert done.returncode == exit_codes.CODES["file-format"]
    assert "Codex is left as it is: " in done.stderr
    assert str(broken) in done.stderr
    assert broken.read_text() == "model = \n"
    assert server_of(user, HOSTS["cursor"])["command"] == PROGRAM


def test_any_other_client_gets_a_snippet(user: User) -> None:
    snippet = json.loads(user.memolith("install", "mcp", "--profile", "work"))
    args = ["mcp", "--profile", "work"]
    assert snippet == {"mcpServers": {"memolith": {"command": PROGRAM, "args": args}}}
    assert user.files() == {}


def test_it_is_removed_even_if_nobody_remembers_what_was_installed(user: User) -> None:
    with_files(user, "claude-desktop")
    user.memolith("install", "claude-desktop")
    (user.home / ".memolith" / "hosts.json").unlink()
    user.memolith("uninstall", "claude-desktop")
    path = user.home / ".config" / "Claude" / "claude_desktop_config.json"
    assert content(path) == {"globalShortcut": "Ctrl+Space"}
