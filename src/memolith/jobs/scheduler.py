"""When jobs are due, and the thread that runs them then: in one process of each profile at a time."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from memolith.clock import Clock
from memolith.config.sections import Config, scheduled_jobs
from memolith.errors import MemolithError, WriterBusyError
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import SCHEDULE_LOCK, OwnerLock
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction
from memolith.jobs.reports import JobReport
from memolith.jobs.run import ANOTHER_JOB, unforeseen
from memolith.profile import Profile
from memolith.types import Stamp

if TYPE_CHECKING:  # it reads the schedule, too
    from memolith.jobs.api import Jobs

log = logging.getLogger("memolith.jobs")
# A memory that has passed its limits is compacted in a quiet moment: as it was when we looked last. If there is
# none in so many looks, at once: nobody who remembers something waits for a job.
_MOST_BUSY_LOOKS = 20
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)
# What a run left is not looked at again before it has grown so much: until then there is little to gain.
_GROWN = 1.05
_DUE_AGAIN = "; it is due again"
WAITS = "compaction follows when nobody has written to it for half a minute, at the latest after ten minutes"


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How often one job runs; an interval wins over cron."""

    job: str
    cron: str
    every_hours: float = 0.0

    def is_due(self, last: datetime | None, clock: Clock) -> bool:
        """Whether a run was planned since the last one. However many were missed, one makes up."""
        now = clock.now()
        if last is None or last > now:  # never yet, or the clock was set back
            return True
        if self.every_hours:
            return now - last >= timedelta(hours=self.every_hours)
        from cronsim import CronSim  # `status` needs no cron expression

        return next(CronSim(self.cron, clock.local(now), reverse=True)) > last


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """When a schedule ran a job last, and what came of it: empty while it runs."""

    job: str
    at: datetime
    came_of: str = ""
    left: int = 0  # bytes of MEMORY.md afterwards


def last_runs(folder: Folder) -> dict[str, Run]:
    """The last run of each job by a schedule; what cannot be read counts as never."""
    try:
        content = json.loads(folder.read(layout.SCHEDULE) or b"{}")
        return {str(job): _read(str(job), run) for job, run in content.items()}
    except (ValueError, AttributeError, RecordFormatError):
        return {}


def note_run(transaction: Transaction, run: Run) -> None:
    """Remember a run; call while holding the schedule's lock."""
    runs = {**last_runs(transaction.folder), run.job: run}
    content = {
        job: {"at": encode_time(known.at), "came_of": known.came_of, "left": known.left}
        for job, known in sorted(runs.items())
    }
    stamp = transaction.folder.stamp(layout.SCHEDULE)
    transaction.replace(layout.SCHEDULE, json.dumps(content, indent=1).encode() + b"\n", stamp)
    transaction.commit()


def _read(job: str, run: object) -> Run:
    match run:
        case {"at": at, "came_of": str(came_of), "left": int(left)}:
            return Run(job=job, at=parse_time(at, "schedule"), came_of=came_of, left=left)
        case {"at": at, "came_of": str(came_of)}:
            return Run(job=job, at=parse_time(at, "schedule"), came_of=came_of)
    return Run(job=job, at=parse_time(run, "schedule"))  # as it was written once: the time alone


def schedules(jobs: Jobs) -> Iterator[Schedule]:
    """When the jobs that are switched on run, in the order they run in when several are due."""
    compact = jobs.store.config.compact
    for job in scheduled_jobs(jobs.store.config):
        yield Schedule(job=job, cron=compact.cron, every_hours=compact.every_hours)


