"""Files that were written a moment ago are read again, and nobody else is troubled by that."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from memolith import Memory, clock
from memolith.files.roots import Roots
from memolith.ingest import settling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ALWAYS = 1 << 62


def texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.search(question, limit=3).hits]


@pytest.fixture
def index_version(root: str) -> Iterator[Callable[[], int]]:
    """A number that changes whenever anybody writes into the index."""
    with Memory(root) as memory:
        memory.remember("Tea at four")
        memory.search("tea")
    (database,) = Path(root, ".memolith", "index").glob("*.db")
    with closing(apsw.Connection(str(database))) as connection:
        yield lambda: int(connection.pragma("data_version"))


def test_while_somebody_writes_searches_leave_the_index_as_it_is(
    root: str, index_version: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settling, "_CALM", ALWAYS)  # however slow the machine is
    with Memory(root) as first, Memory(root) as second:
        first.remember("Coffee at five")
        assert "Coffee at five" in texts(first, "coffee")
        before = index_version()
        for _ in range(5):
            assert "Coffee at five" in texts(second, "coffee")
            assert "Coffee at five" in texts(first, "coffee")
        assert index_version() == before


@pytest.mark.parametrize("tick", [0, ALWAYS])
def test_a_file_that_has_settled_is_not_read_again_and_one_that_has_not_is(
    root: str, tick: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "FILE_TICK", ALWAYS)
    with Memory(root) as memory:
        memory.remember("Coffee at five")
        memory.search("coffee")  # held under no stamp
        monkeypatch.setattr(settling, "_CALM", ALWAYS)
        monkeypatch.setattr(clock, "FILE_TICK", tick)
        os.utime(Path(root, "MEMORY.md"), ns=(1, Path(root, "MEMORY.md").stat().st_mtime_ns - 1))
        memory.search("coffee")
        read: list[str] = []
        real = Roots.read

        def noted(self: Roots, path: str, **options: bool) -> bytes | None:
            read.append(path)
            return real(self, path, **options)

        monkeypatch.setattr(Roots, "read", noted)
        memory._open_finder().look_again()
        memory.search("coffee")
        assert ("MEMORY.md" in read) is (tick == ALWAYS)


def test_a_change_of_the_same_size_and_time_is_found(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "FILE_TICK", ALWAYS)
    monkeypatch.setattr(settling, "_CALM", ALWAYS)
    note = Path(root, "memory", "note.md")
    note.parent.mkdir(parents=True)
    note.write_text("Tea at four.\n")
    with Memory(root) as memory:
        assert texts(memory, "tea") == ["Tea at four."]
        stamp = note.stat()
        note.write_text("Tea at nine.\n")
        os.utime(note, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert texts(memory, "tea") == ["Tea at nine."]


def test_once_it_is_calm_the_stamp_is_written_down_for_everybody(
    root: str, index_version: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(root) as memory:
        monkeypatch.setattr(clock, "FILE_TICK", ALWAYS)
        memory.remember("Coffee at five")
        memory.search("coffee")
        before = index_version()
        monkeypatch.setattr(clock, "FILE_TICK", -ALWAYS)
        monkeypatch.setattr(settling, "_CALM", -ALWAYS)
        memory._open_finder().look_again()
        memory.search("coffee")
        after = index_version()
        assert after != before
        memory._open_finder().look_again()
        memory.search("coffee")
        assert index_version() == after
