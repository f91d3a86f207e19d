"""Limits on time that a busy machine does not break: what everything takes longer is allowed."""

from __future__ import annotations

import gc
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
    slowness = _slowness(time.thread_time)  # ours: threads of other tests may be at their end
    gc.disable()  # a full collection of what other tests left alive takes a second by itself
    try:
        started = time.thread_time()
        yield
        taken = time.thread_time() - started
    finally:
        gc.enable()
    allowed = most * max(1.0, slowness, _slowness(time.thread_time))
    assert taken < allowed, f"{taken:.2f} s of CPU, {allowed:.2f} s were allowed"


def soon(most: float, attempt: Callable[[], float]) -> None:
    """Fails if each of five attempts takes more seconds by the clock than `most`; each tells its own.

    A machine stands still now and then. A program that waits for what never comes does so each time.
    """
    taken = list[float]()
    while not taken or taken[-1] >= most * max(1.0, _slowness(time.monotonic)):
        assert len(taken) < 5, f"{taken} seconds by the clock, {most:g} were allowed"
        taken.append(attempt())


def _slowness(clock: Callable[[], float]) -> float:
    started = clock()
    assert len({str(number * 7919 % 10007) for number in range(60_000)}) == 10007
    return (clock() - started) / _USUAL_SECONDS
