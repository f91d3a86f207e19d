"""R12: jumps, summer time, midnight. A record stands in the log of its own local day."""

from __future__ import annotations

import fcntl
import threading
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from memolith import Memory
from memolith.clock import Clock
from tests.crash.oracle import read_records
from tests.crash.workers import Order, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.types import Record
    from tests.crash.conftest import Figures

# Two ordinary ones, half an hour of summer time, and three that change at midnight.
ZONES = [
    "Europe/Madrid", "America/New_York", "Australia/Lord_Howe",
    "America/Havana", "Asia/Beirut", "Africa/Cairo",
]  # fmt: skip


class HandSet:
    """A clock the test sets by hand."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        return self.moment


def changes(zone: ZoneInfo, year: int) -> Iterator[datetime]:
    """The moments of a year at which the zone's offset changes."""
    moment = datetime(year, 1, 1, tzinfo=UTC)
    while moment.year == year:
        later = moment + timedelta(minutes=30)
        if moment.astimezone(zone).utcoffset() != later.astimezone(zone).utcoffset():
            yield later
        moment = later


def log_of(root: Path, record: Record) -> date:
    """The day of the one log the record stands in."""
    logs = [
        path for path in (root / "memory").glob("*.md") if record.id in read_records([path]).texts
    ]
    assert len(logs) == 1
    return date.fromisoformat(logs[0].stem)


@pytest.mark.parametrize("name", ZONES)
def test_records_around_a_change_of_summer_time_stand_in_their_own_day(
    name: str, tmp_path: Path, figures: Figures
) -> None:
    zone, hand = ZoneInfo(name), HandSet(datetime(2026, 1, 1, tzinfo=UTC))
    moments = [
        change + timedelta(seconds=step)
        for change in changes(zone, 2026)
        for step in (-7200, -3600, -1801, -1, 0, 1, 1800, 3599, 3600, 7200)
    ]
    assert len(moments) == 20
    with Memory(str(tmp_path), clock=Clock(name, now=hand)) as memory:
        written = []
        for n, moment in enumerate(moments):
            hand.moment = moment
            written.append(memory.remember(f"moment {n}"))
        assert [record.created for record in memory.records()] == moments
    right = sum(
        log_of(tmp_path, record) == moment.astimezone(zone).date()
        for record, moment in zip(written, moments, strict=True)
    )
    figures("R12", zone=name, records=len(moments), in_their_own_day=right)
    assert right == len(moments)


def test_a_clock_that_jumps_a_day_forth_and_back_keeps_order_and_loses_nothing(
    tmp_path: Path,
) -> None:
    hand = HandSet(datetime(2026, 11, 15, 12, tzinfo=UTC))
    jumps = [timedelta(hours=hours) for hours in (0, 24, -48, 24, 24, -24, -24, 48)]
    with Memory(str(tmp_path), clock=Clock("UTC", now=hand)) as memory:
        written = []
        for n, jump in enumerate(jumps):
            hand.moment += jump
            written.append((memory.remember(f"jump {n}"), hand.moment))
        assert [record.created for record in memory.records()] == sorted(m for _, m in written)
    in_file = list(read_records([tmp_path / "MEMORY.md"]).texts.values())
    assert in_file == [f"jump {n}" for n in range(8)]
    for record, moment in written:
        assert record.created == moment
        assert log_of(tmp_path, record) == moment.date()


def test_trims_and_restores_work_while_the_clock_stands_still_or_runs_backwards(
    tmp_path: Path,
) -> None:
    hand = HandSet(datetime(2026, 11, 15, 12, tzinfo=UTC))
    clock, settings = Clock("UTC", now=hand), {"trim.max_records": 2}
    backups = set()
    with (
        Memory(str(tmp_path), clock=clock) as memory,
        Memory(str(tmp_path), clock=clock, settings=settings) as trimmer,
    ):
        for round_ in range(12):
            for n in range(4):
                memory.remember(f"round {round_} record {n}")
            backups.add(trimmer.jobs.trim().backup)
            hand.moment -= timedelta(hours=round_ // 4)
    assert len(backups) == 12
    kept = list(read_records([tmp_path / "MEMORY.md"]).texts.values())
    assert kept[-1] == "round 11 record 3"
    everything = read_records(
        [tmp_path / "MEMORY.md", *(tmp_path / ".memolith/archive").glob("*.md")]
    )
    assert len(everything.texts) == 48


@pytest.mark.parametrize(
    "moment",
    [
        datetime(2028, 2, 29, 23, 59, 59, 999000, tzinfo=UTC),
        datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
        datetime(2106, 2, 7, 6, 28, 16, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
        datetime(9999, 12, 31, 12, tzinfo=UTC),
    ],
    ids=["29 February", "2038", "2106", "before 1970", "year 9999"],
)
def test_odd_days_are_days(moment: datetime, tmp_path: Path) -> None:
    with Memory(str(tmp_path), clock=Clock("UTC", now=lambda: moment)) as memory:
        record = memory.remember("an odd day")
        assert [found.created for found in memory.records()] == [moment]
    assert log_of(tmp_path, record) == moment.date()


def test_midnight_while_waiting_for_the_lock_moves_the_record_to_its_own_day(
    tmp_path: Path,
) -> None:
    hand = HandSet(datetime(2026, 11, 15, 23, 59, 59, tzinfo=UTC))
    with Memory(str(tmp_path), clock=Clock("UTC", now=hand)) as memory:
        memory.remember("before midnight")
        with (tmp_path / ".memolith/write.lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            waiting = threading.Thread(target=memory.remember, args=["after midnight"])
            waiting.start()
            time.sleep(0.3)  # it waits by then, or takes the time later still
            hand.moment += timedelta(seconds=2)
        waiting.join()
        before, after = memory.records()
    assert log_of(tmp_path, before) == date(2026, 11, 15)
    assert log_of(tmp_path, after) == after.created.date() == date(2026, 11, 16)


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Etc/GMT+12", "Asia/Kolkata"])
def test_the_day_is_that_of_the_systems_zone(zone: str, tmp_path: Path) -> None:
    root, steps = tmp_path / "root", [{"do": "remember", "text": "today"}]
    before = datetime.now(ZoneInfo(zone)).date()
    code, said = run(Order(root=root, steps=steps), tmp_path / "l.ledger", env={"TZ": zone})
    after = datetime.now(ZoneInfo(zone)).date()
    assert code == 0, said
    assert date.fromisoformat(next((root / "memory").glob("*.md")).stem) in (before, after)
