"""Work that an answer waits for, but not for ever."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memolith import clock

# Work that goes on although nobody waits for it any more must not pile up while an index is rebuilt.
MOST_AT_ONCE = 32
_MAX_SECONDS = 86_400.0  # a wait of longer than the system can count raises OverflowError
_room = threading.BoundedSemaphore(MOST_AT_ONCE)


def in_time(work: Callable[[], None], seconds: float) -> bool:
    """Do the work in a thread; whether it was done after so long. If not, it goes on behind us.

    What it finds before the deadline is for `work` to put where its caller looks; how it fails before
    the deadline is raised here. Where too much goes on already, it is not begun.
    """
    seconds = min(seconds, _MAX_SECONDS)
    deadline = clock.monotonic() + seconds
    if not _room.acquire(timeout=seconds):
        return False
    outcome = _Outcome()

    def run() -> None:
        try:
            with outcome:
                work()
        finally:
            _room.release()

    threading.Thread(target=run, name="memolith-search", daemon=True).start()
    if not outcome.done.wait(deadline - clock.monotonic()):
        return False
    if outcome.error is not None:
        raise outcome.error
    return True


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
