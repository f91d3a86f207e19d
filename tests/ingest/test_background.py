"""Work in the background: what was told to stop stays stopped, whatever begins after it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError
from memolith.ingest import embedding
from memolith.ingest.embedding import Background

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

_LONG_SECONDS = 60


class Batches:
    """Work whose first run is at a batch that takes until `go_on`, and then fails."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.first_begun = threading.Event()
        self.second_begun = threading.Event()
        self.was_stopped: list[bool] = []  # the first run, after its batch

    def work(self, is_stopped: Callable[[], bool]) -> str:
        if self.first_begun.is_set():
            self.second_begun.set()
            return "The second run has a warning."
        self.first_begun.set()
        self.go_on.wait(_LONG_SECONDS)
        self.was_stopped.append(is_stopped())
        raise EmbeddingError("The first run has failed.")


def wait_for_all() -> None:
    for thread in threading.enumerate():
        if thread.name == "memolith-embed":
            thread.join(_LONG_SECONDS)


def test_a_run_that_was_stopped_stays_stopped_when_another_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(embedding, "_STOP_SECONDS", 0.01)
    batches = Batches()
    first, second = Background(batches.work), Background(batches.work)
    first.start()
    assert batches.first_begun.wait(_LONG_SECONDS)
    first.stop()  # gives up waiting for the batch
    second.start()
    assert batches.second_begun.wait(_LONG_SECONDS)
    batches.go_on.set()
    wait_for_all()
    assert batches.was_stopped == [True]
    assert second.problem == "The second run has a warning."


def test_a_run_that_fails_is_said_and_another_begins() -> None:
    batches = Batches()
    batches.go_on.set()
    for problem in ("The first run has failed.", "The second run has a warning."):
        running = Background(batches.work)
        running.start()
        wait_for_all()
        assert running.problem == problem
