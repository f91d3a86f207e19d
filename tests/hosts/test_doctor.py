"""`memolith doctor` sends a request through each entry that was installed, and sees what is missing."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from memolith.hosts import check
from tests.hosts.conftest import PROGRAM
from tests.hosts.test_install import HOSTS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hosts.conftest import User


def found(user: User, title: str) -> dict[str, str]:
    """The messages of doctor on one host, and their status."""
    checks = json.loads(user.memolith("doctor", "--json"))["checks"]
    hosts = [check for check in checks if check["id"] == "hosts"]
    return {check["message"]: check["status"] for check in hosts if title in check["message"]}


@pytest.mark.parametrize("host", HOSTS)
def test_an_installation_that_works_is_well(host: str, user: User) -> None:
    user.memolith("install", host)
    ((message, status),) = found(user, HOSTS[host].title).items()
    assert status == "ok", message
    assert "answers a request" in message


def test_a_server_that_is_switched_off_is_seen(user: User) -> None:
    user.memolith("install", "codex")
    path = user.home / ".codex" / "config.toml"
    path.write_text(path.read_text() + "enabled = false\n")
    assert any("switched off" in message for message in found(user, "Codex"))
    user.memolith("install", "codex")
    assert [*found(user, "Codex").values()] == ["ok"]


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        (
            "claude-code",
            ".claude/settings.json",
            '{"enabledPlugins": {"memolith@skills-dir": false}}',
        ),
        ("claude-code", ".claude/settings.json", '{"disableAllHooks": true}'),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n"),
        ("gemini", ".gemini/settings.json", '{"mcp": {"excluded": ["memolith"]}}'),
        ("gemini", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}'),
    ],
)
def test_what_a_user_has_switched_off_in_the_host_is_seen(
    host: str, name: str, text: str, user: User
) -> None:
    path = user.home / name
    path.parent.mkdir()
    path.write_text(text)
    user.memolith("install", host)
    (message,) = found(user, HOSTS[host].title)
    assert "switched off in " in message


def test_missing_hooks_and_entries_are_seen(user: User) -> None:
    user.memolith("install", "gemini")
    path = user.home / ".gemini" / "settings.json"
    path.write_text('{"hooks": {}}')
    messages = " ".join(found(user, "Gemini CLI"))
    assert "no longer among the servers" in messages
    assert "BeforeAgent, PreCompress, SessionEnd, SessionStart" in messages


def test_a_command_that_is_gone_or_silent_is_seen(user: User) -> None:
    user.memolith("install", "vscode")
    path = user.home / ".config" / "Code" / "User" / "mcp.json"
    working = path.read_text()
    path.write_text(working.replace(PROGRAM, "/nowhere/memolith"))
    assert any("cannot be started" in message for message in found(user, "VS Code"))
    path.write_text(working.replace(PROGRAM, "/bin/true"))
    assert any("answered no request" in message for message in found(user, "VS Code"))


def test_a_wrapper_that_leaves_a_silent_child_is_given_up_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "_MAX_SECONDS", 1.0)
    monkeypatch.setattr(check, "_LEAVE_SECONDS", 0.2)
    monkeypatch.setenv("HOME", str(tmp_path))
    wrapper, child = tmp_path / "wrapper", tmp_path / "child"
    wrapper.write_text(f"#!/bin/sh\nsleep 1000 &\necho $! > {child}\n")
    wrapper.chmod(0o755)
    begun = time.monotonic()
    assert check._request_problem(str(wrapper)).endswith("did not answer within 1 seconds")
    assert time.monotonic() - begun < 10
    assert _state_of(child.read_text()) in ("", "Z")


def _state_of(process: str) -> str:
    """Its state, "" if it is gone; Z if it has ended and nobody has asked."""
    shown = subprocess.run(["ps", "-o", "stat=", "-p", process], capture_output=True, check=False)
    return shown.stdout.decode().strip()[:1]
