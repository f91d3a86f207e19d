"""Work that an answer waits for, but not for ever."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def in_time(work: Callable[[], None], seconds: float) -> bool:
    """Do the work in a thread; whether it was done after so long. If not, it goes on behind us.

    What it finds before the deadline is for `work` to put where its caller looks; how it fails before
    the deadline is raised here.
    """
    outcome = _Outcome()

    def run() -> None:
        with outcome:
            work()

    threading.Thread(target=run, name="memolith-search", daemon=True).start()
    if not outcome.done.wait(seconds):
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
