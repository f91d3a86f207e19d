"""What hooks know of a chat: the transcript of each host, and before there is one, how the session started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.cli.hooks import is_marked, mark_session, read_hook
from tests.cli.test_hooks import ASKED, CLAUDE, FACT, called

if TYPE_CHECKING:
    from tests.cli.conftest import Run

TRANSCRIPTS = {
    "claude": [
        {"type": "user", "message": {"role": "user", "content": "We decided to ship on Friday."}},
        {
            "type": "user",
            "isSidechain": True,
            "message": {"role": "user", "content": "We decided to drop the database."},
        },
    ],
    "codex": [
        {
            "type": "response_item",
            "payload": {
                "type": "message",
                "role": "user",
                "content": [{"type": "input_text", "text": "We decided to ship on Friday."}],
            },
        }
    ],
    "cursor": [
        {
            "role": "user",
            "message": {
                "content": [
                    {
                        "type": "text",
                        "text": "<timestamp>Monday</timestamp>\n<user_query>\nWe decided to ship on Friday.\n</user_query>",
                    }
                ]
            },
        },
        {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell"}]}},
        {"type": "turn_ended", "status": "success"},
    ],
    "gemini": [
        {
            "sessionId": "9f",
            "messages": [
                {"id": "1", "type": "user", "content": [{"text": "We decided to ship on Friday."}]},
                {"id": "2", "type": "gemini", "content": "Noted."},
                {"id": "3", "type": "info", "content": "We decided to update."},
            ],
        }
    ],
}


@pytest.mark.parametrize("host", TRANSCRIPTS)
def test_the_transcript_of_each_host_is_understood(
    memolith: Run, tmp_path: Path, host: str
) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text("".join(json.dumps(line) + "\n" for line in TRANSCRIPTS[host]), "utf-8")
    told = {**CLAUDE, "transcript_path": str(chat), "hook_event_name": "PreCompact"}
    saved = called(memolith, "flush", "--json", **told).json["saved"]
    assert [one["text"] for one in saved] == ["We decided to ship on Friday."]


def test_a_line_of_a_transcript_is_no_hook() -> None:
    line = {
        "sessionId": "1",
        "cwd": "/x",
        "type": "user",
        "message": {"role": "user", "content": "Hi"},
    }
    assert read_hook(json.dumps(line)) is None
    assert read_hook('{"messages": [], "session_id": "1", "cwd": "/x"}') is None


def test_the_first_message_brings_nothing_that_the_session_started_with(
    memolith: Run, tmp_path: Path
) -> None:
    memolith("remember", FACT)
    chat = tmp_path / "chat.jsonl"  # which Claude Code writes after the first message
    told = {**CLAUDE, "transcript_path": str(chat)}
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": ASKED}
    assert FACT in called(memolith, "context", **told, **prompt).out
    called(memolith, "session-start", "--hook", **told, hook_event_name="SessionStart")
    assert called(memolith, "context", **told, **prompt).out == ""
    assert FACT in called(memolith, "context", **{**told, "session_id": "another"}, **prompt).out
    memolith("remember", "Staging listens on port 5434 too")
    more = called(memolith, "context", **told, **prompt).out
    assert more == "" or FACT not in more
    chat.write_text('{"type":"assistant","message":{"role":"assistant","content":"At 5433."}}\n')
    assert FACT in called(memolith, "context", **told, **prompt).out
    chat.write_text('{"type":"system","subtype":"compact_boundary"}\n')
    assert FACT in called(memolith, "context", **told, **prompt).out


def test_names_of_sessions_are_kept_for_a_while_and_harm_nothing(root: str) -> None:
    Memory(root).remember(FACT)
    for number in range(900):
        mark_session(root, f"session-{number}\n\ud800")
    assert is_marked(root, "session-899\n\ud800")
    assert not is_marked(root, "session-0\n\ud800")
    assert not is_marked(root, "session-899")
    assert not is_marked(root, "")
    assert not is_marked(f"{root}/nowhere", "session-899")
    mark_session(f"{root}/nowhere", "session-1")
    assert not Path(root, "nowhere").exists()
    size = sum(path.stat().st_size for path in Path(root, ".memolith").glob("sessions-started*"))
    assert size < 20_000
