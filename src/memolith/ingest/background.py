"""Embedding that goes on while searches are answered by words."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memolith.errors import MemolithError

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE_SECONDS = 2.0


class Background:
    """One thread at a time that works until it is done, or told to stop."""

    def __init__(self, work: Callable[[Callable[[], bool]], None]) -> None:
        """`work` is given a function that tells whether it is to stop."""
        self._work = work
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    def start(self) -> None:
        """Begin, unless it is at work already."""
        if self._thread is None or not self._thread.is_alive():
            self._stopped.clear()
            self._thread = threading.Thread(target=self._run, name="memolith-embed", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Have it stop after the batch it is at; what is done is done."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_PATIENCE_SECONDS)
            self._thread = None

    def _run(self) -> None:
        try:
            self._work(self._stopped.is_set)
        except MemolithError as error:  # the next search tells, and begins again
            self.problem = error.message
