"""The hosts themselves read what we install: each lists, validates or starts it, without an account."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.hosts.configs import CONFIGS
from tests.hosts.conftest import PROGRAM, command_of
from tests.hosts.test_install import content, with_files

if TYPE_CHECKING:
    from tests.hosts.conftest import User


def test_claude_code_validates_and_starts_the_plugin(user: User) -> None:
    with_files(user, "claude-code")
    user.memolith("install", "claude-code")
    plugin = str(user.home / ".claude" / "skills" / "memolith")
    found = json.loads(user.host("claude", "plugin", "validate", "--strict", "--json", plugin))
    assert found["success"]
    assert found["manifest"]["warnings"] == []
    events = {hook["event"] for hook in found["provides"]["hooks"]}
    assert events == {"SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd", "Stop"}
    assert found["provides"]["skills"] == ["memolith:memory"]
    assert "memolith@skills-dir" in user.host("claude", "plugin", "list")
    listed = user.host("claude", "mcp", "list")
    assert f"plugin:memolith:memolith: {PROGRAM} mcp" in listed
    assert "Connected" in listed
    user.memolith("uninstall", "claude-code")
    assert "memolith" not in user.host("claude", "plugin", "list")


def ask_codex(user: User, method: str, **params: object) -> Any:
    """What Codex's server for editors answers."""
    with subprocess.Popen(
        [*command_of("codex"), "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=user.home,
        env=user.environment,
    ) as server:
        assert server.stdin
        assert server.stdout
        client = {"clientInfo": {"name": "test", "version": "1"}}
        for number, (name, given) in enumerate((("initialize", client), (method, params))):
            server.stdin.write(json.dumps({"id": number, "method": name, "params": given}) + "\n")
            server.stdin.flush()
            while (answer := json.loads(server.stdout.readline())).get("id") != number:
                pass
        server.kill()
    return answer["result"]


def test_codex_lists_and_starts_what_is_installed(user: User) -> None:
    with_files(user, "codex")
    user.memolith("install", "codex")
    listed = json.loads(user.host("codex", "mcp", "list", "--json").partition("WARNING")[0])
    ours = next(one for one in listed if one["name"] == "memolith")
    assert ours["enabled"]
    assert (ours["transport"]["command"], ours["transport"]["args"]) == (PROGRAM, ["mcp"])
    assert "notes" in [one["name"] for one in listed]
    (found,) = ask_codex(user, "hooks/list", cwds=[str(user.home)])["data"]
    assert (found["warnings"], found["errors"]) == ([], [])
    hooks = [hook for hook in found["hooks"] if PROGRAM in hook["command"]]
    events = ["preCompact", "sessionEnd", "sessionStart", "stop", "userPromptSubmit"]
    assert sorted(hook["eventName"] for hook in hooks) == events
    assert {hook["trustStatus"] for hook in hooks} == {"untrusted"}  # what we tell the user to do
    (server,) = [
        one for one in ask_codex(user, "mcpServerStatus/list")["data"] if one["name"] == "memolith"
    ]
    assert "memory_search" in server["tools"]
    assert "Long-term memory of this user" in user.host("codex", "debug", "prompt-input")
    user.memolith("uninstall", "codex")
    assert "memolith" not in user.host("codex", "mcp", "list")


def test_gemini_lists_and_starts_what_is_installed(user: User) -> None:
    with_files(user, "gemini")
    user.memolith("install", "gemini")
    assert "Disabled" in user.host("gemini", "mcp", "list")  # an untrusted folder: we say so
    for _ in range(4):  # it waits for five seconds only
        listed = user.host("gemini", "mcp", "list", GEMINI_CLI_TRUST_WORKSPACE="true")
        ours = next(line for line in listed.splitlines() if "memolith" in line)
        assert f"{PROGRAM} mcp" in ours
        if "Connected" in ours:
            break
    assert "Connected" in ours
    skills = user.host("gemini", "skills", "list", GEMINI_CLI_TRUST_WORKSPACE="true")
    assert str(user.home / ".gemini" / "skills" / "memory" / "SKILL.md") in skills
    user.memolith("uninstall", "gemini")
    assert "memolith" not in user.host("gemini", "mcp", "list")
    assert (user.home / ".gemini" / "settings.json").read_text() == CONFIGS["gemini"][
        ".gemini/settings.json"
    ]


HOOKS = {
    "claude-code": ".claude/skills/memolith/hooks/hooks.json",
    "codex": ".codex/hooks.json",
    "gemini": ".gemini/settings.json",
    "cursor": ".cursor/hooks.json",
}


TURN_ENDS = {
    "Stop": "last_assistant_message",
    "AfterAgent": "prompt_response",
    "afterAgentResponse": "text",
}
PAGE = Path(__file__).parent.parent.parent / "docs" / "agents.md"


@pytest.mark.parametrize("host", HOOKS)
def test_every_hook_that_is_installed_runs(host: str, user: User) -> None:
    user.memolith("install", host)
    user.memolith("remember", "Ana owns the release key")
    chat = user.home / "chat.jsonl"
    asked = "Who owns the release key, which we need today?"
    told = "We decided to ship on Friday."
    said = [
        {"type": "user", "message": {"role": "user", "content": text}} for text in (told, asked)
    ]
    chat.write_text("".join(json.dumps(line) + "\n" for line in said))
    for event, entries in content(user.home / HOOKS[host])["hooks"].items():
        (entry,) = entries
        command = entry.get("hooks", [entry])[0]["command"]
        assert f"`{event}`" in PAGE.read_text("utf-8")
        given = {
            "hook_event_name": event,
            "session_id": "s1" if event in TURN_ENDS else event,
            "cwd": str(user.home),
            "transcript_path": str(chat),
            "prompt": asked,
        }
        if event in TURN_ENDS:
            given[TURN_ENDS[event]] = "Ana does."
        patience = " --deadline 600" if " context" in command else ""
        done = user.run("sh", "-c", command + patience, piped=json.dumps(given))
        assert done.returncode == 0, done.stderr
        if event.lower() in {"sessionstart", "userpromptsubmit", "beforeagent"}:
            assert "Ana owns the release key" in done.stdout
        assert done.stdout == "" or isinstance(json.loads(done.stdout), dict)
        assert shlex.split(command)[0] == PROGRAM
    assert told in user.memolith("list")  # flushed
    (turn,) = json.loads(user.memolith("log", "--json"))["turns"]
    assert (turn["user"], turn["assistant"], turn["chat"]) == (asked, "Ana does.", "s1")
