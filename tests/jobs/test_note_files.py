"""Notes by their path: created, read, replaced, renamed and deleted, never blindly."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import (
    FileFormatError,
    ForgottenError,
    NotFoundError,
    PathOutsideProfileError,
    RefusedError,
    VersionConflictError,
)

if TYPE_CHECKING:
    from memolith.types import Record

KEY = "memory/fact/release.md"


@pytest.fixture
def agent(memory: Memory) -> Memory:
    """The same memory for an agent."""
    return memory.via("claude")


def note(memory: Memory, path: str = KEY) -> Record:
    return memory.files.read_note(path).record


def test_a_new_note_is_a_record_that_is_found(memory: Memory) -> None:
    report = memory.files.write_note(KEY, "Ana owns the release key\n", version="")
    assert memory.files.read_note(KEY).version == report.version
    assert note(memory).text == "Ana owns the release key"
    assert note(memory).category == "fact"
    assert [found.citation.path for found in memory.search("release key")] == [KEY]
    assert [record.text for record in memory.records()] == ["Ana owns the release key"]
    assert memory.files.notes() == memory.files.notes("memory/fact") == (KEY,)
    assert memory.files.notes("memory/other") == ()


def test_replacing_a_note_keeps_what_else_it_says_and_a_backup(memory: Memory) -> None:
    memory.files.write_note(KEY, "Ana owns it", metadata={"ticket": 12})
    before = memory.files.read_note(KEY)
    report = memory.files.write_note(KEY, "Ben owns it", version=before.version)
    after = note(memory)
    assert (after.text, after.metadata, after.id) == (
        "Ben owns it",
        {"ticket": 12},
        note(memory).id,
    )
    assert after.created == before.record.created
    assert report.backup is not None
    memory.files.restore(report.backup)
    assert note(memory).text == "Ana owns it"


def test_somebody_elses_change_is_not_overwritten(memory: Memory) -> None:
    first = memory.files.write_note(KEY, "Ana owns it").version
    memory.files.write_note(KEY, "Ben owns it", version=first)
    with pytest.raises(VersionConflictError, match="is not what was read"):
        memory.files.write_note(KEY, "Cid owns it", version=first)
    with pytest.raises(VersionConflictError, match="exists already"):
        memory.files.write_note(KEY, "Cid owns it", version="")
    with pytest.raises(VersionConflictError):
        memory.files.delete_notes(KEY, version=first)
    assert note(memory).text == "Ben owns it"


def test_a_hand_written_file_is_read_as_it_is_and_signed_when_changed(
    memory: Memory, agent: Memory
) -> None:
    memory.init()
    path = Path(memory.root, KEY)
    path.parent.mkdir(parents=True)
    path.write_text("# Release\n\nAna owns it\n", encoding="utf-8")
    assert note(agent).text == "# Release\n\nAna owns it"
    agent.files.write_note(KEY, "# Release\n\nBen owns it")
    assert path.read_text(encoding="utf-8").startswith("---\ncategory: fact\n")
    assert note(agent).provenance.channel == "claude"
    assert note(agent).id != KEY


def test_a_users_note_that_an_agent_changes_is_the_agents(memory: Memory, agent: Memory) -> None:
    memory.files.write_note(KEY, "Ana owns it")
    agent.files.write_note(KEY, "Ben owns it")
    assert note(memory).provenance.channel == "claude"
    memory.files.write_note(KEY, "Cid owns it")
    assert note(memory).provenance.channel == "claude"  # as `update` has it


def test_a_channel_from_outside_changes_only_what_came_from_outside(memory: Memory) -> None:
    web = memory.via("web:news")
    memory.files.write_note(KEY, "Ana owns it")
    for change in (
        lambda: web.files.write_note(KEY, "Send it to me"),
        lambda: web.files.delete_notes(KEY),
        lambda: web.files.rename_notes(KEY, "memory/fact/other.md"),
        lambda: web.files.delete_notes("memory/fact"),
    ):
        with pytest.raises(RefusedError, match="only be changed by the user"):
            change()
    assert note(memory).text == "Ana owns it"
    web.files.write_note("memory/fact/news.md", "It rains")
    web.files.delete_notes("memory/fact/news.md")


def test_a_secret_note_is_the_users_alone(memory: Memory, agent: Memory) -> None:
    report = agent.files.write_note(KEY, "The key is AKIAIOSFODNN7EXAMPLE")
    assert "Saved as secret" in report.warnings[0]
    with pytest.raises(NotFoundError):
        agent.files.read_note(KEY)
    assert agent.files.notes() == ()
    for change in (
        lambda: agent.files.write_note(KEY, "Nothing"),
        lambda: agent.files.delete_notes(KEY),
    ):
        with pytest.raises(RefusedError):
            change()
    assert memory.files.read_note(KEY, include_secret=True).record.sensitivity == "secret"
    assert memory.files.write_note(KEY, "It is gone").version
    assert memory.files.read_note(KEY, include_secret=True).record.sensitivity == "secret"


def test_what_the_user_had_forgotten_does_not_come_back(memory: Memory, agent: Memory) -> None:
    memory.forget(memory.remember("Ana owns the release key").id)
    with pytest.raises(ForgottenError):
        agent.files.write_note(KEY, "Ana owns the release key")


def test_notes_and_folders_are_renamed_with_their_category(memory: Memory) -> None:
    memory.files.write_note("memory/fact/a.md", "About a")
    memory.files.write_note("memory/fact/deep/b.md", "About b")
    memory.files.rename_notes("memory/fact", "memory/event")
    assert memory.files.notes() == ("memory/event/a.md", "memory/event/deep/b.md")
    assert note(memory, "memory/event/a.md").category == "event"
    with pytest.raises(VersionConflictError, match="exists already"):
        memory.files.rename_notes("memory/event/a.md", "memory/event/deep/b.md")
    with pytest.raises(NotFoundError):
        memory.files.rename_notes("memory/fact/a.md", "memory/fact/c.md")
    assert [record.text for record in memory.records()] == ["About a", "About b"]


def test_deleted_notes_can_be_restored(memory: Memory) -> None:
    memory.files.write_note("memory/fact/a.md", "About a")
    memory.files.write_note("memory/fact/b.md", "About b")
    report = memory.files.delete_notes("memory/fact")
    assert memory.files.notes() == ()
    assert memory.search("about").hits == ()
    assert report.backup is not None
    memory.files.restore(report.backup)
    assert memory.files.notes() == ("memory/fact/a.md", "memory/fact/b.md")
    with pytest.raises(NotFoundError):
        memory.files.delete_notes("memory/fact/c.md")


def test_many_edits_push_out_no_other_backup(memory: Memory) -> None:
    record = memory.remember("Ana owns the release key")
    memory.update(record.id, keywords=["key"])  # with a backup
    kept = memory.config.store.backups_kept
    for number in range(kept + 3):
        memory.files.write_note(KEY, f"Owner number {number}")
    reasons = [backup.reason for backup in memory.files.backups()]
    assert reasons.count("notes") == kept
    assert reasons.count("update") == 1


@pytest.mark.parametrize(
    "path",
    [
        "MEMORY.md",
        "memory/2026-04-09.md",
        "memory/fact/../../MEMORY.md",
        "/etc/passwd",
        "memory/fact/.hidden.md",
        "memory/fact/a.md/b.md",
        "memory/fact/a\n.md",
        "memory//a.md",
        ".memolith/x/y.md",
        "",
    ],
)
def test_only_notes_have_such_a_path(memory: Memory, path: str) -> None:
    memory.init()
    files = memory.files
    for change in (
        lambda: files.read_note(path),
        lambda: files.write_note(path, "x"),
        lambda: files.rename_notes(path, KEY),
        lambda: files.delete_notes(path),
    ):
        with pytest.raises(PathOutsideProfileError):
            change()


def test_a_note_is_a_markdown_file(memory: Memory) -> None:
    with pytest.raises(PathOutsideProfileError):
        memory.files.write_note("memory/fact/a.txt", "x")


@pytest.mark.parametrize(
    "content",
    [
        b"---\ncategory: [\n---\nx\n",
        b"---\ncategory: fact\nx\n",
        b"\xff\xfe\x00x",
        b'- 2026 {"id":"7f3a0000-0000-4000-8000-000000000001","content":"x"}\n',
    ],
    ids=["no YAML", "no end", "no UTF-8", "records"],
)
def test_what_is_no_note_is_never_overwritten(memory: Memory, content: bytes) -> None:
    memory.init()
    path = Path(memory.root, KEY)
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    if b"content" in content:
        line = Path(memory.root, "MEMORY.md")
        memory.remember("x")
        path.write_bytes(line.read_bytes().splitlines()[-1] + b"\n")
        content = path.read_bytes()
    for change in (
        lambda: memory.files.write_note(KEY, "mine"),
        lambda: memory.files.delete_notes(KEY),
    ):
        with pytest.raises(FileFormatError):
            change()
    assert path.read_bytes() == content
    assert memory.files.notes() == ()


def test_no_link_leads_out_of_the_memory(memory: Memory, tmp_path: Path) -> None:
    memory.init()
    (tmp_path / "outside").mkdir()
    os.makedirs(os.path.join(memory.root, "memory"), exist_ok=True)
    os.symlink(tmp_path / "outside", os.path.join(memory.root, "memory", "fact"))
    with pytest.raises(PathOutsideProfileError):
        memory.files.write_note(KEY, "x")
    assert not any((tmp_path / "outside").iterdir())
