"""The contract of `interfaces.Index`, on every engine of `tests.contract.engines`.

An engine may keep no group signals, tokens or chat vectors: those are zero, and their tests are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.index.words import as_terms
from memolith.interfaces import FileChange, Index, IndexedChunk, IndexReplacedError
from memolith.results import Filters
from tests.contract.engines import ENGINES, Engine
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

Opener = Callable[..., Index]


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    return ENGINES[request.param]


@pytest.fixture
def open_index(engine: Engine, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same index as often as a test wants, for a model; all are closed at the end."""
    with ExitStack() as stack:

        def opened(model: tuple[str, int] | None = MODEL) -> Index:
            index = engine.open(tmp_path / "index", model)
            stack.callback(index.close)
            return index

        yield opened


@pytest.fixture
def index(open_index: Opener) -> Index:
    return open_index()


def test_a_chunk_is_found_by_its_words_and_by_its_meaning(index: Index) -> None:
    put(index, make_chunk("red boat"), make_chunk("blue house", line=2))
    assert texts_at(index, "boat") == {("MEMORY.md", 1)}
    near = index.rank([], vector_of("blue house"), 10, [ALL])[0].signals
    best = int(near.keys[near.meaning.argmax()])
    assert index.fetch([best])[best].chunk.first_line == 2
    assert near.meaning.max() == pytest.approx(1, abs=0.02)


def test_a_chat_means_what_its_turns_mean_together(index: Index, engine: Engine) -> None:
    if not engine.has_groups:
        pytest.skip("this engine has no chat vectors")
    said = {"one": ["red boat", "blue sea"], "two": ["old house"], "three": ["new garden", "rose"]}
    turns = [(chat, text) for number in (0, 1) for chat in said for text in said[chat][number:][:1]]
    put(
        index,
        *(
            make_chunk(text, path=f"{chat}.md", line=line, kind="turn", role="user", chat=chat)
            for line, (chat, text) in enumerate(turns, 1)
        ),
    )
    nominated = index.rank([], vector_of("boat"), 10, [ALL])[0]
    found, vectors_of = nominated.signals, nominated.chat_vectors
    assert vectors_of is not None
    chunks = index.fetch(found.keys.tolist())
    number = {
        chunks[key].chunk.chat: chat
        for key, chat in zip(found.keys.tolist(), found.chat.tolist(), strict=True)
    }
    asked = ["three", "one", "two"]
    vectors = vectors_of(np.array([number[chat] for chat in asked]))
    for chat, vector in zip(asked, vectors, strict=True):
        assert vector == pytest.approx(sum(map(vector_of, said[chat])), abs=0.03)
    assert not vectors_of(np.array([10**6])).any()


def test_everything_about_a_chunk_comes_back_but_its_text(index: Index) -> None:
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
    item = IndexedChunk(chunk, b"d" * 16, b"i" * 16, as_terms({"kept": 1.0}))
    index.replace_files([FileChange(chunk.path, state_of(chunk.path), [item])])
    (found,) = index.fetch(keys_of(index, "kept")).values()
    assert found.digest == b"d" * 16
    assert found.chunk == make_chunk("", **_fields(chunk))


def _fields(chunk: object) -> dict[str, object]:
    names = [name for name in chunk.__slots__ if name != "text"]
    return {name: getattr(chunk, name) for name in names}


def test_what_is_unchanged_in_a_file_keeps_its_key_and_gets_its_new_lines(
    index: Index,
) -> None:
    put(index, make_chunk("first"), make_chunk("second", line=2))
    (key,) = keys_of(index, "second")
    put(index, make_chunk("new"), make_chunk("second", line=7))
    assert keys_of(index, "second") == [key]
    assert index.fetch([key])[key].chunk.first_line == 7
    assert keys_of(index, "first") == []


def test_a_text_that_stands_twice_is_two_chunks(index: Index) -> None:
    put(index, make_chunk("twin"), make_chunk("twin", line=2))
    assert texts_at(index, "twin") == {("MEMORY.md", 1), ("MEMORY.md", 2)}
    assert sorted(index.identities("MEMORY.md").values()) == [2]
    put(index, make_chunk("twin", line=5))
    assert texts_at(index, "twin") == {("MEMORY.md", 5)}


