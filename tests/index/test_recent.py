"""The newest chunks in memory: a write costs whoever searches little, and is always seen."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from memolith.index import segments
from memolith.index.postings import pack_terms
from memolith.index.recent import NEWEST, Recent
from memolith.index.segment import COLUMNS, Row
from memolith.index.sqlite import SqliteIndex
from tests.index.samples import ALL, MODEL, make_chunk, put, texts_at, vector_of

if TYPE_CHECKING:
    from pathlib import Path


class Rows:
    """Rows by number, which notes how many are read."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.read = 0

    def add(self, *, vector: bytes | None = bytes(16)) -> None:
        key = len(self.rows) + 1
        self.rows.append(Row(key, (0,) * len(COLUMNS), pack_terms({"w": 1.0}), b"", vector))

    def between(self, first: int, last: int) -> list[Row]:
        found = [row for row in self.rows if first <= row.key <= last]
        self.read += len(found)
        return found

    def waiting(self, first: int, last: int) -> int:
        return sum(row.vector is None for row in self.rows if first <= row.key <= last)


def keys_in(recent: Recent, first: int = 1) -> list[int]:
    return [key for segment in recent.segments(first) for key in segment.keys.tolist()]


def test_a_further_chunk_has_only_the_newest_read_again() -> None:
    rows = Rows()
    recent = Recent(rows.between, rows.waiting, 16)
    for _ in range(1500):
        rows.add()
    assert len(keys_in(recent)) == 1500
    rows.read = 0
    for number in range(1, NEWEST + 1):
        rows.add()
        assert len(keys_in(recent)) == 1500 + number
    assert rows.read == NEWEST * (NEWEST + 1) // 2


def test_a_vector_that_came_later_is_taken_in() -> None:
    rows = Rows()
    recent = Recent(rows.between, rows.waiting, 16)
    for _ in range(NEWEST + 1):
        rows.add(vector=None)
    assert not any(segment.nearest.scales.any() for segment in recent.segments(1))
    rows.rows[0] = Row(1, rows.rows[0].columns, rows.rows[0].terms, b"", bytes([1] * 16))
    assert [segment.nearest.scales.any() for segment in recent.segments(1)] == [True]


def test_what_a_file_holds_by_now_is_let_go_of() -> None:
    rows = Rows()
    recent = Recent(rows.between, rows.waiting, 16)
    for _ in range(300):
        rows.add()
    assert keys_in(recent) == list(range(1, 301))
    assert keys_in(recent, 300) == [300]
    assert keys_in(recent, 301) == []


def test_who_takes_in_change_by_change_finds_what_a_newcomer_finds(tmp_path: Path) -> None:
    chance = random.Random(5)
    writer, reader = SqliteIndex(str(tmp_path), MODEL), SqliteIndex(str(tmp_path), MODEL)
    for number in range(60):
        path = f"{chance.randrange(12)}.md"
        words = [f"all w{chance.randrange(9)} n{number} {line}" for line in range(40)]
        chunks = [make_chunk(text, path, line) for line, text in enumerate(words, 1)]
        put(writer, *chunks, embedded=chance.random() < 0.9)
        if number % 7 == 6:
            waiting = writer.without_vector(100)
            writer.set_vectors({item.key: vector_of("all") for item in waiting}, {})
        newcomer = SqliteIndex(str(tmp_path), MODEL)
        for word in ("w3", f"n{number}"):
            assert texts_at(reader, word) == texts_at(newcomer, word)
        near = [
            index.rank([], vector_of("w3"), 20, [ALL])[0].signals for index in (reader, newcomer)
        ]
        assert near[0].meaning.max(initial=0) == near[1].meaning.max(initial=0)
        newcomer.close()
    reader.close()
    writer.close()


@pytest.mark.parametrize("in_files", [False, True])
def test_a_short_chunk_is_worth_the_same_whenever_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_files: bool
) -> None:
    if in_files:
        monkeypatch.setattr(segments, "RECENT", 20)
    index = SqliteIndex(str(tmp_path), MODEL)
    notes = [
        make_chunk(f"about {number} " + "word " * 200, "notes.md", 1 + number)
        for number in range(200)
    ]
    put(index, *notes, make_chunk("heron sleeps here", "old.md"))
    index.maintain()
    for number in range(30):
        put(index, make_chunk("heron stays there", f"new{number}.md"))
        index.maintain()
    signals = index.rank([{"heron": 1.0}], None, 100, [ALL])[0].signals
    assert len(signals.keys) == 31
    assert signals.words.min() > 0.95 * signals.words.max()
    index.close()
