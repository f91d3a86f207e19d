"""Many threads, one memory: they share one index, and nobody waits for a search that is late."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory, finder
from memolith.finder import Finder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def memory(root: str) -> Iterator[Memory]:
    with Memory(root) as memory:
        memory.remember("Ana owns the release key")
        yield memory


def test_threads_that_search_first_share_one_index(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = list[Finder]()
    meeting = threading.Barrier(4)

    class Noted(Finder):
        def __init__(self, *about: Any) -> None:
            made.append(self)
            super().__init__(*about)

    monkeypatch.setattr(finder, "Finder", Noted)

    def search() -> None:
        meeting.wait()
        memory.search("release")

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


@pytest.fixture
def slow(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Searches wait until this is set."""
    memory.search("release")  # the model is loaded
    go_on = threading.Event()
    search = Finder._answers

    def slowly(self: Finder, *about: Any, **options: Any) -> Any:
        go_on.wait(600)
        return search(self, *about, **options)

    monkeypatch.setattr(Finder, "_answers", slowly)
    yield go_on
    go_on.set()


def test_who_gave_up_on_a_search_closes_without_waiting_for_it(
    memory: Memory, slow: threading.Event
) -> None:
    before = set(threading.enumerate())
    context = memory.context("who owns the release key?", deadline_seconds=0.1)
    memory.close()
    assert "took longer than 0.1 seconds" in context.warnings[0]
    late = [
        thread for thread in set(threading.enumerate()) - before if thread.name == "memolith-search"
    ]
    assert late, "whoever closed has waited for the search"
    slow.set()
    for thread in late:
        thread.join()
    finder = memory._engine.opened
    assert finder is not None
    assert finder.index._index is None, "the late search closed what it had opened"
    assert memory.search("release").hits


def test_a_search_that_fails_unexpectedly_is_not_an_empty_answer(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Finder, "_answers", fail)
    with pytest.raises(ZeroDivisionError):
        memory.context("who owns the release key?")
    monkeypatch.undo()
    assert memory.context("who owns the release key?").hits
