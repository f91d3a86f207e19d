"""A limit on CPU time that a busy machine does not break: what everything takes longer is allowed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# What the piece of work below takes on a machine that has nothing else to do.
_USUAL_SECONDS = 0.012


@contextmanager
def cpu_seconds(most: float) -> Iterator[None]:
    """Fails if the block takes more CPU seconds, on a machine at its usual pace, than `most`."""
    slowness = _slowness()
    started = time.process_time()
    yield
    taken = time.process_time() - started
    allowed = most * max(1.0, slowness, _slowness())
    assert taken < allowed, f"{taken:.2f} s of CPU, {allowed:.2f} s were allowed"


def _slowness() -> float:
    started = time.process_time()
    assert len({str(number * 7919 % 10007) for number in range(60_000)}) == 10007
    return (time.process_time() - started) / _USUAL_SECONDS
