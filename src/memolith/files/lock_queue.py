"""Waiting in the kernel's queue for a lock, with a deadline."""

from __future__ import annotations

import fcntl
import threading
from collections.abc import Callable


class Waiter:
    """A thread that blocks in flock; whoever gives up leaves it behind, and it frees what it gets."""

    def __init__(self, fd: int, close: Callable[[int], None]) -> None:
        """Wait for the lock on `fd`; `close` closes it when the wait was in vain."""
        self._fd = fd
        self._close = close
        self._guard = threading.Lock()
        self._over = False
        self._abandoned = False
        self._error: OSError | None = None
        # Released the moment the wait is over: joining the thread would keep everybody behind us
        # in the queue waiting for its clean-up too.
        self._signal = threading.Lock()
        self._signal.acquire()

    def wait(self, seconds: float) -> bool:
        """Whether the lock was taken in time; if not, `fd` is closed as soon as the kernel allows."""
        threading.Thread(target=self._block, name="memolith-lock", daemon=True).start()
        try:
            self._signal.acquire(timeout=seconds)
        except BaseException:  # Ctrl-C: whoever has the handle then closes it, and frees the lock
            with self._guard:
                self._abandoned = not self._over
            if self._over:
                self._close(self._fd)
            raise
        with self._guard:
            self._abandoned = not self._over
        if self._error:
            self._close(self._fd)
            raise self._error
        return self._over

    def _block(self) -> None:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX)
        except OSError as error:
            self._error = error
        with self._guard:
            self._over = True
            if self._abandoned:
                self._close(self._fd)
        self._signal.release()
