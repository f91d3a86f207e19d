"""Hooks that no warm process answers: what they say when they are late, and what they log."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.hosts.conftest import User

LATE = (
    "import sys; from memolith.cli import hooks; hooks.ALONE_SECONDS = 0;"
    " from memolith.cli.main import main; sys.exit(main(['context']))"
)


def test_a_hook_that_is_late_says_so_once_in_a_session(user: User) -> None:
    user.memolith("remember", "Staging uses port 8443")

    def said(session: str) -> str:
        hook = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": "Port?"}
        done = user.run(sys.executable, "-c", LATE, piped=json.dumps(hook))
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "longer than" in json.loads(said("one"))["systemMessage"]
    assert said("one") == ""
    assert "longer than" in said("two")


@pytest.mark.parametrize(
    ("fields", "platform"),
    [
        ({"transcript_path": "/home/ana/.claude/projects/x/1.jsonl"}, "claude-code"),
        ({"turn_id": "7"}, "codex"),
        ({"hook_event_name": "AfterAgent"}, "gemini"),
        ({"hook_event_name": "afterAgentResponse", "cursor_version": "1.7"}, "cursor"),
        ({"cwd": "/"}, "cli"),
    ],
)
def test_a_turn_is_logged_once_with_its_host(
    fields: dict[str, str], platform: str, user: User
) -> None:
    hook = {"hook_event_name": "Stop", "session_id": "1", "prompt": "Tea?", **fields}
    for answer in ("Yes, at four", "Yes, at four", "No, my key is sk-" + "a1B2c3D4" * 6):
        for _ in range(2):
            given = {**hook, "last_assistant_message": answer}
            user.memolith("log", "--hook", piped=json.dumps(given))
    turns = json.loads(user.memolith("log", "--json"))["turns"]
    assert [turn["platform"] for turn in turns] == [platform] * 2
    assert turns[0]["assistant"] == "Yes, at four"
