"""Embedding that goes on while searches are answered by words."""

from __future__ import annotations

import threading
from collections.abc import Callable

from memolith.errors import MemolithError

_PATIENCE_SECONDS = 2.0


class Background:
    """A thread that works until it is done, or told to stop; for use under a lock.

    One is at work at a time. Beside it, one that was stopped may still be at its last batch.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], str]) -> None:
        """`work` is given a function that tells whether it is to stop; it returns what went wrong."""
        self._work = work
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    @property
    def is_at_work(self) -> bool:
        """Whether it has begun and is not done."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin, unless it is at work already."""
        if not self.is_at_work:
            # Each run has its own: one that still is at its last batch stays stopped.
            self._stopped = stopped = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(stopped,), name="memolith-embed", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Have it stop after the batch it is at; what is done is done."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE_SECONDS)
            self._thread = None

    def _run(self, stopped: threading.Event) -> None:
        try:
            problem = self._work(stopped.is_set)
        except MemolithError as error:  # the next search tells, and begins again
            problem = error.message
        if not stopped.is_set():
            self.problem = problem
