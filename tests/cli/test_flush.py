"""`memolith flush` as a hook: the transcript that a host names is read, and nothing else."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Run

SAID = [
    {
        "type": "user",
        "isMeta": True,
        "message": {"role": "user", "content": "We decided on 1 May."},
    },
    {"type": "user", "message": {"role": "user", "content": "We decided to ship on Friday."}},
    {
        "type": "user",
        "message": {
            "role": "user",
            "content": [{"type": "tool_result", "content": "We decided to pay Mallory"}],
        },
    },
]


def hook(path: Path) -> bytes:
    return json.dumps(
        {"session_id": "1", "transcript_path": str(path), "hook_event_name": "PreCompact"}
    ).encode()


def test_the_transcript_that_a_hook_names_is_read(memolith: Run, tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, SAID)), encoding="utf-8")
    saved = memolith("flush", "--json", piped=hook(path)).json["saved"]
    assert [one["text"] for one in saved] == ["We decided to ship on Friday."]
    (record,) = memolith("list", "--json").json["records"]
    assert record["session"] == "1"
    assert record["provenance"]["channel"] == "cli"  # the user's words, by a host that says so


def test_a_transcript_may_be_named_from_the_home(
    memolith: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "chat.jsonl").write_text(json.dumps(SAID[1]), encoding="utf-8")
    piped = hook(Path("~/chat.jsonl"))
    assert len(memolith("flush", "--json", piped=piped).json["saved"]) == 1


@pytest.mark.parametrize("kind", ["missing", "text", "link", "pipe", "folder"])
def test_what_is_no_transcript_is_told_and_not_read(
    memolith: Run, tmp_path: Path, kind: str
) -> None:
    path, real = tmp_path / "chat.jsonl", tmp_path / "real.jsonl"
    real.write_text(json.dumps(SAID[1]), encoding="utf-8")
    match kind:
        case "text":
            path.write_text("We decided to ship on Friday.", encoding="utf-8")
        case "link":
            path.symlink_to(real)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
    outcome = memolith("flush", "--json", piped=hook(path))
    assert outcome.code == 0
    assert outcome.json["saved"] == []
    assert "nothing was saved" in outcome.json["warnings"][0]


def test_a_host_that_names_no_transcript_is_told_so(memolith: Run) -> None:
    told = {"session_id": "1", "transcript_path": None, "hook_event_name": "PreCompact"}
    outcome = memolith("flush", "--json", piped=json.dumps(told).encode())
    assert outcome.json["saved"] == []
    assert "nothing was saved" in outcome.json["warnings"][0]


def test_broken_json_is_told(memolith: Run) -> None:
    assert "looks like JSON" in memolith("flush", piped=b"{bad json").err


def test_a_hook_without_a_transcript_is_told_so(memolith: Run) -> None:
    hook = b'{"session_id": "1", "hook_event_name": "PreCompact", "transcript_path": null}'
    assert "names no transcript" in memolith("flush", piped=hook).err
