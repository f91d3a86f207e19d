"""The plan of a compaction says what becomes of whose records, and that is what becomes of them."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.config.sections import CompactConfig
from memolith.files.record_format import encode_line
from memolith.jobs.compact_plan import LEVELS, Scope, plan_compaction
from memolith.types import Record

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

WHOSE = re.compile(r".*(?=by you|from outside)")
OFF = {"compact.max_chars": 0}


@pytest.fixture
def mixed(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    """Four old records of the user's, of the agent's and of strangers' each, beside young ones."""
    voices = [Memory(root, clock=clock, channel=name) for name in ("cli", "mcp", "email")]
    for number in range(4):
        for who, memory in zip(("I", "The agent", "A shop"), voices, strict=True):
            memory.remember(f"{who} decided to sell boat {number}")
    stopped_time.advance(days=60)
    for number in range(4):
        voices[0].remember(f"said today: {number}")
    return voices[0]


def plan(memory: Memory, **settings: int | bool) -> tuple[str, ...]:
    names = {name.replace("__", "."): value for name, value in settings.items()}
    with Memory(memory.root, clock=memory.jobs.clock, settings={**OFF, **names}) as other:
        return other.jobs.compact().lines


def test_the_plan_says_whose_records_become_a_summary(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=10)
    whose = [WHOSE.sub("", line).partition(" → ") for line in lines]
    assert sorted(name for name, _, _ in whose) == ["by you", "by your agent", "from outside"]
    assert {goes_to for _, _, goes_to in whose} == {"one summary"}


def test_the_plan_is_told_oldest_first_whatever_the_order_in_the_file(memory: Memory) -> None:
    for year in (2025, 2023, 2024):
        when = datetime(year, 6, 1, tzinfo=UTC)
        memory.remember_many({"text": f"{year}: {n}", "timestamp": when} for n in range(9))
    years = [line.partition(":")[0][-4:] for line in plan(memory, compact__max_records=10)]
    assert years == ["2023", "2024", "2025"]


def test_what_strangers_said_leaves_for_the_archive_only(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=4)
    assert {WHOSE.sub("", line) for line in lines} == {
        "by you → LONGMEMORY.md only",
        "by your agent → LONGMEMORY.md only",
        "from outside → the archive only",
    }
    told = Path(mixed.root, "LONGMEMORY.md").read_text("utf-8")
    assert ("I decided" in told, "A shop" in told) == (True, False)


@pytest.fixture
def two_months(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    """Sixty days of four records of the agent's each, and of one of the user's every third day."""
    agent, user = (Memory(root, clock=clock, channel=name, settings=OFF) for name in ("mcp", "cli"))
    for day in range(60):
        for number in range(4):
            stopped_time.advance(hours=1)
            agent.remember(f"Ana paid invoice {day * 4 + number} of Acme and closed ticket {day}")
        if day % 3 == 0:
            user.remember(f"I decided to sell boat {day} to Ben in the harbour")
        stopped_time.advance(hours=20)
    stopped_time.advance(days=8)
    return user


def of_days(now: datetime, days: int, records: int, chars: int = 120) -> bytes:
    """So many records, spread evenly over the days before now."""
    return b"".join(
        encode_line(
            Record(
                id=f"{number:08x}-0000-4000-8000-000000000000",
                text=f"Ana paid invoice {number} of Acme. ".ljust(chars, "x"),
                category="turn-summary",
                session="main",
                created=now - timedelta(days=days) + timedelta(days=days * number / records),
            )
        )
        for number in range(records)
    )


def test_in_january_december_is_not_told_with_last_january(clock: Clock) -> None:
    now = datetime(2027, 1, 12, tzinfo=UTC)
    plan = plan_compaction(of_days(now, 376, 2_500), Scope(CompactConfig(), now), clock.day_of)
    (year,) = (group for group in plan.groups if LEVELS[group.level] == "year")
    assert year.entries[-1].day < date(2026, 12, 1)


def test_of_nothing_but_small_talk_there_is_no_summary(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**OFF, "compact.max_records": 3})
    for number, text in enumerate(("Thanks!", "Sounds good.", "That works.", "Okay, done.")):
        memory.remember(text, session=str(number))
    stopped_time.advance(days=30)
    memory.remember("Ana owns the release key", category="fact")
    report = memory.jobs.compact()
    assert [line.partition(" → ")[2] for line in report.lines] == [
        "the archive only: nothing to summarise"
    ]
    assert (report.counts["summaries"], report.counts["after"]) == (0, 1)
    assert memory.records(category="compaction") == ()


@pytest.mark.parametrize("limit", [120, 60, 30, 20, 12, 8, 5])
def test_periods_go_by_age_and_what_does_not_fit_leaves(two_months: Memory, limit: int) -> None:
    settings = {**OFF, "compact.max_records": limit}
    with Memory(two_months.root, clock=two_months.jobs.clock, settings=settings) as other:
        report = other.jobs.compact(dry_run=True)
    assert report.counts["after"] <= limit
    assert {line.split()[0] for line in report.lines} == {"week", "month"}
    goes_to = [line.partition(" → ")[2] for line in report.lines]
    assert goes_to[-1] == "one summary"
    assert ("LONGMEMORY.md only" in goes_to) == (limit < 20)


@pytest.mark.parametrize(("max_chars", "chars"), [(32_000, 300), (32_000, 120), (60_000, 120)])
def test_two_years_at_once_are_summarised_by_week_month_and_year(
    clock: Clock, max_chars: int, chars: int
) -> None:
    now = datetime(2026, 11, 16, tzinfo=UTC)
    config = CompactConfig(max_chars=max_chars)
    plan = plan_compaction(of_days(now, 730, 5_000, chars), Scope(config, now), clock.day_of)
    levels = [group.level for group in plan.groups]
    assert levels == sorted(levels, reverse=True)
    assert {LEVELS[level] for level in levels} <= {"week", "month", "year"}
    assert plan.counts["after"] <= config.max_records
    ages = [(now.date() - group.last).days for group in plan.groups]
    assert ages == sorted(ages, reverse=True)


def test_a_summary_keeps_its_place_until_its_period_is_over(
    two_months: Memory, stopped_time: StoppedTime
) -> None:
    settings = {**OFF, "compact.max_records": 40}
    with Memory(two_months.root, clock=two_months.jobs.clock, settings=settings) as other:
        assert other.jobs.compact().status == "done"
        first = {one.id for one in other.records(category="compaction")}
        for number in range(60):
            other.remember(f"Chen met Dora in harbour {number}")
        stopped_time.advance(days=8)
        assert other.jobs.compact().status == "done"
        assert {one.id for one in other.records(category="compaction")} & first