def test_a_chunk_said_to_be_there_that_is_not_makes_the_caller_begin_again(
    index: Index,
) -> None:
    item = IndexedChunk(make_chunk("x"), b"", b"unknown", None)
    with pytest.raises(IndexReplacedError):
        index.replace_files([FileChange("MEMORY.md", state_of("MEMORY.md"), [item])])
    assert index.files() == {}


def test_a_file_that_is_forgotten_is_found_no_more(index: Index) -> None:
    put(index, make_chunk("gone", path="a.md"), make_chunk("stays", path="b.md"))
    index.replace_files([FileChange("a.md", None)])
    assert keys_of(index, "gone") == []
    assert set(index.files()) == {"b.md"}


def test_a_touched_file_gets_its_new_stamp_and_a_strange_one_is_not_made_up(
    index: Index,
) -> None:
    put(index, make_chunk("x"))
    new = state_of("other size", digest="b")
    index.replace_files([FileChange(path, new, None) for path in ("MEMORY.md", "nobody.md")])
    assert index.files() == {"MEMORY.md": new}
    assert texts_at(index, "x") == {("MEMORY.md", 1)}


def flaws_of(index: Index) -> dict[str, str]:
    return {path: state.flaws for path, state in index.files().items() if state.flaws}


def test_flaws_are_those_that_files_have_now(open_index: Opener, index: Index) -> None:
    other = open_index()
    put(index, *(make_chunk("x", path=path) for path in ("a.md", "b.md", "c.md")))
    assert flaws_of(index) == flaws_of(other) == {}
    flawed = replace(state_of("a.md", digest="b"), flaws="1 2")
    index.replace_files([FileChange(path, flawed, None) for path in ("a.md", "b.md")])
    assert flaws_of(index) == flaws_of(other) == {"a.md": "1 2", "b.md": "1 2"}
    index.replace_files([FileChange("a.md", None), FileChange("b.md", state_of("b.md"), None)])
    assert flaws_of(index) == flaws_of(other) == {}


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
    index: Index, filters: Filters, lines: set[int], by: str
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


def test_a_record_is_superseded_from_the_day_of_the_newer_one_on(index: Index) -> None:
    newer = make_chunk("new", supersedes="old-id", record_id="new-id", dated=date(2026, 5, 1))
    put(index, make_chunk("old", line=2, record_id="old-id"), newer)
    (key,) = keys_of(index, "new")
    assert index.successors(["old-id", "new-id", ""], ALL) == {"old-id": (key,)}
    assert index.successors(["old-id"], Filters(as_of=date(2026, 4, 1))) == {}


def test_what_took_the_place_of_a_record_is_named_up_to_the_newest(index: Index) -> None:
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


def test_chunks_without_vector_are_found_by_words_and_get_theirs_later(index: Index) -> None:
    put(index, make_chunk("late bird"), embedded=False)
    (waiting,) = index.without_vector(10)
    assert index.stats().without_vector == 1
    assert keys_of(index, "late") == [waiting.key]
    index.set_vectors({waiting.key: vector_of("late bird")}, {waiting.key: b"\1\x80\2\0"})
    assert index.without_vector(10) == []
    signals = index.rank([], vector_of("late bird"), 10, [ALL])[0].signals
    assert signals.meaning.tolist() == [pytest.approx(1, abs=0.02)]
    assert signals.tokens.tolist() in ([b"\1\x80\2\0"], [b""])


def test_another_model_discards_vectors_but_not_words(open_index: Opener) -> None:
    first = open_index()
    put(first, make_chunk("kept"))
    assert open_index(None).stats().without_vector == 0
    other = open_index(("other model", 8))
    assert keys_of(other, "kept")
    assert other.stats().without_vector == 1
    with pytest.raises(IndexReplacedError):
        first.rank([], vector_of("kept"), 10, [ALL])


