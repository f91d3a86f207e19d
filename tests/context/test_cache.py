"""A repeated question is answered at once, and never with what a write has overtaken."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memolith import Memory
from memolith import clock as clocks
from memolith.clock import Clock
from memolith.context.cache import AnswerCache
from memolith.errors import RefusedError
from memolith.files.disk_view import StoreVersion
from memolith.results import Filters, SearchResult
from tests.conftest import StoppedTime

TICK = 0.06  # after this a change gets another time stamp


class Store:
    """A store whose version a test changes, and a count of the answers that were made."""

    def __init__(self) -> None:
        self.version = 0
        self.settled = True
        self.made = 0

    def look(self) -> tuple[int, bool]:
        return self.version, self.settled

    def make(self) -> int:
        self.made += 1
        return self.made


def always(_: object) -> bool:
    return True


def test_the_same_question_is_answered_from_the_cache() -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    assert [cache.answer("a", store.make, always) for _ in range(3)] == [1, 1, 1]
    assert cache.answer("b", store.make, always) == 2


def test_a_write_makes_every_answer_unknown() -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    cache.answer("a", store.make, always)
    store.version += 1
    assert cache.answer("a", store.make, always) == 2


def test_a_write_while_an_answer_is_made_makes_it_unknown() -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)

    def make() -> int:
        store.version += 1
        return store.make()

    cache.answer("a", make, always)
    assert cache.answer("a", store.make, always) == 2


def test_an_answer_is_not_kept_while_a_change_would_not_show() -> None:
    store = Store()
    store.settled = False
    cache = AnswerCache(4, 30, store.look)
    assert [cache.answer("a", store.make, always) for _ in range(2)] == [1, 2]


def test_a_degraded_answer_is_not_kept() -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    assert [cache.answer("a", store.make, lambda value: value > 1) for _ in range(3)] == [1, 2, 2]


@given(st.integers(1, 5), st.lists(st.integers(0, 9)))
def test_no_more_answers_are_kept_than_allowed_and_the_longest_unused_leave(
    size: int, asked: list[int]
) -> None:
    store = Store()
    cache = AnswerCache(size, 30, store.look)
    recent: list[int] = []
    for key in asked:
        before = store.made
        cache.answer(key, store.make, always)
        assert (store.made == before) == (key in recent)
        recent = [*(k for k in recent if k != key), key][-size:]
        assert len(cache._answers) <= size


def test_a_cache_of_no_entries_keeps_nothing() -> None:
    store = Store()
    cache = AnswerCache(0, 30, store.look)
    assert [cache.answer("a", store.make, always) for _ in range(2)] == [1, 2]


@pytest.fixture
def moment(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the cache, which a test moves on."""
    now = [1000.0]
    monkeypatch.setattr(clocks, "monotonic", lambda: now[0])
    return now


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.perf_counter() + 300
    while not happened():
        assert time.perf_counter() < deadline
        time.sleep(0.002)


def test_an_old_answer_is_given_once_more_while_it_is_made_anew(moment: list[float]) -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    go_on = threading.Event()

    def make() -> int:
        go_on.wait(300)
        return store.make()

    cache.answer("a", store.make, always)
    moment[0] += 31
    assert [cache.answer("a", make, always) for _ in range(3)] == [1, 1, 1]
    go_on.set()
    wait_until(lambda: cache.answer("a", make, always) == 2)
    assert store.made == 2  # one renewal, however often it was asked for


def test_a_very_old_answer_is_made_anew_first(moment: list[float]) -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    cache.answer("a", store.make, always)
    moment[0] += 30 * 11
    assert cache.answer("a", store.make, always) == 2


def test_an_old_answer_is_not_given_after_a_write(moment: list[float]) -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)
    cache.answer("a", store.make, always)
    moment[0] += 31
    store.version += 1
    assert cache.answer("a", store.make, always) == 2


def test_a_renewal_that_fails_is_seen_by_whoever_asks_next(moment: list[float]) -> None:
    store = Store()
    cache = AnswerCache(4, 30, store.look)

    def fail() -> int:
        raise RefusedError("no")

    cache.answer("a", store.make, always)
    moment[0] += 31
    cache.answer("a", fail, always)
    wait_until(lambda: not len(cache._answers))
    with pytest.raises(RefusedError):
        cache.answer("a", fail, always)


