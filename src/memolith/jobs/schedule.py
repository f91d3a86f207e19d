"""When a job is due: by cron or interval, in the user's time zone; a missed run is caught up once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cronsim import CronSim

from memolith.files import layout
from memolith.files.record_format import RecordFormatError, encode_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memolith.clock import Clock
    from memolith.files.folder import Folder
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


def last_runs(folder: Folder) -> dict[str, datetime]:
    """When each job was run last by a schedule; what cannot be read counts as never."""
    try:
        content = json.loads(folder.read(layout.SCHEDULE) or b"{}")
        return {str(job): parse_time(when, "schedule") for job, when in content.items()}
    except (ValueError, AttributeError, RecordFormatError):
        return {}


def note_runs(transaction: Transaction, runs: Mapping[str, datetime]) -> None:
    """Remember when jobs were run; call while holding the schedule's lock."""
    content = {job: encode_time(when) for job, when in sorted(runs.items())}
    stamp = transaction.folder.stamp(layout.SCHEDULE)
    transaction.replace(layout.SCHEDULE, json.dumps(content, indent=1).encode() + b"\n", stamp)
    transaction.commit()
