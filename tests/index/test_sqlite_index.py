"""The contract of an index, on the built-in one."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from memolith.index.database import Database
from memolith.index.postings import pack_terms
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import WORD_START, FileChange, IndexedChunk, IndexReplacedError
from memolith.results import Filters
from tests.index.samples import (
    ALL,
    MODEL,
    indexed,
    keys_of,
    make_chunk,
    put,
    state_of,
    texts_at,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    index = SqliteIndex(str(tmp_path / "index"), MODEL)
    yield index
    index.close()


def test_a_chunk_is_found_by_its_words_and_by_its_meaning(index: SqliteIndex) -> None:
    put(index, make_chunk("red boat"), make_chunk("blue house", line=2))
    assert texts_at(index, "boat") == {("MEMORY.md", 1)}
    near = index.rank([], vector_of("blue house"), 10, [ALL])[0].signals
    best = int(near.keys[near.meaning.argmax()])
    assert index.fetch([best])[best].chunk.first_line == 2
    assert near.meaning.max() == pytest.approx(1, abs=0.02)


def test_a_chat_means_what_its_turns_mean_together(index: SqliteIndex) -> None:
    said = {"one": ["red boat", "blue sea"], "two": ["old house"], "three": ["new garden", "rose"]}
    turns = [(chat, text) for number in (0, 1) for chat in said for text in said[chat][number:][:1]]
    put(
        index,
        *(
            make_chunk(text, path=f"{chat}.md", line=line, kind="turn", role="user", chat=chat)
            for line, (chat, text) in enumerate(turns, 1)
        ),
    )
    found = index.rank([], vector_of("boat"), 10, [ALL])[0].signals
    chunks = index.fetch(found.keys.tolist())
    number = {
        chunks[key].chunk.chat: chat
        for key, chat in zip(found.keys.tolist(), found.chat.tolist(), strict=True)
    }
    asked = ["three", "one", "two"]
    vectors = index.chat_vectors(np.array([number[chat] for chat in asked]))
    for chat, vector in zip(asked, vectors, strict=True):
        assert vector == pytest.approx(sum(map(vector_of, said[chat])), abs=0.03)
    assert not index.chat_vectors(np.array([10**6])).any()


def test_everything_about_a_chunk_comes_back_but_its_text(index: SqliteIndex) -> None:
    chunk = make_chunk(
        "kept \ud800 text",
        path="memory/\udcff.md",
        kind="record",
        role="user",
        heading="Top > Übung",
        dated=date(2026, 4, 9),
        category="fact",
        session="s",
        chat="c",
        sensitivity="secret",
        channel="cli",
        record_id="r1",
        supersedes="r0",
        expires=datetime(2027, 1, 1, tzinfo=UTC),
    )
    item = IndexedChunk(chunk, b"d" * 16, b"i" * 16, pack_terms({"kept": 1.0}))
    index.replace_files([FileChange(chunk.path, state_of(chunk.path), [item])])
    (found,) = index.fetch(keys_of(index, "kept")).values()
    assert found.digest == b"d" * 16
    assert found.chunk == make_chunk("", **_fields(chunk))


def _fields(chunk: object) -> dict[str, object]:
    names = [name for name in chunk.__slots__ if name != "text"]
    return {name: getattr(chunk, name) for name in names}


def test_what_is_unchanged_in_a_file_keeps_its_key_and_gets_its_new_lines(
    index: SqliteIndex,
) -> None:
    put(index, make_chunk("first"), make_chunk("second", line=2))
    (key,) = keys_of(index, "second")
    put(index, make_chunk("new"), make_chunk("second", line=7))
    assert keys_of(index, "second") == [key]
    assert index.fetch([key])[key].chunk.first_line == 7
    assert keys_of(index, "first") == []


def test_a_text_that_stands_twice_is_two_chunks(index: SqliteIndex) -> None:
    put(index, make_chunk("twin"), make_chunk("twin", line=2))
    assert texts_at(index, "twin") == {("MEMORY.md", 1), ("MEMORY.md", 2)}
    assert sorted(index.identities("MEMORY.md").values()) == [2]
    put(index, make_chunk("twin", line=5))
    assert texts_at(index, "twin") == {("MEMORY.md", 5)}


def test_a_chunk_said_to_be_there_that_is_not_makes_the_caller_begin_again(
    index: SqliteIndex,
) -> None:
    item = IndexedChunk(make_chunk("x"), b"", b"unknown", None)
    with pytest.raises(IndexReplacedError):
        index.replace_files([FileChange("MEMORY.md", state_of("MEMORY.md"), [item])])
    assert index.files() == {}


def test_a_file_that_is_forgotten_is_found_no_more(index: SqliteIndex) -> None:
    put(index, make_chunk("gone", path="a.md"), make_chunk("stays", path="b.md"))
    index.replace_files([FileChange("a.md", None)])
    assert keys_of(index, "gone") == []
    assert set(index.files()) == {"b.md"}


def test_a_touched_file_gets_its_new_stamp_and_a_strange_one_is_not_made_up(
    index: SqliteIndex,
) -> None:
    put(index, make_chunk("x"))
    new = state_of("other size", digest="b")
    index.replace_files([FileChange(path, new, None) for path in ("MEMORY.md", "nobody.md")])
    assert index.files() == {"MEMORY.md": new}
    assert texts_at(index, "x") == {("MEMORY.md", 1)}


def test_flaws_are_those_that_files_have_now(tmp_path: Path, index: SqliteIndex) -> None:
    other = SqliteIndex(str(tmp_path / "index"), MODEL)
    put(index, *(make_chunk("x", path=path) for path in ("a.md", "b.md", "c.md")))
    assert index.flaws() == other.flaws() == {}
    flawed = replace(state_of("a.md", digest="b"), flaws="1 2")
    index.replace_files([FileChange(path, flawed, None) for path in ("a.md", "b.md")])
    assert index.flaws() == other.flaws() == {"a.md": "1 2", "b.md": "1 2"}
    index.replace_files([FileChange("a.md", None), FileChange("b.md", state_of("b.md"), None)])
    assert index.flaws() == other.flaws() == {}
    other.close()


MOMENT = datetime(2026, 11, 15, 12, tzinfo=UTC)
FILTERED = [
    (Filters(include_secret=True), {1, 2, 3, 4, 5, 6}),
    (Filters(), {1, 2, 4, 5, 6}),
    (Filters(category="fact", include_secret=True), {1}),
    (Filters(category="unheard of"), set()),
    (Filters(session="work"), {2}),
    (Filters(chat="telegram"), {4}),
    (Filters(since=date(2026, 4, 1)), {5}),
    (Filters(until=date(2026, 4, 1)), {1, 2, 4, 6}),
    (Filters(as_of=date(2026, 5, 1)), {1, 2, 4, 5, 6}),
    (Filters(path="memory"), {5}),
    (Filters(path="memory/a.md"), {5}),
    (Filters(path="memory/a"), set()),
    (Filters(now=MOMENT), {1, 2, 4, 5}),
]


@pytest.mark.parametrize(("filters", "lines"), FILTERED)
@pytest.mark.parametrize("by", ["words", "meaning"])
def test_filters_leave_out_exactly_what_they_should(
    index: SqliteIndex, filters: Filters, lines: set[int], by: str
) -> None:
    put(
        index,
        make_chunk("same words", line=1, category="fact"),
        make_chunk("same words", line=2, session="work"),
        make_chunk("same words", line=3, sensitivity="secret"),
        make_chunk("same words", line=4, chat="telegram"),
        make_chunk("same words", line=5, path="memory/a.md", dated=date(2026, 4, 2)),
        make_chunk("same words", line=6, expires=datetime(2026, 1, 1, tzinfo=UTC)),
    )
    words, vector = ([{"same": 1.0}], None) if by == "words" else ([], vector_of("same words"))
    found = index.fetch(index.rank(words, vector, 50, [filters])[0].signals.keys.tolist())
    assert {item.chunk.first_line for item in found.values()} == lines


def test_a_record_is_superseded_from_the_day_of_the_newer_one_on(index: SqliteIndex) -> None:
    newer = make_chunk("new", supersedes="old-id", record_id="new-id", dated=date(2026, 5, 1))
    put(index, make_chunk("old", line=2, record_id="old-id"), newer)
    (key,) = keys_of(index, "new")
    assert index.successors(["old-id", "new-id", ""], ALL) == {"old-id": (key,)}
    assert index.successors(["old-id"], Filters(as_of=date(2026, 4, 1))) == {}


def test_what_took_the_place_of_a_record_is_named_up_to_the_newest(index: SqliteIndex) -> None:
    put(
        index,
        make_chunk("one", record_id="a"),
        make_chunk("two", line=2, record_id="b", supersedes="a", sensitivity="secret"),
        make_chunk("three", line=3, record_id="c", supersedes="b"),
        make_chunk("four", line=4, record_id="x", supersedes="y"),
        make_chunk("five", line=5, record_id="y", supersedes="x"),
    )
    (third,) = keys_of(index, "three")
    assert index.successors(["a"], Filters()) == {"a": (third,)}
    both = index.successors(["a", "b"], Filters(include_secret=True))
    assert [len(keys) for keys in both.values()] == [2, 1]
    assert both["a"][-1] == both["b"][-1] == third
    assert set(index.successors(["x", "y"], ALL)) == {"x", "y"}  # a loop made by hand ends


def test_chunks_without_vector_are_found_by_words_and_get_theirs_later(index: SqliteIndex) -> None:
    put(index, make_chunk("late bird"), embedded=False)
    (waiting,) = index.without_vector(10)
    assert index.stats().without_vector == 1
    assert keys_of(index, "late") == [waiting.key]
    index.set_vectors({waiting.key: vector_of("late bird")}, {waiting.key: b"\1\x80\2\0"})
    assert index.without_vector(10) == []
    signals = index.rank([], vector_of("late bird"), 10, [ALL])[0].signals
    assert signals.meaning.tolist() == [pytest.approx(1, abs=0.02)]
    tokens, sizes = index.tokens(signals.keys)
    assert (tokens.tolist(), sizes.tolist()) == ([WORD_START + 1, 2], [2])


def test_another_model_throws_vectors_away_but_not_words(tmp_path: Path) -> None:
    folder = str(tmp_path / "index")
    first = SqliteIndex(folder, MODEL)
    put(first, make_chunk("kept"))
    first.close()
    without = SqliteIndex(folder, None)
    assert without.stats().without_vector == 0
    without.close()
    other = SqliteIndex(folder, ("other model", 8))
    assert keys_of(other, "kept")
    assert other.stats().without_vector == 1
    other.close()


def test_every_process_sees_what_another_wrote(tmp_path: Path, index: SqliteIndex) -> None:
    other = SqliteIndex(str(tmp_path / "index"), MODEL)
    assert keys_of(other, "word") == []
    put(index, make_chunk("word"))
    assert texts_at(other, "word") == {("MEMORY.md", 1)}
    other.close()


def test_a_cleared_index_is_replaced_for_everybody(tmp_path: Path, index: SqliteIndex) -> None:
    other = SqliteIndex(str(tmp_path / "index"), MODEL)
    put(index, make_chunk("word"))
    index.clear()
    for holder in (index, other):
        with pytest.raises(IndexReplacedError):
            holder.files()
    other.close()
    fresh = SqliteIndex(str(tmp_path / "index"), MODEL)
    assert fresh.files() == {}
    fresh.close()


def test_nobody_else_may_read_the_index(tmp_path: Path, index: SqliteIndex) -> None:
    put(index, make_chunk("word"))
    for path in (tmp_path / "index").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert os.stat(tmp_path / "index").st_mode & 0o077 == 0


def test_indexed_again_the_same_chunks_change_nothing(index: SqliteIndex) -> None:
    put(index, make_chunk("word"))
    before = keys_of(index, "word")
    item = indexed(make_chunk("word"))
    index.replace_files([FileChange("MEMORY.md", state_of("MEMORY.md"), [item])])
    assert keys_of(index, "word") == before
    assert index.stats().chunks == 1


def test_an_index_that_is_used_after_its_end_is_opened_again_and_not_thrown_away(
    index: SqliteIndex, tmp_path: Path
) -> None:
    put(index, make_chunk("red boat"))
    other = SqliteIndex(str(tmp_path / "index"), MODEL)
    for closed in (other, index):  # the last one to close takes the log away
        closed.close()
        with pytest.raises(IndexReplacedError):
            keys_of(closed, "boat")
        with pytest.raises(IndexReplacedError):
            closed.fetch([1])
    again = SqliteIndex(str(tmp_path / "index"), MODEL)
    assert again.stats().chunks == 1
    again.close()


def test_an_index_that_two_threads_use_at_once_is_not_thrown_away(index: SqliteIndex) -> None:
    put(index, make_chunk("red boat"))
    for error in (apsw.ThreadingViolationError, apsw.MisuseError, apsw.ConnectionClosedError):
        with pytest.raises(IndexReplacedError), index._database.operation():
            raise error("by mistake")
    assert index.stats().chunks == 1


def test_a_writer_that_meets_another_waits_and_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, other = (SqliteIndex(str(tmp_path), MODEL) for _ in range(2))
    second = threading.Thread(target=put, args=(other, make_chunk("blue boat", path="blue.md")))
    check = Database.check_model

    def check_while_another_writes(database: Database) -> None:
        check(database)
        if second.ident is None:
            second.start()
            second.join(0.5)  # as long as the first has the write lock, it waits

    monkeypatch.setattr(Database, "check_model", check_while_another_writes)
    put(index, make_chunk("red boat", path="red.md"))
    second.join(10)
    assert texts_at(index, "boat") == {("red.md", 1), ("blue.md", 1)}
    index.close()
    other.close()
