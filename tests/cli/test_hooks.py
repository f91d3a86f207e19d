"""The commands as hooks: each host's own JSON comes in, its own form goes out, and no host is stopped."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.text.wording import utf16_units
from tests.cli.conftest import PROGRAM
from tests.conftest import approve

if TYPE_CHECKING:
    from tests.cli.conftest import Outcome, Run

FACT = "Staging listens on port 5433"
ASKED = "Which port does staging use?"
CLAUDE = {
    "session_id": "abc123",
    "transcript_path": "/home/ana/.claude/projects/x/abc123.jsonl",
    "cwd": "/home/ana/x",
    "permission_mode": "default",
}
CODEX = {
    "session_id": "019a",
    "turn_id": "7",
    "transcript_path": None,
    "cwd": "/home/ana/x",
    "model": "gpt-5",
    "permission_mode": "default",
}
GEMINI = {
    "session_id": "9f",
    "transcript_path": "/home/ana/.gemini/tmp/x/chats/9f.json",
    "cwd": "/home/ana/x",
    "timestamp": "2026-11-16T09:00:00Z",
}
CURSOR = {
    "conversation_id": "c1",
    "generation_id": "g1",
    "model": "auto",
    "cursor_version": "3.20.17",
    "workspace_roots": ["/home/ana/x"],
    "user_email": "ana@example.com",
    "transcript_path": None,
}


def called(memolith: Run, *words: str, **told: object) -> Outcome:
    """The outcome of a hook that a host calls."""
    patience = ("--deadline", "600") if words[0] == "context" else ()
    return memolith(*words, *patience, piped=json.dumps(told).encode())


@pytest.mark.parametrize(
    ("host", "event"),
    [(CLAUDE, "UserPromptSubmit"), (CODEX, "UserPromptSubmit"), (GEMINI, "BeforeAgent")],
    ids=["claude", "codex", "gemini"],
)
def test_memories_for_a_prompt_come_in_the_form_that_hosts_read(
    memolith: Run, host: dict[str, object], event: str
) -> None:
    memolith("remember", FACT)
    outcome = called(memolith, "context", **host, hook_event_name=event, prompt=ASKED)
    assert outcome.code == 0
    handed = outcome.json["hookSpecificOutput"]
    assert handed["hookEventName"] == event
    assert handed["additionalContext"].startswith("<memolith-memory")
    assert FACT in handed["additionalContext"]
    assert outcome.json.keys() == {"hookSpecificOutput", "systemMessage"}
    receipt = outcome.json["systemMessage"]
    assert receipt.startswith("memolith: Handed over 1 memory: memory/")
    assert receipt.endswith("(staging port).")


def test_cursor_is_answered_in_its_own_form(memolith: Run) -> None:
    memolith("remember", FACT)
    asked = {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "attachments": []}
    outcome = called(memolith, "context", **asked, prompt=ASKED)
    assert outcome.json.keys() == {"continue", "additional_context"}
    assert outcome.json["continue"] is True
    assert FACT in outcome.json["additional_context"]
    assert called(memolith, "context", **asked, prompt="Thanks!").json == {"continue": True}
    start = {
        **CURSOR,
        "hook_event_name": "sessionStart",
        "session_id": "c1",
        "composer_mode": "agent",
    }
    outcome = called(memolith, "session-start", "--hook", **start)
    assert FACT in outcome.json["additional_context"]


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact"])
def test_a_session_start_comes_in_the_form_that_hosts_read(memolith: Run, source: str) -> None:
    memolith("remember", FACT)
    told = {**CLAUDE, "hook_event_name": "SessionStart", "source": source}
    handed = called(memolith, "session-start", "--hook", **told).json["hookSpecificOutput"]
    assert handed["hookEventName"] == "SessionStart"
    assert FACT in handed["additionalContext"]


def test_a_person_gets_text(memolith: Run) -> None:
    memolith("remember", FACT)
    outcome = memolith("session-start", "--hook")
    assert (outcome.out[:16], outcome.err) == ("<memolith-memory", "")
    outcome = memolith("session-start", "--hook", piped=b'{"tea": 1}')
    assert outcome.out.startswith("<memolith-memory")
    assert "not the JSON of a hook" in outcome.err


@pytest.mark.parametrize("by", [{"agent_id": "a1", "agent_type": "Explore"}, {}])
def test_a_sub_agent_is_left_alone(memolith: Run, tmp_path: Path, by: dict[str, str]) -> None:
    memolith("remember", FACT)
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "We decided to sell the office."}\n')
    event = "UserPromptSubmit" if by else "SubagentStop"
    told = {**CLAUDE, **by, "transcript_path": str(chat), "hook_event_name": event, "prompt": ASKED}
    for words in (["context"], ["session-start", "--hook"], ["flush"], ["flush", "--json"]):
        outcome = called(memolith, *words, **told)
        assert (outcome.code, outcome.out) == (0, "")
        assert "sub-agent" in outcome.err
    assert len(memolith("list", "--json").json["records"]) == 1


def test_a_session_that_is_an_agent_of_its_own_is_no_sub_agent(memolith: Run) -> None:
    memolith("remember", FACT)
    told = {**CLAUDE, "hook_event_name": "SessionStart", "agent_type": "reviewer"}
    assert FACT in called(memolith, "session-start", "--hook", **told).out


@pytest.mark.parametrize("prompt", [None, [{"text": "hi"}], 7])
def test_a_hook_without_a_prompt_says_so_where_the_user_sees_it(
    memolith: Run, prompt: object
) -> None:
    memolith("remember", FACT)
    told = {**CLAUDE, "hook_event_name": "SessionStart", "prompt": prompt}
    outcome = called(memolith, "context", **told)
    assert outcome.code == 0
    assert "SessionStart brought no prompt" in outcome.json["systemMessage"]
    assert outcome.json["systemMessage"] in outcome.err
    cursor = {**CURSOR, "hook_event_name": "beforeSubmitPrompt"}
    outcome = called(memolith, "context", **cursor)
    assert outcome.json == {"continue": True}
    assert "brought no prompt" in outcome.err


def test_json_of_a_host_that_breaks_off_is_not_searched(memolith: Run) -> None:
    memolith("remember", FACT)
    whole = json.dumps({**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": ASKED})
    outcome = memolith("context", piped=whole[:-5].encode())
    assert (outcome.code, outcome.out) == (0, "")
    assert "cut off" in outcome.err


def test_what_a_host_says_under_the_name_of_the_user_is_not_searched(memolith: Run) -> None:
    memolith("remember", FACT)
    said = f"<task-notification><summary>{ASKED}</summary></task-notification>"
    told = {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": said}
    outcome = called(memolith, "context", **told)
    assert outcome.out == ""
    assert "it is empty" in outcome.err


@pytest.mark.parametrize("words", [["context"], ["session-start", "--hook"], ["flush"]], ids=str)
@pytest.mark.parametrize(
    "wrong", [["--bogus"], ["--set", "x.y=1"], ["--profile", "nobody"]], ids=str
)
@pytest.mark.parametrize("host", [CLAUDE, CURSOR], ids=["claude", "cursor"])
def test_no_mistake_of_ours_stops_a_host(
    words: list[str], wrong: list[str], host: dict[str, object], tmp_path: Path
) -> None:
    event = "beforeSubmitPrompt" if host is CURSOR else "UserPromptSubmit"
    done = subprocess.run(
        [PROGRAM, *words, *wrong],
        input=json.dumps({**host, "hook_event_name": event, "prompt": ASKED}),
        env={**os.environ, "MEMOLITH_HOME": str(tmp_path)},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0
    assert "memolith: " in done.stderr
    if host is CLAUDE:
        assert json.loads(done.stdout)["systemMessage"] in done.stderr
    else:
        assert json.loads(done.stdout) == {"continue": True}


def test_a_mistake_of_a_person_keeps_its_exit_code(memolith: Run) -> None:
    assert memolith("context", "--bogus", "tea").code == 2
    assert memolith("flush", "--bogus", piped=b"User: We decided to sell.").code == 2


def test_a_pipe_in_which_nobody_writes_is_not_waited_for(root: str) -> None:
    Memory(root).remember(FACT)
    reading, writing = os.pipe()
    try:
        began = time.monotonic()
        done = subprocess.run(
            [PROGRAM, "session-start", "--hook", "--root", root],
            stdin=reading,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert FACT.encode() in done.stdout
        assert time.monotonic() - began < 30
        os.write(writing, json.dumps({**CLAUDE, "hook_event_name": "SessionStart"}).encode())
        done = subprocess.run(
            [PROGRAM, "session-start", "--hook", "--root", root],
            stdin=reading,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert b"additionalContext" in done.stdout
    finally:
        os.close(reading)
        os.close(writing)


def test_json_that_comes_in_pieces_is_waited_for(root: str) -> None:
    Memory(root).remember(FACT)
    told = json.dumps({**CLAUDE, "extra": {"a": {}}, "hook_event_name": "SessionStart"})
    with subprocess.Popen(
        [PROGRAM, "session-start", "--hook", "--root", root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdin
        cut = told.index("}}") + 1
        for piece in (told[:cut], told[cut:]):
            process.stdin.write(piece.encode())
            process.stdin.flush()
            time.sleep(0.4)
        assert b"additionalContext" in process.communicate()[0]


@pytest.mark.parametrize("words", [["session-start", "--hook"], ["context"]], ids=str)
def test_the_memory_is_that_of_the_folder_the_agent_works_in(
    words: list[str], tmp_path: Path
) -> None:
    project, home = tmp_path / "project", tmp_path / "home"
    home.mkdir()
    Memory(project).remember(FACT)
    (project / "memolith.toml").touch()
    approve(project)
    event = "sessionStart" if words[0] == "session-start" else "beforeSubmitPrompt"
    told = {**CURSOR, "workspace_roots": [str(project)], "hook_event_name": event, "prompt": ASKED}
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MEMOLITH")}
    done = subprocess.run(
        [PROGRAM, *words, *(["--deadline", "600"] if words == ["context"] else [])],
        input=json.dumps(told),
        env={**environ, "HOME": str(home)},
        cwd=home,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert FACT in done.stdout, done.stderr


def test_before_a_chat_is_shortened_nothing_is_printed_that_a_host_would_obey(
    memolith: Run, tmp_path: Path
) -> None:
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "We decided to ship on Friday."}\n')
    told = {
        **CLAUDE,
        "transcript_path": str(chat),
        "hook_event_name": "PreCompact",
        "trigger": "auto",
    }
    outcome = called(memolith, "flush", **told)
    assert outcome.out == ""
    assert "ship on Friday" in outcome.err
    assert "1 record saved" in outcome.err
    outcome = called(memolith, "flush", **{**told, "transcript_path": None})
    assert "names no transcript" in outcome.json["systemMessage"]
    cursor = {**CURSOR, "hook_event_name": "preCompact"}
    assert "names no transcript" in called(memolith, "flush", **cursor).json["user_message"]


@pytest.mark.parametrize("character", ["🎉", "𠀀", "é", "字"])
def test_a_hook_hands_over_what_fits_as_javascript_counts(
    memolith: Run, root: str, character: str
) -> None:
    Path(root, "memory").mkdir(parents=True)
    notes = "\n\n".join(f"{n} " + character * 400 for n in range(200))
    Path(root, "USER.md").write_text(notes, encoding="utf-8")
    out = memolith("session-start", "--hook").out
    assert 8_000 < utf16_units(out) < 9_500


def test_memories_for_a_prompt_fit_in_any_script(memolith: Run, root: str) -> None:
    memory = Memory(root)
    for number in range(12):
        memory.remember(f"Staging port number {number} " + "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ " * 400)
    told = {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "Which staging port number?"}
    handed = called(memolith, "context", **told).json["hookSpecificOutput"]["additionalContext"]
    assert "Staging port number" in handed
    assert utf16_units(handed) < 9_500
