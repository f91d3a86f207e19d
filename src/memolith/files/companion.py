"""A thread beside the writer, for what must not stop it: the queue at the lock, a second file to sync.

It is kept between uses, because starting a thread costs about as much as writing a record. Made of
bare locks: `threading` and `queue` would have to be loaded, at a moment when nothing may fail.
"""

from __future__ import annotations

import _thread
import errno
import os
from collections.abc import Callable

_idle: list[Companion] = []


class Companion:
    """A thread that does one job at a time and tells how it ended."""

    __slots__ = ("_begin", "_end", "_error", "_job", "_left")

    def __init__(self) -> None:
        """Running, with nothing to do; `Companion.take` gives one that may have been kept."""
        self._begin = _taken_lock()  # freed when there is a job
        self._end = _taken_lock()  # freed when it is done
        self._job: Callable[[], None] = _nothing
        self._error: OSError | None = None
        self._left = False
        try:
            _thread.start_new_thread(self._work, ())
        except RuntimeError as error:
            raise OSError(errno.EAGAIN, "cannot start a thread") from error

    @classmethod
    def take(cls) -> Companion:
        """One that nobody else uses; raises OSError when there can be no more threads."""
        try:
            return _idle.pop()
        except IndexError:
            return cls()

    def begin(self, job: Callable[[], None]) -> None:
        """Let it do something that may raise OSError, while we go on."""
        self._job = job
        self._begin.release()

    def end(self, seconds: float = _thread.TIMEOUT_MAX) -> OSError | None:
        """Wait for the job to end: its error, or None; raises TimeoutError if it takes too long.

        Whoever stops waiting leaves the thread behind with its job, and it ends with it.
        """
        done = False
        try:
            done = self._end.acquire(timeout=min(seconds, _thread.TIMEOUT_MAX))
        finally:  # too late, or Ctrl-C: nobody takes the answer, so nobody may get this thread
            if not done:
                self._leave()
        if not done:
            raise TimeoutError
        error = self._error
        _idle.append(self)
        return error

    def _leave(self) -> None:
        self._left = True
        if self._end.acquire(blocking=False):  # done in this very moment: it waits for the next job
            self._begin.release()

    def _work(self) -> None:
        while not self._left:
            self._begin.acquire()
            job, self._job = self._job, _nothing
            # Should it end in another way than by OSError, it has failed all the same.
            self._error = OSError(errno.EIO, os.strerror(errno.EIO))
            try:
                job()
                self._error = None
            except OSError as error:
                self._error = error
            finally:
                self._end.release()


def _nothing() -> None:
    """The job of a companion that was left."""


def _taken_lock() -> _thread.LockType:
    lock = _thread.allocate_lock()
    lock.acquire()
    return lock


os.register_at_fork(after_in_child=_idle.clear)  # threads do not live on in a forked child
