"""A memory that has lived for a month, and a summariser that takes its time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.embed.choose import choose_embedder
from memolith.jobs import experiences as unique
from memolith.llm.rules import Rules
from tests.lifecycle.life import live

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memolith.clock import Clock
    from memolith.interfaces import Embedder, Statement, Summary
    from tests.conftest import StoppedTime

ON = {
    "compact.enabled": True,
    "compact.max_records": 60,
    "compact.max_chars": 24_000,
}


@pytest.fixture(scope="session")
def model() -> Embedder:
    """The model that comes along, opened once for all tests."""
    return choose_embedder()


@pytest.fixture(autouse=True)
def open_the_model_once(model: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs open it for each run, which is nothing in a night and much in a simulated year."""
    monkeypatch.setattr(unique, "choose_embedder", lambda: model)


@pytest.fixture(autouse=True)
def no_syncs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A simulated year is many writes, and nobody cuts the power."""
    monkeypatch.setenv("MEMOLITH_FSYNC", "off")


@pytest.fixture
def grown(root: str, clock: Clock, stopped_time: StoppedTime) -> Iterator[Memory]:
    """Thirty days of six records, and one that must stay."""
    with Memory(root, clock=clock, settings=ON) as memory:
        memory.remember("Ana owns the release key", category="learned")
        live(memory, stopped_time, 30)
        yield memory


class Slow(Rules):
    """Rules that wait until they may answer."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Say that we were asked, wait, and answer as the rules do."""
        self.asked.set()
        assert self.may_answer.wait(600)
        return super().summarise(statements, max_chars)


@pytest.fixture
def slow() -> Slow:
    """Rules that wait until they may answer."""
    return Slow()
