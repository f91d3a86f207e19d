"""The schedule: jobs run in the background, kept by one process of each profile."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

from memolith.apart import apart
from memolith.errors import MemolithError, WriterBusyError
from memolith.files.folder import Folder
from memolith.files.locks import SCHEDULE_LOCK, OwnerLock
from memolith.jobs.schedule import Run, Schedule, last_runs
from memolith.lifecycle import Jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from memolith.memory import Memory
    from memolith.reports import JobReport
    from memolith.types import Stamp

log = logging.getLogger("memolith.jobs")
# A memory that has passed its limits is compacted soon, but not again and again.
_GAP_SECONDS = 3600.0


def schedules(memory: Memory) -> Iterator[Schedule]:
    """The jobs that are switched on."""
    config = memory.config
    compact, dream, experiences = config.compact, config.dream, config.experiences
    if compact.enabled:
        yield Schedule(job="compact", cron=compact.cron, every_hours=compact.every_hours)
    if dream.enabled:
        yield Schedule(job="dream", cron=dream.cron)
    if experiences.enabled:
        yield Schedule(job="experiences", cron=experiences.cron)


def maintain(memory: Memory) -> tuple[JobReport, ...]:
    """Run every job that is due, once; raises WriterBusyError when another process does that."""
    with Folder(memory.root) as folder:
        try:
            with OwnerLock(folder, SCHEDULE_LOCK):
                return tuple(_run_due(memory, folder, _Watcher(), memory.jobs.unattended))
        except BlockingIOError as error:
            raise WriterBusyError(
                "Another process keeps the schedule of this memory. Nothing was run.",
                holder="unknown",
                waited_seconds=0,
                hint="It may be memolith serve or memolith maintain: there is nothing to do.",
            ) from error


class Scheduler:
    """A thread that runs jobs when they are due. Of many processes, one at a time keeps it."""

    def __init__(
        self,
        memory: Memory,
        *,
        poll_seconds: float = 30.0,
        tell: Callable[[JobReport], object] = lambda report: None,
        turn: Callable[[bool], object] = lambda ours: None,
    ) -> None:
        """`tell` is called with each report, in the thread; `turn` when it is known whether it is
        ours to keep the schedule, and when that changes.
        """
        self._memory = memory
        self._poll_seconds = poll_seconds
        self._tell = tell
        self._turn = turn
        self._ours: bool | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._watcher = _Watcher()

    def start(self) -> None:
        """Begin; a memory that does not exist yet is waited for."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._keep, name="memolith-jobs", daemon=True)
            self._thread.start()

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """End. A job that still runs is not waited for longer: dying, it changes nothing half."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout_seconds)

    def _keep(self) -> None:
        while not self._stopping.is_set():
            try:
                self._keep_as_owner()
            except BlockingIOError:
                self._is_ours(False)  # another process keeps the schedule; it may end
            except MemolithError as error:
                log.warning("the schedule waits: %s", error.message)
            self._stopping.wait(self._poll_seconds)

    def _keep_as_owner(self) -> None:
        if not self._memory.profile.exists:
            return
        with Folder(self._memory.root) as folder, OwnerLock(folder, SCHEDULE_LOCK):
            self._is_ours(True)
            while not self._stopping.is_set():
                for report in _run_due(self._memory, folder, self._watcher, self._run_apart):
                    self._tell(report)
                    if self._stopping.is_set():
                        return
                self._stopping.wait(self._poll_seconds)

    def _is_ours(self, ours: bool) -> None:
        if ours != self._ours:
            self._ours = ours
            self._turn(ours)

    def _run_apart(self, job: str) -> JobReport:
        memory = self._memory
        return memory.jobs.unattended(job, lambda: apart(memory, Jobs.unattended, name=job))


class _Watcher:
    """Notices that MEMORY.md has passed the limits of compaction, by a look at its size."""

    def __init__(self) -> None:
        self._seen: Stamp | None = None

    def has_passed_limits(self, memory: Memory, folder: Folder) -> bool:
        """Whether the file has changed and is now larger than it should be."""
        limits, path = memory.config.compact, memory.config.profile.primary
        stamp = folder.stamp(path)
        if stamp is None or stamp == self._seen or not limits.after_append:
            return False
        self._seen = stamp
        if limits.max_chars and stamp[1] > limits.max_chars:
            return True
        if not limits.max_records:
            return False
        return (folder.read(path) or b"").count(b"\n- {") > limits.max_records


def _run_due(
    memory: Memory, folder: Folder, watcher: _Watcher, run: Callable[[str], JobReport]
) -> Iterator[JobReport]:
    clock = memory.jobs.clock
    last = last_runs(folder)
    for schedule in schedules(memory):
        job, known = schedule.job, last.get(schedule.job)
        before = known.at if known else None
        if schedule.is_due(before, clock) or (
            job == "compact"
            and _may_follow(before, clock.now())
            and watcher.has_passed_limits(memory, folder)
        ):
            begun = Run(job=job, at=clock.now())
            memory.jobs.note_run(begun)  # before the run: one that kills us is not tried for ever
            report = run(job)
            memory.jobs.note_run(replace(begun, came_of=_came_of(report)))
            _log(report)
            yield report


def _may_follow(before: datetime | None, now: datetime) -> bool:
    return before is None or (now - before).total_seconds() >= _GAP_SECONDS


def _came_of(report: JobReport) -> str:
    """In one line: a run that changed nothing leaves no report, but says why here."""
    if report.id and report.status != "failed":
        return f"{report.status}: {report.id}"
    return f"{report.status}: {report.reason}"


def _log(report: JobReport) -> None:
    figures = " ".join(f"{name}={number}" for name, number in report.counts.items())
    level = logging.ERROR if report.status == "failed" else logging.INFO
    log.log(
        level,
        "%s %s %s ms=%d %s",
        report.job,
        report.status,
        figures,
        report.seconds * 1000,
        report.reason,
    )