def maintain(
    jobs: Jobs,
    *,
    begin: Callable[[Sequence[str]], object] = lambda due: None,
    tell: Callable[[JobReport], object] = lambda report: None,
) -> tuple[JobReport, ...]:
    """Run every job that is due, one after the other; raises WriterBusyError when another process does that.

    `begin` is told the names of those that are due, in their order; `tell` each report when its job has ended.
    """
    reports = []
    with Folder(jobs.store.root) as folder:
        try:
            with OwnerLock(folder, SCHEDULE_LOCK):
                watcher = _Watcher(waits_for_quiet=False)  # who asks for it has chosen the moment
                due = _due(jobs, folder, watcher)
                begin(due)
                for report in _run_all(jobs, folder, due, jobs.unattended):
                    tell(report)
                    reports.append(report)
                return tuple(reports)
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
        self,
        jobs: Jobs,
        *,
        poll_seconds: float = 30.0,
        tell: Callable[[JobReport], object] = lambda report: None,
        turn: Callable[[bool], object] = lambda ours: None,
        begin: Callable[[Sequence[str]], object] = lambda due: None,
        waits: Callable[[], object] = lambda: None,
    ) -> None:
        """`begin` is called, in the thread, with the names of jobs that are due, `tell` with each report;
        `turn` when it is known whether it is ours to keep the schedule, and when that changes; `waits` when
        compaction begins to wait for a quiet moment. When nothing can be told any more, it ends.
        """
        self._jobs = jobs
        self._poll_seconds = poll_seconds
        self._tell = tell
        self._turn = turn
        self._begin = begin
        self._waits = waits
        self._ours: bool | None = None
        self.has_ended = threading.Event()
        self.failure: Exception | None = None  # why it has ended, unless it was stopped
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._watcher = _Watcher(waits_for_quiet=True)

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
            error = unforeseen(self._keep_or_wait)
            if isinstance(error, _NotToldError):
                self.failure = error.reason
                break
            if error is not None:
                log.error("the schedule goes on after an unexpected error: %r", error)
            self._stopping.wait(self._poll_seconds)
        self.has_ended.set()

    def _keep_or_wait(self) -> None:
        try:
            self._keep_as_owner()
        except BlockingIOError:
            self._is_ours(False)  # another process keeps the schedule; it may end
        except MemolithError as error:
            log.warning("the schedule waits: %s", error.message)

    def _keep_as_owner(self) -> None:
        if not self._jobs.store.profile.exists:
            return
        with Folder(self._jobs.store.root) as folder, OwnerLock(folder, SCHEDULE_LOCK) as lock:
            self._is_ours(True)
            # Whoever deleted the lock file let a second process in: the one that holds its name keeps the schedule.
            while not self._stopping.is_set() and lock.has_its_name():
                waited = self._watcher.is_waiting
                due = _due(self._jobs, folder, self._watcher)
                if self._watcher.is_waiting and not waited and "compact" not in due:
                    _call(self._waits)
                if due:
                    _call(self._begin, due)
                for report in _run_all(self._jobs, folder, due, self._run_in_process):
                    _call(self._tell, report)
                    if self._stopping.is_set():
                        return
                self._stopping.wait(self._poll_seconds)

    def _is_ours(self, ours: bool) -> None:
        if ours != self._ours:
            self._ours = ours
            _call(self._turn, ours)

    def _run_in_process(self, job: str) -> JobReport:
        from memolith.jobs.worker import run_in_process

        jobs = self._jobs
        return jobs.unattended(job, lambda: run_in_process(jobs, type(jobs).unattended, name=job))


class _NotToldError(Exception):
    """Whoever is told of the schedule cannot be: its reader is gone."""

    def __init__(self, reason: OSError) -> None:
        """What came of telling it."""
        super().__init__(str(reason))
        self.reason = reason


def _call(told: Callable[..., object], *what: object) -> None:
    try:
        told(*what)
    except OSError as error:
        raise _NotToldError(error) from error


class _Watcher:
    """Notices that MEMORY.md has passed the limits of compaction, by a look at its size."""

    def __init__(self, *, waits_for_quiet: bool) -> None:
        """Whoever looks only once cannot wait for a quiet moment."""
        self._waits = waits_for_quiet
        self._seen: Stamp | None = None
        self._is_over = False
        self._busy_looks = 0

    @property
    def is_waiting(self) -> bool:
        """Whether the file is over its limits, and somebody writes."""
        return self._busy_looks > 0

    def wants_compaction(self, jobs: Jobs, folder: Folder, left: int) -> bool:
        """Whether the file is over its limits, has grown since a run left so many bytes, and is quiet."""
        stamp = folder.stamp(jobs.store.config.profile.primary)
        if stamp is None:
            return False
        has_changed = stamp != self._seen
        if has_changed:
            self._seen, self._is_over = stamp, is_over(jobs.store.config, folder, stamp[1])
        if not self._is_over or _is_left(stamp[1], left):
            self._busy_looks = 0
            return False
        is_busy = has_changed and self._waits and self._busy_looks < _MOST_BUSY_LOOKS
        self._busy_looks = self._busy_looks + 1 if is_busy else 0
        return not is_busy


