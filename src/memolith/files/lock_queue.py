"""Waiting in the kernel's queue for a lock, with a deadline."""

from __future__ import annotations

import _thread
import fcntl
from collections.abc import Callable
from contextlib import suppress

from memolith.files.companion import Companion


class Waiter:
    """Blocks in flock beside us; whoever gives up leaves it behind, and it frees what it gets."""

    def __init__(self, fd: int, close: Callable[[int], None]) -> None:
        """Wait for the lock on `fd`; `close` closes it when the wait was in vain."""
        self._fd = fd
        self._close = close
        self._guard = _thread.allocate_lock()
        self._over = False
        self._abandoned = False
        self._error: OSError | None = None

    def wait(self, seconds: float) -> bool:
        """Whether the lock was taken in time; if not, `fd` is closed as soon as the kernel allows."""
        try:
            companion = Companion.take()
        except OSError:
            self._close(self._fd)
            raise
        companion.begin(self._block)
        try:
            with suppress(TimeoutError):
                companion.end(seconds)
        except BaseException:  # Ctrl-C: who has the handle then closes it; raised again
            if not self._give_up():
                self._close(self._fd)
            raise
        if self._give_up():
            return False
        if self._error:
            self._close(self._fd)
            raise self._error
        return True

    def _give_up(self) -> bool:
        """Leave the wait to the companion; False if it is over, and the handle is ours again."""
        with self._guard:
            self._abandoned = not self._over
            return self._abandoned

    def _block(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._guard:
            self._over = True
            if self._abandoned:
                self._close(self._fd)