def test_every_process_sees_what_another_wrote(open_index: Opener, index: Index) -> None:
    other = open_index()
    assert keys_of(other, "word") == []
    put(index, make_chunk("word"))
    assert texts_at(other, "word") == {("MEMORY.md", 1)}
    index.replace_files([FileChange("MEMORY.md", None)])
    assert keys_of(other, "word") == []


def test_vectors_that_another_process_added_are_found(open_index: Opener, index: Index) -> None:
    other = open_index()
    put(index, make_chunk("late bird"), embedded=False)
    assert not other.rank([], vector_of("bird"), 10, [ALL])[0].signals.meaning.any()
    (waiting,) = index.without_vector(10)
    index.set_vectors({waiting.key: vector_of("late bird")}, {})
    assert other.rank([], vector_of("bird"), 10, [ALL])[0].signals.keys.tolist() == [waiting.key]


def test_a_cleared_index_is_replaced_for_everybody(open_index: Opener, index: Index) -> None:
    other = open_index()
    put(index, make_chunk("word"))
    index.clear()
    for holder in (index, other):
        with pytest.raises(IndexReplacedError):
            holder.files()
    assert open_index().files() == {}


def test_a_file_that_another_process_indexed_meanwhile_is_left_alone(index: Index) -> None:
    put(index, make_chunk("word"))
    stale = FileChange("MEMORY.md", None, seen=state_of("MEMORY.md", "older"), if_as_seen=True)
    assert index.replace_files([stale]) == ["MEMORY.md"]
    assert keys_of(index, "word")
    fresh = FileChange("MEMORY.md", None, seen=state_of("MEMORY.md"), if_as_seen=True)
    assert index.replace_files([fresh]) == []
    assert index.files() == {}


def test_a_purged_index_still_finds_what_is_left(open_index: Opener, index: Index) -> None:
    other = open_index()
    put(index, make_chunk("red boat", path="a.md"), make_chunk("blue boat", path="b.md"))
    assert len(keys_of(other, "boat")) == 2
    index.replace_files([FileChange("a.md", None)])
    index.purge()
    again = open_index()
    for one in (again, other):
        try:
            found = texts_at(one, "boat")
        except IndexReplacedError:  # an engine may start over
            continue
        assert found == {("b.md", 1)}


def test_several_filter_sets_are_answered_as_one_by_one(index: Index) -> None:
    put(index, *(make_chunk(f"boat n{n}", line=n, category="ab"[n % 2]) for n in range(20)))
    sets = [Filters(category="a"), Filters(category="b"), Filters()]
    together = index.rank([{"boat": 1.0}], vector_of("boat"), 5, sets)
    for filters, found in zip(sets, together, strict=True):
        (alone,) = index.rank([{"boat": 1.0}], vector_of("boat"), 5, [filters])
        assert found.signals.keys.tolist() == alone.signals.keys.tolist()
        assert found.signals.words == pytest.approx(alone.signals.words)
        assert found.chunks == alone.chunks == 20


def test_the_best_alternative_of_a_word_counts_and_rare_words_count_more(index: Index) -> None:
    put(index, make_chunk("boat ship"), *(make_chunk(f"boat n{n}", line=n + 2) for n in range(9)))
    found = index.rank([{"boat": 1.0, "ship": 0.1}], None, 20, [ALL])[0]
    assert set(found.signals.words_rank.tolist()) == set(range(1, 11))
    signals = index.rank([{"boat": 1.0}, {"ship": 1.0}], None, 20, [ALL])[0].signals
    best = int(signals.keys[signals.words.argmax()])
    assert index.fetch([best])[best].chunk.first_line == 1
    both = index.rank([{"boat": 1.0}, {"ship": 1.0}, {"none": 1.0}], None, 20, [ALL])[0]
    boat, ship, none = both.rarity
    assert boat < ship < none


def test_without_words_and_vector_the_newest_are_ranked(index: Index) -> None:
    for number in range(4):
        put(index, make_chunk(f"n{number}", path=f"{number}.md"))
    keys = index.rank([], None, 2, [ALL])[0].signals.keys.tolist()
    assert {item.chunk.path for item in index.fetch(keys).values()} == {"2.md", "3.md"}