def test_a_file_written_after_the_last_search_is_in_the_cached_answer(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Tea at four")
        assert len(memory.recall("tea").hits) == 1
        (tmp_path / "memory/note.md").write_text("Tea is in the kitchen.")
        assert len(memory.recall("tea").hits) == 2


def test_a_repeated_question_comes_from_the_cache_until_something_is_written(
    tmp_path: Path,
) -> None:
    memory = Memory(tmp_path)
    memory.remember("Tea is served at four")
    time.sleep(TICK)
    for ask in (
        lambda: memory.context("When is tea served?", deadline_seconds=60),
        lambda: memory.recall("When is tea served?"),
    ):
        first = ask()
        assert ask() is first
    Memory(tmp_path).remember("Tea is served at five")
    assert len(memory.recall("When is tea served?").hits) == 2


def test_other_synonyms_are_another_question(tmp_path: Path) -> None:
    synonyms = tmp_path / "synonyms.tsv"
    synonyms.write_text("", "utf-8")
    memory = Memory(tmp_path, settings={"search.meaning": False})
    memory.remember("Zorbin is served at four")
    for line, found in (("", 0), ("quaffle,zorbin\t", 1), ("quaffle,zorban\t", 0)):
        synonyms.write_text(f"{line}\n", "utf-8")
        assert len(memory.recall("quaffle").hits) == found
        time.sleep(TICK)
        first = memory.recall("quaffle")
        assert memory.recall("quaffle") is first
        assert len(first.hits) == found


def test_every_filter_but_the_moment_is_part_of_the_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Filters] = []

    def ask(_: str, kinds: Sequence[Filters], *_limits: object) -> list[SearchResult]:
        asked.extend(kinds)
        return [SearchResult(hits=())]

    monkeypatch.setattr(StoreVersion, "__call__", lambda _: (0, True))
    engine = Memory(tmp_path)._engine
    monkeypatch.setattr(engine, "ask", ask)
    now = Filters(now=Clock().now())
    others = [
        replace(now, **{one.name: True if one.name == "include_secret" else "another"})
        for one in fields(Filters)
        if one.name != "now"
    ]
    for filters in (now, replace(now, now=None), *others, *others):
        engine.recall("tea", 5, filters)
    assert asked == [now, *others]


def test_other_options_are_other_questions(tmp_path: Path) -> None:
    memory = Memory(tmp_path)
    memory.remember("Tea is served at four", category="fact")
    memory.remember("Tea is served at five", category="note")
    time.sleep(TICK)
    assert len(memory.recall("tea").hits) == 2
    assert len(memory.recall("tea", category="fact").hits) == 1
    assert len(memory.recall("tea", limit=1).hits) == 1
    main = memory.context("When is tea served?", deadline_seconds=60)
    assert len(main.hits) == 2
    assert memory.context("When is tea served?", kind="group", deadline_seconds=60).hits == ()
    known = memory.context("When is tea served?", known=[main.text], deadline_seconds=60)
    assert known.hits == ()


WRITER = """
import sys
from memolith import Memory
root, name = sys.argv[1:]
for number in range(20):
    sys.stdin.readline()
    Memory(root).remember(f"marker {name} {number}")
    print(f"marker {name} {number}", flush=True)
"""


def test_two_processes_write_while_a_third_reads_from_its_cache_never_a_stale_answer(
    tmp_path: Path,
) -> None:
    memory = Memory(tmp_path)
    memory.remember("marker zero")
    with writing(tmp_path, "one") as one, writing(tmp_path, "two") as two:
        read_while_they_write(memory, (one, two))
        assert (one.wait(300), two.wait(300)) == (0, 0)
    time.sleep(TICK)
    assert memory.recall("marker", limit=100) is memory.recall("marker", limit=100)


def writing(root: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def read_while_they_write(memory: Memory, writers: Sequence[subprocess.Popen[str]]) -> None:
    acknowledged = {"marker zero"}
    for number in range(20):
        for writer in writers:  # both are at it at the same time
            print(file=writer.stdin, flush=True)
        if number % 5 == 4:
            time.sleep(TICK)  # now and then the answer is kept
            memory.recall("marker", limit=100)
        for writer in writers:
            acknowledged.add(writer.stdout.readline().strip())
            seen = {hit.text for hit in memory.recall("marker", limit=100).hits}
            assert acknowledged <= seen
    assert len(acknowledged) == 41


def test_an_edit_in_a_folder_that_is_searched_besides_is_seen_at_once(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "drinks").mkdir(parents=True)
    (notes / "drinks" / "tea.md").write_text("Tea is served at four\n")
    memory = Memory(tmp_path / "profile", settings={"index.extra_paths": str(notes)})
    memory.remember("Coffee is served at noon")
    time.sleep(TICK)
    assert "four" in str(memory.recall("When is tea served?").hits)
    (notes / "drinks" / "tea.md").write_text("Tea is served at five\n")
    assert "five" in str(memory.recall("When is tea served?").hits)
    time.sleep(TICK)
    memory.recall("When is tea served?")
    (notes / "new.md").write_text("Tea is served at six\n")
    assert "six" in str(memory.recall("When is tea served?").hits)


@pytest.mark.parametrize("asked", ["recall", "context"])
def test_what_has_expired_since_is_not_answered_from_the_cache(
    root: str, clock: Clock, stopped_time: StoppedTime, asked: str
) -> None:
    memory = Memory(root, clock=clock, settings={"context.deadline_seconds": 60})
    memory.remember("Tea is served in the garden", expires=stopped_time() + timedelta(seconds=20))
    memory.index.sync()
    time.sleep(TICK)
    ask = partial(getattr(memory, asked), "When is tea served?")
    assert ask().hits
    stopped_time.advance(seconds=21)
    assert not ask().hits


def test_an_answer_that_expires_much_later_comes_from_the_cache(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock)
    memory.remember("Tea is served in the garden", expires=stopped_time() + timedelta(days=1))
    memory.index.sync()
    time.sleep(TICK)
    assert memory.recall("When is tea served?") is memory.recall("When is tea served?")
