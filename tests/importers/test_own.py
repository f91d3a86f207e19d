"""An export is a memory: imported again it is the same, and merged into another nothing is there twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import RefusedError
from memolith.importers import own
from memolith.importers.run import detect
from tests.importers.conftest import Importing, files_of


@pytest.fixture
def full(memory: Memory) -> Memory:
    """A memory with something of every kind."""
    memory.init()
    first = memory.remember("Ana owns the release key", category="fact", keywords=["release"])
    memory.remember("The code of the door is 4711", sensitivity="secret")
    gone = memory.remember("The heron is called Otto, and nobody may know")
    memory.supersede(first.id, "Ben owns the release key")
    memory.save_note("Releases happen on Tuesdays.", title="Release days", category="fact")
    memory.chats.log("Who can release?", "Ben.", chat="telegram-42", platform="telegram")
    memory.forget(gone.id)
    with Path(memory.root, "MEMORY.md").open("a") as file:
        file.write("\nA line by hand.\n")
    Path(memory.root, "LONGMEMORY.md").write_text("# Long\n\nSummary of years.\n")
    Path(memory.root, "memolith.toml").write_text(
        '[trim]\nmax_records = 77\n[llm]\nurl = "https://example.org/v1"\n'
    )
    memory.reconfigure()
    archive = Path(memory.root, ".memolith/archive/MEMORY-archive.md")
    archive.parent.mkdir(exist_ok=True)
    line = {
        "id": "arch",
        "sessionId": "main",
        "category": "note",
        "text": "archived",
        "provenance": {
            "sourceChannel": "cli",
            "confidence": 1,
            "timestamp": "2025-01-01T00:00:00.000Z",
            "sensitivity": "public",
        },
    }
    archive.write_text("- " + json.dumps(line, separators=(",", ":")) + "\n")
    return memory


def kept(root: str) -> dict[str, bytes]:
    own_files = (".memolith/imports.jsonl", "memolith.toml", ".memolith/.gitignore")
    derived = (".memolith/jobs/", ".memolith/backup/", ".memolith/recalls")
    return {
        name: data
        for name, data in files_of(root).items()
        if name not in own_files and not name.startswith(derived)
    }


def test_an_export_imported_again_is_the_same_memory(
    full: Memory, tmp_path: Path, clock: Clock
) -> None:
    target = str(tmp_path / "export")
    report = own.export(full._store, target)
    assert (report.records, report.secret) == (4, 1)
    assert Path(target).stat().st_mode & 0o777 == 0o700
    assert detect(target) == "memolith"
    assert "Otto" not in "".join(data.decode() for data in kept(target).values())
    with Memory(tmp_path / "again", clock=clock) as again:
        importing = Importing(again)
        report2 = importing.twice("memolith", target)
        again.reconfigure()
        assert kept(again.root) == kept(full.root)
        assert again.records(include_past=True, include_secret=True) == full.records(
            include_past=True, include_secret=True
        )
        assert again.chats.turns() == full.chats.turns()
        assert again.config.trim.max_records == 77
        assert again.config.llm.url == ""
        assert report2.skipped == {"setting for one machine alone": 1}


def test_the_same_export_adds_nothing_to_the_memory_it_came_from(
    full: Memory, tmp_path: Path
) -> None:
    own.export(full._store, str(tmp_path / "export"))
    before = files_of(full.root)
    report = Importing(full)("memolith", tmp_path / "export")
    assert sum(counts.added for counts in report.counts.values()) == 0, report
    assert files_of(full.root) == before


def test_two_memories_are_merged_each_record_once(
    full: Memory, tmp_path: Path, clock: Clock
) -> None:
    own.export(full._store, str(tmp_path / "export"))
    with Memory(tmp_path / "other", clock=clock) as other:
        other.remember("Only here")
        other.chats.log("Hello", "Hi", chat="x")
        Importing(other).twice("memolith", tmp_path / "export")
        texts = [record.text for record in other.records(include_secret=True)]
        assert sorted(texts) == [
            "Ben owns the release key",
            "Only here",
            "Releases happen on Tuesdays.",
            "The code of the door is 4711",
        ]
        assert "A line by hand." in Path(other.root, "MEMORY.md").read_text()
        assert [turn.user for turn in other.chats.turns()] == ["Hello", "Who can release?"]
        log = Path(other.root, "memory/2026-11-15.md").read_text()
        assert log.count("Ben owns the release key") == 1


def test_a_folder_that_is_in_use_is_not_written_to(full: Memory, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("")
    with pytest.raises(RefusedError, match="not an empty folder"):
        own.export(full._store, str(tmp_path / "full"))


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memolith", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_is_on_this_machine_is_found_and_offered(tmp_path: Path) -> None:
    home = Path(os.environ["HOME"])
    project = home / ".claude/projects/-x"
    project.mkdir(parents=True)
    line = {
        "type": "user",
        "message": {"role": "user", "content": "Hello heron"},
        "timestamp": "2026-05-01T10:00:00Z",
    }
    (project / "s-1.jsonl").write_text(json.dumps(line) + "\n")
    (home / "Documents/vault/.obsidian").mkdir(parents=True)
    (home / "Documents/vault/.obsidian/app.json").write_text("{}")
    found = json.loads(run("import", "--scan", "--json").stdout)["found"]
    assert found == [
        {"source": "claude-code", "path": str(home / ".claude")},
        {"source": "obsidian", "path": str(home / "Documents/vault")},
    ]
    shown = run("import", "--scan")
    assert f"memolith import claude-code {home}/.claude" in shown.stderr
    assert "1 added" in run("import", "claude-code").stdout
    assert "1 already here" in run("import", "claude-code").stdout
    target = tmp_path / "out"
    assert "Exported" in run("export", str(target)).stdout
    assert "Hello heron" in (target / "conversation-history.jsonl").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import"], "SOURCE is missing"),
        (["import", "curserclaw"], "Did you mean cursorclaw?"),
        (["import", "chatgpt"], "PATH is missing"),
        (["import", "chatgpt", "/nowhere/at/all"], "There is nothing at /nowhere/at/all"),
        (["import", "claude-code", "--since", "someday"], "--since 'someday' is not a time"),
        (["import", "/usr/include"], "Nothing known was found in /usr/include"),
    ],
)
def test_mistakes_are_answered_with_what_to_do(words: list[str], said: str) -> None:
    done = run(*words)
    assert done.returncode != 0
    assert said in done.stderr


def test_an_export_to_a_file_names_that_file(memory: Memory) -> None:
    memory.init()
    with pytest.raises(RefusedError, match="/dev/null is not an empty folder"):
        own.export(memory._store, "/dev/null")
