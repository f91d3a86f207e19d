"""When jobs are due, and the thread that runs them then: in one process of each profile at a time."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memolith.clock import Clock
from memolith.config.sections import Config, scheduled_jobs
from memolith.errors import MemolithError, WriterBusyError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import SCHEDULE_LOCK, OwnerLock
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.jobs.reports import JobReport, ScheduledRun
from memolith.jobs.run import ANOTHER_JOB, unforeseen
from memolith.profile import Profile
from memolith.store import Store

if TYPE_CHECKING:  # it reads the schedule, too
    from memolith.jobs.api import Jobs

Tell = Callable[[JobReport | str], object]

log = logging.getLogger("memolith.jobs")
NEVER = datetime(1970, 1, 1, tzinfo=UTC)
_DUE_AGAIN = "; it is due again"


def is_due(cron: str, last: datetime, clock: Clock, *, every_hours: float = 0.0) -> bool:
    """Whether a run was planned since the last one: however many were missed, one makes up. An interval wins."""
    from cronsim import CronSim  # `status` needs no cron expression

    now = clock.now()
    if last > now:  # the clock was set back
        return True
    if every_hours:
        return now - last >= timedelta(hours=every_hours)
    return next(CronSim(cron, clock.local(now), reverse=True)) > last


def last_runs(folder: Folder) -> dict[str, ScheduledRun]:
    """The last run of each job by a schedule; what cannot be read counts as never."""
    try:
        return {
            str(job): ScheduledRun(
                job=str(job),
                at=parse_time(run["at"], "schedule"),
                came_of=str(run.get("came_of") or "") or None,
                left=int(run.get("left", 0)),
            )
            for job, run in json.loads(folder.read(layout.SCHEDULE) or b"{}").items()
        }
    except (ValueError, TypeError, AttributeError, LookupError, RecordFormatError):
        return {}


def _last_run(folder: Folder, job: str) -> ScheduledRun:
    return last_runs(folder).get(job) or ScheduledRun(job=job, at=NEVER)


def note_run(store: Store, run: ScheduledRun) -> None:
    """Remember a run; call while holding the schedule's lock."""
    with store.writing() as transaction:
        runs = {**last_runs(transaction.folder), run.job: run}
        content = {
            job: {"at": encode_time(known.at), "came_of": known.came_of or "", "left": known.left}
            for job, known in sorted(runs.items())
        }
        stamp = transaction.folder.stamp(layout.SCHEDULE)
        transaction.replace(layout.SCHEDULE, json.dumps(content, indent=1).encode() + b"\n", stamp)
        transaction.commit()


def maintain(jobs: Jobs, tell: Tell = lambda news: None) -> tuple[JobReport, ...]:
    """Run every job that is due, one after the other; raises WriterBusyError when another process does that.

    `tell` is called with each report when its job has ended, and with a sentence before, if several are due.
    """
    with Folder(jobs.store.root) as folder:
        try:
            with OwnerLock(folder, SCHEDULE_LOCK):
                return tuple(_run_due(jobs, folder, jobs.unattended, tell))
        except BlockingIOError as error:
            raise WriterBusyError(
                "Another process keeps the schedule of this memory. Nothing was run.",
                holder="unknown",
                waited_seconds=0,
                hint="It may be memolith mcp, memolith serve or memolith maintain: there is nothing to do.",
            ) from error


