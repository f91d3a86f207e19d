"""The hooks that the pages show do what they say when a host calls them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from memolith import Memory
from tests.docs.examples import blocks

DOCS = Path(__file__).parent.parent.parent / "docs"
MESSAGE = "Who owns the release key these days?"


def hooks() -> list[tuple[str, str, str]]:
    """Page, event and command of every hook."""
    return [
        (page.name, event, hook["command"])
        for page in sorted(DOCS.glob("*.md"))
        for block in blocks(page.read_text("utf-8"))
        if block.language == "json" and '"hooks"' in "".join(block.lines)
        for event, matchers in json.loads("\n".join(block.lines))["hooks"].items()
        for matcher in matchers
        for hook in matcher.get("hooks", [matcher])  # Cursor has no matchers around them
    ]


@pytest.mark.parametrize(("page", "event", "command"), hooks())
def test_a_hook_of_a_page_answers_a_host(
    page: str, event: str, command: str, root: str, tmp_path: Path
) -> None:
    Memory(root).remember("Ana owns the release key")
    chat = tmp_path / "chat.jsonl"
    chat.write_text('{"role": "user", "content": "We decided to ship on Friday."}\n')
    told = {
        "session_id": "1",
        "transcript_path": str(chat),
        "hook_event_name": event,
        "prompt": MESSAGE,
    }
    beside = Path(sys.executable).parent
    patience = ["--deadline", "600"] if "context" in command else []
    outcome = subprocess.run(
        [*shlex.split(command), *patience],
        input=json.dumps(told),
        env={**os.environ, "MEMOLITH_ROOT": root, "PATH": f"{beside}:{os.environ['PATH']}"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert outcome.returncode == 0, f"{page}: {outcome.stderr}"
    if event in ("PreCompact", "PreCompress", "preCompact"):
        assert [r.text for r in Memory(root).records(session="1")] == [
            "We decided to ship on Friday."
        ]
    else:
        assert "Ana owns the release key" in outcome.stdout


def test_the_page_for_agents_shows_all_hooks_of_each_host() -> None:
    assert [event for page, event, _ in hooks() if page == "agents.md"] == [
        *("SessionStart", "UserPromptSubmit", "PreCompact"),
        *("SessionStart", "BeforeAgent", "PreCompress"),
        *("sessionStart", "beforeSubmitPrompt", "preCompact"),
    ]
