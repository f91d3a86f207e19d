"""A file with a second name may belong to somebody else: it is neither read nor written, and reported."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import PathOutsideProfileError
from tests.cli.conftest import in_terminal

if TYPE_CHECKING:
    from tests.cli.conftest import Run

FIX = "memolith doctor --fix"
DAILY = "memory/2026-11-15.md"
FILES = ("MEMORY.md", DAILY, "USER.md", "memory/fact/note.md", "memory/prose.md")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of somebody else on the same disk."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    return folder


def link(memory: Memory, name: str, foreign: Path) -> Path:
    """Fill a memory, then give one of its files a second name."""
    memory.init()
    memory.remember("The heron nests at the lake")
    memory.save_note("Ana paints boats", title="note")
    Path(memory.root, "memory/prose.md").write_text("Herons like cold water.\n", "utf-8")
    notes = Path(memory.root, "memory/fact")
    next(notes.iterdir()).rename(notes / "note.md")
    path = foreign / "file"
    os.link(Path(memory.root, name), path)
    return path


def warns(warnings: tuple[str, ...], name: str) -> bool:
    return any(name in one and "second name" in one and FIX in one for one in warnings)


@pytest.mark.parametrize("name", FILES)
def test_every_answer_says_that_a_linked_file_was_left_out(
    name: str, memory: Memory, foreign: Path
) -> None:
    before = link(memory, name, foreign).read_bytes()
    found = memory.search("heron boats")
    assert warns(found.warnings, name)
    assert all(hit.citation.path != name for hit in found.hits)
    if name in ("MEMORY.md", DAILY, "USER.md"):
        assert warns(memory.session_start().warnings, name)
    if name in ("MEMORY.md", "memory/fact/note.md"):
        listed = memory.records()
        assert warns(listed.warnings, name)
        assert warns(memory.jobs.relationships().warnings, name)
        assert len(listed) == 1
    with pytest.raises(PathOutsideProfileError, match="second name"):
        memory.get(name)
    assert (foreign / "file").read_bytes() == before


@pytest.mark.parametrize("name", ["MEMORY.md", DAILY])
def test_nothing_is_written_to_a_linked_file(name: str, memory: Memory, foreign: Path) -> None:
    file = link(memory, name, foreign)
    before = file.read_bytes()
    with pytest.raises(PathOutsideProfileError, match="second name") as refused:
        memory.remember("not for somebody else")
    assert FIX in refused.value.hint
    assert file.read_bytes() == before
    assert Path(memory.root, name).read_bytes() == before


def test_context_says_that_a_linked_file_was_left_out(memory: Memory, foreign: Path) -> None:
    link(memory, "MEMORY.md", foreign)
    assert warns(memory.context("where does the heron nest?").warnings, "MEMORY.md")


@pytest.mark.parametrize("words", [("search", "heron"), ("list",), ("status",), ("remember", "x")])
def test_commands_name_the_file_and_the_way_out(
    words: tuple[str, ...], memory: Memory, foreign: Path, memolith: Run
) -> None:
    link(memory, "MEMORY.md", foreign)
    outcome = memolith(*words)
    assert "MEMORY.md has a second name" in outcome.err
    assert FIX in outcome.err
    assert "MEMORY.md has a second name" in memolith("doctor").out


def test_doctor_copies_linked_files_only_after_a_yes(
    memory: Memory, foreign: Path, memolith: Run
) -> None:
    file = link(memory, "MEMORY.md", foreign)
    before = file.read_bytes()
    memolith("doctor", "--fix")
    assert file.stat().st_nlink == 2
    memolith("doctor", "--fix", "--yes")
    assert file.stat().st_nlink == 1
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    memory.remember("The heron is back")
    assert file.read_bytes() == before
    assert not memory.search("heron").warnings


@pytest.mark.parametrize(("answer", "names"), [(b"y\n", 1), (b"n\n", 2)])
def test_doctor_asks_on_a_terminal(
    answer: bytes, names: int, memory: Memory, foreign: Path
) -> None:
    file = link(memory, ".memolith/write.lock", foreign)
    outcome = in_terminal("doctor", "--fix", "--root", memory.root, typed=answer)
    assert "second name" in outcome.out
    assert file.stat().st_nlink == names
