"""One process at a time indexes what has changed; the others wait a moment and find it done.

After each write all servers of a memory would do the same work at once, all but one of them in vain. It
is a courtesy and no more: who has waited long enough goes ahead, and the index is right all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.files.locks import SYNC_LOCK, OwnerLock

# Longer than a few changed files take, and short for somebody who waits for a search.
_PATIENCE_SECONDS = 0.25
_NAP_SECONDS = 0.002


@contextmanager
def turn(folder: Folder) -> Iterator[bool]:
    """Our turn to index; gives whether somebody else had it just now, and may have left nothing to do."""
    lock, waited = _wait(folder)
    try:
        yield waited
    finally:
        if lock is not None:
            lock.release()


def _wait(folder: Folder) -> tuple[OwnerLock | None, bool]:
    """The lock, if it can be had in time, and whether another process had it."""
    waited = False
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return OwnerLock(folder, SYNC_LOCK), waited
        except (
            MemolithError
        ):  # there are no locks here, or nothing may be written: no turns to wait for
            return None, waited
        except BlockingIOError:
            if clock.monotonic() >= deadline:
                return None, waited
        waited = True
        sleep(_NAP_SECONDS)
