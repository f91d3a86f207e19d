"""When a job is due: by cron or interval, in the user's time zone; a missed run is caught up once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from cronsim import CronSim

from memolith.clock import Clock
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction


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
