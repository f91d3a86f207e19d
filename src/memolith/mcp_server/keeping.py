"""The schedule of a memory, kept by a server for agents as long as a job is switched on.

Whoever has only an agent has no other process that would run jobs. Of many servers one keeps it.
"""

from __future__ import annotations

import threading

from memolith.config.sections import scheduled_jobs
from memolith.jobs.scheduler import Scheduler
from memolith.memory import Memory


class Keeping:
    """Begins and ends with the settings; what that takes is loaded only then, and nobody waits for it."""

    def __init__(self, memory: Memory) -> None:
        """Nothing is kept before the first look."""
        self._memory = memory
        self._wanted = False
        self._guard = threading.Lock()
        self._scheduler: Scheduler | None = None

    def look(self) -> None:
        """Do as the settings say by now."""
        self._want(bool(scheduled_jobs(self._memory.config)))

    def close(self) -> None:
        """End. A job that still runs is given up with our process; the files are safe at any moment."""
        self._want(False)

    def _want(self, wanted: bool) -> None:
        if wanted != self._wanted:
            self._wanted = wanted
            threading.Thread(target=self._follow, name="memolith-keeping", daemon=True).start()

    def _follow(self) -> None:
        with self._guard:
            if self._wanted and self._scheduler is None:
                from memolith.jobs.scheduler import Scheduler

                self._scheduler = Scheduler(self._memory.jobs)
                self._scheduler.start()
            elif not self._wanted and self._scheduler is not None:
                self._scheduler.stop()
                self._scheduler = None