def _due(jobs: Jobs, folder: Folder, watcher: _Watcher) -> list[str]:
    """The jobs that are due, in the order in which they run."""
    last = last_runs(folder)
    found = []
    for schedule in schedules(jobs):
        known = last.get(schedule.job)
        passed = schedule.job == "compact" and watcher.wants_compaction(
            jobs, folder, known.left if known else 0
        )
        if passed or schedule.is_due(known.at if known else None, jobs.clock):
            found.append(schedule.job)
    return found


def _run_all(
    jobs: Jobs, folder: Folder, due: Iterable[str], run: Callable[[str], JobReport]
) -> Iterator[JobReport]:
    def size() -> int:
        stamp = folder.stamp(jobs.store.config.profile.primary)
        return stamp[1] if stamp else 0

    last = last_runs(folder)
    for job in due:
        begun = Run(job=job, at=jobs.clock.now(), left=size())
        jobs.note_run(begun)  # before the run: one that kills us is not tried for ever
        report = run(job)
        if report.reason == ANOTHER_JOB:  # as if it had not run: it is due again at once
            known = last.get(job)
            at = known.at if known else _NEVER
            jobs.note_run(
                Run(
                    job=job,
                    at=at,
                    came_of=_came_of(report) + _DUE_AGAIN,
                    left=known.left if known else 0,
                )
            )
        else:
            jobs.note_run(replace(begun, came_of=_came_of(report), left=size()))
        _log(report)
        yield report


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


def is_over(config: Config, folder: Folder, size: int) -> bool:
    """Whether the file, of so many bytes, has more characters or records than it may have."""
    limits = config.compact
    if limits.max_chars and size > limits.max_chars:
        return True
    if not limits.max_records:
        return False
    data = folder.read(config.profile.primary) or b""
    return data.count(b"\n- {") > limits.max_records


def _is_left(size: int, left: int) -> bool:
    """Whether it is about as large as the last run had to leave it."""
    return size < left * _GROWN


def notices(config: Config, profile: Profile) -> Iterator[tuple[str, str]]:
    """What people should know of the schedule, each with a label: MEMORY.md over its limits, runs that were skipped."""
    if not profile.exists:
        return
    with Folder(profile.root) as folder:
        if limits := _limit_message(config, folder):
            yield "compaction", limits
        for run in last_runs(folder).values():
            if run.came_of.endswith(_DUE_AGAIN):
                yield "schedule", f"{run.job} was {run.came_of.replace(': ', ', because ', 1)}"


def _limit_message(config: Config, folder: Folder) -> str:
    """That MEMORY.md is over its limits, and when it is compacted; "" if it is not over them."""
    path = config.profile.primary
    stamp = folder.stamp(path)
    if stamp is None or not is_over(config, folder, stamp[1]):
        return ""
    over = f"{path} is over its limits (compact.max_records, compact.max_chars)"
    if any(folder.walk(layout.PROPOSALS_FOLDER, suffix="-compact.json")):
        return f"{over}, and a proposal to compact it waits for you: memolith jobs"
    if not config.compact.enabled:
        return f"{over}, and compaction is switched off (compact.enabled)"
    last = last_runs(folder).get("compact")
    if last is not None and _is_left(stamp[1], last.left):
        return f"{over} by {_what_is_left(last.came_of)}: looked at again when it has grown, or at its time (compact.cron)"
    return f"{over}: {WAITS}, while memolith mcp, serve or maintain runs"


def _what_is_left(came_of: str) -> str:
    from memolith.jobs.compact_plan import TAKEN_BACK  # `status` needs no plan

    is_yours = came_of.startswith("proposed: ") or came_of.endswith(TAKEN_BACK)
    return "what you declined or took back" if is_yours else "what must stay"
