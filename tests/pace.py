"""Limits on time that a busy machine does not break: what everything takes longer is allowed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What the piece of work below takes on a machine that has nothing else to do.
_USUAL_SECONDS = 0.012


@contextmanager
def cpu_seconds(most: float) -> Iterator[None]:
    """Fails if the block takes more CPU seconds, on a machine at its usual pace, than `most`."""
    with _seconds(most, "of CPU", time.process_time):
        yield


@contextmanager
def wall_seconds(most: float) -> Iterator[None]:
    """Fails if the block takes more seconds by the clock, on a machine with nothing else to do."""
    with _seconds(most, "by the clock", time.monotonic):
        yield


@contextmanager
def _seconds(most: float, kind: str, clock: Callable[[], float]) -> Iterator[None]:
    slowness = _slowness(clock)
    started = clock()
    yield
    taken = clock() - started
    allowed = most * max(1.0, slowness, _slowness(clock))
    assert taken < allowed, f"{taken:.2f} s {kind}, {allowed:.2f} s were allowed"


def _slowness(clock: Callable[[], float]) -> float:
    started = clock()
    assert len({str(number * 7919 % 10007) for number in range(60_000)}) == 10007
    return (clock() - started) / _USUAL_SECONDS
