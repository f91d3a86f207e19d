"""A file that was changed without a trace in its size and time is found as it stands now."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory, clock
from memolith.files import disk_view
from memolith.files.folder import stamp_of

if TYPE_CHECKING:
    from collections.abc import Callable

LONG_AGO = 1_700_000_000_000_000_000


@pytest.fixture
def note(root: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A note that was written long ago, as far as anybody can tell."""
    monkeypatch.setattr(clock, "FILE_TICK", -(1 << 62))
    path = Path(root, "memory", "note.md")
    path.parent.mkdir(parents=True)
    write(path, "alpha bravo one\n")
    return path


def write(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, ns=(LONG_AGO, LONG_AGO))


def texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.search(question).hits]


def test_an_edit_of_the_same_size_with_the_old_time_is_found(root: str, note: Path) -> None:
    with Memory(root) as memory:
        assert texts(memory, "bravo") == ["alpha bravo one"]
        write(note, "alpha delta one\n")
    with Memory(root) as memory:
        assert memory.index.status().changed == 1
        found = memory.search("delta")
        assert [hit.text for hit in found.hits] == ["alpha delta one"]
        assert not found.warnings


def test_a_copy_laid_over_it_with_its_time_is_found(root: str, note: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.md"
    write(other, "alpha delta one\n")
    with Memory(root) as memory:
        memory.search("bravo")
        shutil.copy2(other, note)
        assert memory.index.sync().indexed == 1
        assert texts(memory, "delta") == ["alpha delta one"]


@pytest.fixture
def no_times_of_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that keeps only the time that anybody may set."""
    monkeypatch.setattr(disk_view, "change_stamp_of", stamp_of)


@pytest.mark.usefixtures("no_times_of_change")
@pytest.mark.parametrize("ask", [texts, lambda memory, words: [memory.recall(words).hits[0].text]])
def test_what_a_hit_shows_to_be_changed_is_read_again_at_once(
    root: str, note: Path, ask: Callable[[Memory, str], list[str]]
) -> None:
    with Memory(root) as memory:
        assert texts(memory, "alpha") == ["alpha bravo one"]
        write(note, "alpha delta one\n")
        assert ask(memory, "alpha bravo") == ["alpha delta one"]
        assert not memory.search("delta").warnings
        assert memory.index.status().current


@pytest.mark.usefixtures("no_times_of_change")
def test_where_the_index_may_not_be_written_the_hit_is_left_out_and_that_is_said(
    root: str, note: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(root) as memory:
        texts(memory, "alpha")
        write(note, "alpha delta one\n")
        monkeypatch.setattr(memory._engine.finder().index, "read_again", lambda _: False)
        found = memory.search("alpha")
    assert not found.hits
    told = "1 hit left out: changed during the search, or cannot be read."
    assert found.warnings == (told,)
