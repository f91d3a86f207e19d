"""Work that an answer waits for, but not for ever."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memolith.errors import MemolithError

if TYPE_CHECKING:
    from collections.abc import Callable


def in_time(work: Callable[[], None], seconds: float) -> bool:
    """Do the work in a thread; whether it was done after so long. If not, it goes on behind us.

    What it finds before the deadline is for `work` to put where its caller looks.
    """
    errors: list[MemolithError] = []
    done = threading.Event()

    def run() -> None:
        try:
            work()
        except MemolithError as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="memolith-search", daemon=True).start()
    in_good_time = done.wait(seconds)
    if errors:
        raise errors[0]
    return in_good_time