class Scheduler:
    """A thread that runs jobs when they are due. Of many processes, one at a time keeps it."""

    def __init__(
        self, jobs: Jobs, tell: Tell = lambda news: None, *, poll_seconds: float = 30.0
    ) -> None:
        """In the thread, `tell` is called as by `maintain`, and with a sentence that says who keeps the schedule."""
        self._jobs, self._tell, self._poll_seconds = jobs, tell, poll_seconds
        self._ours: bool | None = None
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="memolith-jobs", daemon=True)

    def start(self) -> None:
        """Begin; a memory that does not exist yet is waited for."""
        self._thread.start()

    def stop(self, timeout_seconds: float = 5.0) -> None:
        """End. A job that still runs is not waited for longer: dying, it changes nothing half."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(timeout_seconds)

    def _keep(self) -> None:
        while not self._stopping.is_set():
            match unforeseen(self._keep_as_owner):
                case BlockingIOError():
                    self._is_ours(False)  # another process keeps the schedule; it may end
                case MemolithError() as error:
                    log.warning("the schedule waits: %s", error.message)
                case Exception() as error:
                    log.error("the schedule goes on after an unexpected error: %r", error)
            self._stopping.wait(self._poll_seconds)

    def _keep_as_owner(self) -> None:
        if not self._jobs.store.profile.exists:
            return
        with Folder(self._jobs.store.root) as folder, OwnerLock(folder, SCHEDULE_LOCK) as lock:
            self._is_ours(True)
            # A deleted lock file let a second process in: the one that holds its name keeps the schedule.
            while not self._stopping.is_set() and lock.has_its_name():
                for _ in _run_due(self._jobs, folder, self._run_in_process, self._tell):
                    if self._stopping.is_set():
                        return
                self._stopping.wait(self._poll_seconds)

    def _is_ours(self, ours: bool) -> None:
        if ours == self._ours:
            return
        self._ours = ours
        root = self._jobs.store.root
        names = ", ".join(scheduled_jobs(self._jobs.store.config))
        self._tell(
            f"Keeping the schedule of {root}: {names}. Ctrl-C ends it."
            if ours
            else f"Another process keeps the schedule of {root}."
            " This one waits, and takes over when that one ends. Ctrl-C ends the wait."
        )

    def _run_in_process(self, job: str) -> JobReport:
        from memolith.jobs.worker import run_in_process

        jobs = self._jobs
        return jobs.unattended(job, lambda: run_in_process(jobs, type(jobs).unattended, name=job))


def _due(jobs: Jobs, folder: Folder) -> list[str]:
    """The jobs that are due, in the order in which they run."""
    from memolith.jobs.api import KINDS

    config = jobs.store.config
    cron, every = config.compact.cron, config.compact.every_hours
    return [
        run.job
        for run in (_last_run(folder, job) for job in scheduled_jobs(config))
        if KINDS[run.job].is_wanted(config, folder, run)
        or is_due(cron, run.at, jobs.clock, every_hours=every)
    ]


def _run_due(
    jobs: Jobs, folder: Folder, run: Callable[[str], JobReport], tell: Tell
) -> Iterator[JobReport]:
    def size() -> int:
        stamp = folder.stamp(jobs.store.config.profile.primary)
        return stamp[1] if stamp else 0

    due = _due(jobs, folder)
    if len(due) > 1:
        tell(f"Due, one after the other: {', '.join(due)}.")
    for job in due:
        last = _last_run(folder, job)
        begun = ScheduledRun(job=job, at=jobs.clock.now(), left=size())
        note_run(jobs.store, begun)  # before the run: one that kills us is not tried for ever
        report = run(job)
        # A run that changed nothing leaves no report, but says why here.
        is_kept = report.id and report.status != "failed"
        came_of = f"{report.status}: {report.id if is_kept else report.reason}"
        if report.reason == ANOTHER_JOB:  # as if it had not run
            note_run(jobs.store, replace(last, came_of=came_of + _DUE_AGAIN))
        else:
            note_run(jobs.store, replace(begun, came_of=came_of, left=size()))
        level = logging.ERROR if report.status == "failed" else logging.INFO
        figures = " ".join(f"{name}={number}" for name, number in report.counts.items())
        took = f"{figures} ms={report.seconds * 1000:.0f}"
        log.log(level, "%s %s %s %s", report.job, report.status, took, report.reason)
        tell(report)
        yield report


def notices(config: Config, profile: Profile) -> Iterator[tuple[str, str]]:
    """What people should know of jobs, each with a label: what a job says, and runs that were skipped."""
    from memolith.jobs.api import KINDS

    if not profile.exists:
        return
    with Folder(profile.root) as folder:
        for kind in KINDS.values():
            if notice := kind.notice(config, folder, _last_run(folder, kind.name)):
                yield kind.name, notice
        for run in last_runs(folder).values():
            if run.came_of and run.came_of.endswith(_DUE_AGAIN):
                yield "schedule", f"{run.job} was {run.came_of.replace(': ', ', because ', 1)}"