def test_what_is_secret_or_removed_changes_no_score_of_others(
    open_index: Opener, index: Index
) -> None:
    said = [make_chunk(f"boat n{n}", line=n + 1, path="a.md") for n in range(5)]
    put(index, *said)
    before = index.rank([{"boat": 1.0}], vector_of("boat"), 9, [Filters()])[0]
    hidden = [
        make_chunk("boat boat", line=n + 9, sensitivity="secret", path="s.md") for n in range(5)
    ]
    put(index, *hidden, *(make_chunk("boat", path="gone.md", line=n) for n in range(1, 5)))
    index.replace_files([FileChange("gone.md", None)])
    for one in (index, open_index()):
        after = one.rank([{"boat": 1.0}], vector_of("boat"), 9, [Filters()])[0]
        assert after.signals.words == pytest.approx(before.signals.words)
        assert after.mean_similarity == pytest.approx(before.mean_similarity, abs=1e-5)
        assert (after.chunks, after.rarity) == (before.chunks, pytest.approx(before.rarity))


def test_a_record_is_secret_wherever_one_file_says_so(index: Index) -> None:
    put(
        index,
        make_chunk("boat one", path="a.md", record_id="r", kind="record"),
        make_chunk("boat two", path="b.md", record_id="r", kind="record", sensitivity="secret"),
        make_chunk("boat three", path="c.md", record_id="old", kind="record"),
        make_chunk("boat four", path="d.md", record_id="new", supersedes="old", kind="record"),
    )
    assert len(keys_of(index, "boat")) == 4
    assert texts_at(index, "boat", Filters()) == {("c.md", 1), ("d.md", 1)}
    states = index.record_states()
    assert (states.secret, states.superseded) == ({"r"}, {"old"})


def test_names_are_those_that_the_filters_let_through(index: Index) -> None:
    put(
        index,
        make_chunk("x", category="fact", session="s", chat="c"),
        make_chunk("y", line=2, category="hidden", sensitivity="secret"),
    )
    assert index.names("category", Filters()) == {"fact"}
    assert index.names("category", ALL) == {"fact", "hidden"}
    assert (index.names("session", ALL), index.names("chat", ALL)) == ({"s"}, {"c"})


def test_words_said_around_a_chunk_in_its_chat_are_a_signal(index: Index, engine: Engine) -> None:
    if not engine.has_groups:
        pytest.skip("this engine has no group signals")
    turns = [("one", "boat"), ("one", "harbour"), ("two", "boat"), ("two", "garden")]
    put(
        index,
        *(
            make_chunk(text, f"{chat}.jsonl", n, kind="turn", role="user", chat=chat)
            for n, (chat, text) in enumerate(turns, 1)
        ),
    )
    signals = index.rank([{"boat": 1.0}, {"harbour": 1.0}], None, 9, [ALL])[0].signals
    chunks = index.fetch(signals.keys.tolist())
    worth = {
        (chunks[key].chunk.chat, chunks[key].chunk.text): value
        for key, value in zip(signals.keys.tolist(), signals.group_words.tolist(), strict=True)
    }
    assert worth["one", ""] > worth["two", ""] > 0
    assert signals.group_user_words == pytest.approx(signals.group_words)


def test_indexed_again_the_same_chunks_change_nothing(index: Index) -> None:
    put(index, make_chunk("word"))
    before = keys_of(index, "word")
    item = indexed(make_chunk("word"))
    index.replace_files([FileChange("MEMORY.md", state_of("MEMORY.md"), [item])])
    assert keys_of(index, "word") == before
    assert index.stats().chunks == 1


def test_an_index_that_is_used_after_its_end_is_opened_again_and_not_thrown_away(
    open_index: Opener, index: Index
) -> None:
    put(index, make_chunk("red boat"))
    other = open_index()
    for closed in (other, index):  # the last one to close takes the log away
        closed.close()
        with pytest.raises(IndexReplacedError):
            keys_of(closed, "boat")
        with pytest.raises(IndexReplacedError):
            closed.fetch([1])
    assert open_index().stats().chunks == 1
