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
from memolith.jobs.compact_figures import LEVELS
from memolith.jobs.compact_plan import Scope, plan_compaction
from memolith.types import Record

if TYPE_CHECKING:
    from memolith.clock import Clock
    from memolith.jobs.compact_levels import Group
    from tests.conftest import StoppedTime

LATEST = re.compile(r"of the (\w+)")
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
    whose = [line.partition(", ")[2].partition(" → ") for line in lines]
    assert sorted(name for name, _, _ in whose) == ["from outside", "your agent's", "yours"]
    assert {goes_to for _, _, goes_to in whose} == {"one summary"}


def test_what_strangers_said_leaves_for_the_archive_only(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=4)
    assert {line.partition(", ")[2] for line in lines} == {
        "yours → the long memory",
        "your agent's → the long memory",
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


def levels(memory: Memory, limit: int) -> list[str]:
    """The level of each summary that the agent's records become under a limit."""
    settings = {**OFF, "compact.max_records": limit}
    with Memory(memory.root, clock=memory.jobs.clock, settings=settings) as other:
        report = other.jobs.compact(dry_run=True)
    assert report.counts["after"] <= limit
    return [found[1] for line in report.lines if "agent" in line and (found := LATEST.search(line))]


def test_detail_is_lost_level_by_level_and_no_faster_than_the_limit_demands(
    two_months: Memory,
) -> None:
    order = ("day", "week", "month", "year")
    found = [levels(two_months, limit) for limit in (120, 60, 30, 20, 12, 8, 5)]
    coarsest = [max(map(order.index, one)) for one in found]
    assert coarsest == sorted(coarsest)
    assert "day" in found[0]
    assert "week" in found[2]
    assert "month" in found[4]
    assert all("year" not in one for one in found[:5])
    numbers = [len(one) for one in found]
    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize("limit", [80, 60, 40, 30, 20, 14, 10, 7, 5, 4])
def test_a_step_is_not_taken_if_a_finer_one_is_enough(two_months: Memory, limit: int) -> None:
    settings = {**OFF, "compact.max_records": limit}
    with Memory(two_months.root, clock=two_months.jobs.clock, settings=settings) as memory:
        counts = memory.jobs.compact(dry_run=True).counts
    # A step joins at most the days of a week, or the weeks of a month.
    assert limit * 0.85 - 7 <= counts["after"] <= limit


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


@pytest.mark.parametrize(
    ("max_chars", "chars", "expected"),
    [
        (32_000, 300, {"month", "year"}),  # what is young takes nearly all
        (32_000, 120, {"week", "year"}),
        (45_000, 300, {"week", "month", "year"}),
        (60_000, 120, {"day", "week", "month", "year"}),
    ],
)
def test_two_years_at_once_are_told_finer_the_younger_they_are(
    clock: Clock, max_chars: int, chars: int, expected: set[str]
) -> None:
    now = datetime(2026, 11, 16, tzinfo=UTC)
    config = CompactConfig(max_chars=max_chars)
    plan = plan_compaction(of_days(now, 730, 5_000, chars), Scope(config, now), clock.day_of)
    levels = [group.level for group in plan.groups]
    assert levels == sorted(levels, reverse=True)
    assert {LEVELS[level] for level in levels} == expected
    assert plan.counts["after"] <= config.max_records
    # Of a day of last week much more is told than of one of two years ago.
    told = [group.max_chars / days_of(group) for group in plan.groups]
    assert told[-1] > 10 * told[1]
    assert max(now.date() - group.entries[-1].day for group in plan.groups[-2:]) < timedelta(30)


def days_of(group: Group) -> int:
    return (group.entries[-1].day - group.entries[0].day).days + 1


def test_in_january_december_is_not_told_with_last_january(clock: Clock) -> None:
    now = datetime(2027, 1, 12, tzinfo=UTC)
    plan = plan_compaction(of_days(now, 376, 2_500), Scope(CompactConfig(), now), clock.day_of)
    (year,) = (group for group in plan.groups if LEVELS[group.level] == "year")
    assert year.entries[-1].day < date(2026, 12, 1)


def test_a_summary_that_was_told_at_length_is_told_shorter_when_others_need_the_room(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**OFF, "compact.max_records": 1})
    stopped_time.advance(days=60)
    for number in range(60):
        memory.remember(f"Ana decided to sell boat {number} to Ben for {number * 7 + 900} euros")
        stopped_time.advance(days=1)
    stopped_time.advance(days=400)
    memory.jobs.compact()
    (long,) = memory.records()
    for number in range(40):
        memory.remember(f"Chen decided to meet Dora in harbour {number} at {number % 9 + 9}:30")
        stopped_time.advance(hours=12)
    stopped_time.advance(days=10)
    settings = {**OFF, "compact.max_records": 0, "compact.max_chars": 8_000}
    with Memory(root, clock=clock, settings=settings) as smaller:
        report = smaller.jobs.compact()
        (old,) = (one for one in smaller.records(category="compaction") if "boat" in one.text)
    assert report.lines[0] == "the summary of the year 2027, yours → a shorter one"
    assert len(old.text) < 0.7 * len(long.text)
    assert old.metadata["records"] == long.metadata["records"] == 60


def test_what_does_not_fit_is_told_shorter_before_it_leaves(two_months: Memory) -> None:
    settings = {**OFF, "compact.max_records": 0, "compact.max_chars": 6000}
    with Memory(two_months.root, clock=two_months.jobs.clock, settings=settings) as memory:
        report = memory.jobs.compact()
        assert all(line.endswith("one summary") for line in report.lines)
        assert len(Path(memory.root, "MEMORY.md").read_text("utf-8")) <= 6000


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
        "the archive only: nothing to tell of them"
    ]
    assert (report.counts["summaries"], report.counts["after"]) == (0, 1)
    assert memory.records(category="compaction") == ()


def test_old_records_of_strangers_that_stay_are_counted(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    user, stranger = (Memory(root, clock=clock, channel=name) for name in ("cli", "email"))
    for day in range(20):
        user.remember(f"I decided to sell boat {day} to Ben")
        user.remember(f"I decided to buy boat {day} of Ana")
        if day % 9 == 0:
            stranger.remember(f"A shop offers boat {day}")
        stopped_time.advance(days=1)
    stopped_time.advance(days=30)
    *_, last = plan(user, compact__max_records=40)
    assert last.startswith("3 old records from outside → as before")
