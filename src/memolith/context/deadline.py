"""Work that an answer waits for, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from memolith import clock

T = TypeVar("T")
# Work that goes on although nobody waits for it any more must not pile up while an index is rebuilt.
MOST_AT_ONCE = 32
_MAX_SECONDS = 86_400.0  # a wait of longer than the system can count raises OverflowError
_room = threading.BoundedSemaphore(MOST_AT_ONCE)


def in_time(work: Callable[[], T], seconds: float, late: T) -> T:
    """What the work returns, done in a thread; `late` if it takes longer. Then it goes on behind us.

    How it fails before the deadline is raised here. Where too much goes on already, it is not begun.
    """
    seconds = min(seconds, _MAX_SECONDS)
    deadline = clock.monotonic() + seconds
    if not _room.acquire(timeout=seconds):
        return late
    outcome = _Outcome()
    found = list[T]()

    def run() -> None:
        try:
            with outcome:
                found.append(work())
        finally:
            _room.release()

    threading.Thread(target=run, name="memolith-search", daemon=True).start()
    if not outcome.done.wait(deadline - clock.monotonic()):
        return late
    if outcome.error is not None:
        raise outcome.error
    return found[0]


class _Outcome:
    """How work in one thread ended, for another thread to raise: nothing is lost on the way."""

    def __init__(self) -> None:
        self.done = threading.Event()
        self.error: BaseException | None = None

    def __enter__(self) -> None:
        """The work begins."""

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        self.error = error
        self.done.set()
        return True
