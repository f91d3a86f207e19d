"""Which records are compacted, and into which summaries: a pure function of the lines of MEMORY.md.

What is younger than 45 days is summarised by week, up to a year by month, older by year. What then does not fit the
limits leaves without a summary in MEMORY.md: the words of strangers first, then the oldest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

from memolith.config.sections import CompactConfig
from memolith.files.document import Document, Line
from memolith.jobs.job import Plan
from memolith.text.lines import short_id
from memolith.text.wording import counted
from memolith.types import PROTECTED, Record, Trust
from memolith.visibility import Patterns, trust_in_file

LEVELS = ("record", "day", "week", "month", "year")
_WEEK, _MONTH, _YEAR = 2, 3, 4
_BY_WEEK_DAYS, _BY_MONTH_DAYS = 45, 365
_MIN_CHARS = (0, 300, 300, 350, 400)  # of a summary's text, by level
_MAX_CHARS = (0, 1200, 2000, 4800, 5200)
_LINE_CHARS = 430  # of a summary beside its text
_BESIDE_TEXT = 180  # of any other line, at least
# Below the limit by this share, so that not every run rewrites the file.
_SLACK = 0.15
# A summary is not written again to make it a little shorter.
_ENOUGH = 0.8
# Where what must stay fills the limit alone, summaries may still have this share of it.
_ROOM = 0.5

NO_LIMIT = "no limit is set: see compact.max_records and compact.max_chars"
_NOTHING_IN_SCOPE = "every record is too recent or protected"
TAKEN_BACK = "what could be compacted was before, and you took it back; again: memolith compact"
_STAYS = (
    "What is recent, protected, written by hand or taken back by you is over the limit by itself."
    " To compact what you took back: memolith compact"
)
_WHOSE: Mapping[Trust, str] = {
    "user": "by you",
    "agent": "by your agent",
    "external": "from outside",
}


class Size(NamedTuple):
    """How large a file is, or how large it may be."""

    records: float
    chars: float

    def exceeds(self, limit: Size) -> bool:
        """Whether it is larger in records or in characters."""
        return self.records > limit.records or self.chars > limit.chars


def short(record_id: str) -> str:
    """The beginning of an id, by which undone changes are remembered."""
    return short_id(record_id, 13)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that may be compacted; level 0 is a record, others are summaries already."""

    line: Line
    record: Record
    level: int
    day: date
    chars: int
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The lines that become one summary."""

    level: int
    period: str
    trust: Trust
    entries: tuple[Entry, ...]
    max_chars: int = 0
    retired: bool = False  # into the archive without a summary in MEMORY.md

    @property
    def last(self) -> date:
        """The day of the newest line."""
        return max(entry.day for entry in self.entries)

    @property
    def text_chars(self) -> tuple[int, int]:
        """The shortest text that is worth writing, and the longest that is of use."""
        said = sum(max(40, entry.chars - _BESIDE_TEXT) for entry in self.entries)
        return min(_MIN_CHARS[self.level], said), min(_MAX_CHARS[self.level], said)

    @property
    def is_short(self) -> bool:
        """Whether it is one line that a summary would not make shorter."""
        return len(self.entries) == 1 and self.entries[0].chars <= _LINE_CHARS + self.text_chars[0]

    @property
    def stays(self) -> bool:
        """Whether its line need not change: it is short, or a summary that has the room it takes."""
        is_summary = len(self.entries) == 1 and self.entries[0].level == self.level
        return self.is_short or (is_summary and self.max_chars >= self.text_chars[1] * _ENOUGH)


@dataclass(frozen=True, slots=True)
class Scope:
    """Which records may be compacted."""

    config: CompactConfig
    now: datetime
    undone: Collection[str] = ()  # short ids of records that were compacted, and somebody undid it
    secret: Collection[str] = ()  # ids of records that any file marks secret
    external: Patterns = ()  # the channels of strangers

    def has(self, record: Record) -> bool:
        """Whether a record is old enough, not secret, and of a category that is not kept."""
        if record.sensitivity == "secret" or record.id in self.secret:
            return False
        if record.created > self.now - timedelta(days=self.config.min_age_days):
            return False
        return record.category == "compaction" or record.category not in PROTECTED


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactPlan(Plan):
    """The groups, oldest first."""

    groups: tuple[Group, ...] = ()


def plan_compaction(data: bytes, scope: Scope, day_of: Callable[[datetime], date]) -> CompactPlan:
    """Choose what is compacted, or say why nothing is."""
    records = list(Document.parse("", data).records())
    size = Size(len(records), len(data.decode(errors="replace")))
    counts = {"before": len(records), "after": len(records), "compacted": 0, "summaries": 0}

    def skip(why: str) -> CompactPlan:
        return CompactPlan(skipped=why, counts=counts)

    limit = limit_of(scope.config)
    if limit == Size(math.inf, math.inf):
        return skip(NO_LIMIT)
    if not size.exceeds(limit):
        found = (
            f"{counted(int(size.records), 'record')} and {counted(int(size.chars), 'character')}"
        )
        return skip(f"{found}: within the limits")
    may_go = [
        _entry(line, record, day_of, scope.external)
        for line, record in records
        if scope.has(record)
    ]
    entries = [entry for entry in may_go if short(entry.record.id) not in scope.undone]
    fixed = Size(size.records - len(entries), size.chars - sum(one.chars for one in entries))
    goal = _goal(limit, fixed)
    groups = _groups(entries, fixed, goal, day_of(scope.now)) if size.exceeds(goal) else ()
    if not groups:
        return skip(TAKEN_BACK if len(entries) < len(may_go) else _NOTHING_IN_SCOPE)
    taken = sum(len(group.entries) for group in groups)
    summaries = sum(not group.retired for group in groups)
    after = {"after": len(records) - taken + summaries}
    return CompactPlan(
        groups=groups,
        lines=tuple(map(describe, groups)),
        counts={**counts, **after, "compacted": taken, "summaries": summaries},
        warnings=(_STAYS,) if fixed.exceeds(limit) else (),
    )


def describe(group: Group, *, is_empty: bool = False) -> str:
    """What becomes of whose records, for people; `is_empty` if there is nothing to summarise."""
    week_of = "of " if LEVELS[group.level] == "week" else ""
    period = f"{LEVELS[group.level]} {week_of}{group.period}"
    goes_to = "one summary"
    if group.retired:
        goes_to = "the archive only" if group.trust == "external" else "LONGMEMORY.md only"
    if is_empty:
        goes_to = "the archive only: nothing to summarise"
    return f"{period}: {counted(len(group.entries), 'record')} {_WHOSE[group.trust]} → {goes_to}"


def limit_of(config: CompactConfig) -> Size:
    """How large MEMORY.md may be."""
    return Size(config.max_records or math.inf, config.max_chars or math.inf)


def _goal(limit: Size, fixed: Size) -> Size:
    """How large the file may be after the run, beside what must stay."""

    def goal(most: float, stays: float) -> float:
        room = most if stays <= most else stays + max(1, int(most * _ROOM))
        return room if room == math.inf else room - int(min(room * _SLACK, (room - stays) / 2))

    return Size(goal(limit.records, fixed.records), goal(limit.chars, fixed.chars))


def _entry(
    line: Line, record: Record, day_of: Callable[[datetime], date], external: Patterns
) -> Entry:
    chars = len(line.data.rstrip(b"\n").decode(errors="replace")) + 1
    trust = trust_in_file(record.provenance.channel, external)
    return Entry(line, record, level_of(record), day_of(record.created), chars, trust)


def level_of(record: Record) -> int:
    """The level of one of our own summaries; 0 for any other record."""
    if record.category != "compaction":
        return 0
    level = record.metadata.get("level")
    return LEVELS.index(level) if level in LEVELS[1:] else 1


def period_of(day: date, level: int) -> str:
    """The name of the day, week (by its Monday), month or year a day is in.

    >>> from datetime import date
    >>> [period_of(date(2026, 11, 15), level) for level in (1, 2, 3, 4)]
    ['2026-11-15', '2026-11-09', '2026-11', '2026']
    """
    if level == _WEEK:
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[: {1: 10, _MONTH: 7, _YEAR: 4}[level]]


def _groups(entries: Sequence[Entry], fixed: Size, goal: Size, today: date) -> tuple[Group, ...]:
    """The groups of which the lines change, with the room for their texts; what does not fit retires.

    The newest get the most room, the words of strangers the least.
    """
    records, chars = goal.records - fixed.records, goal.chars - fixed.chars
    groups = _by_period(entries, today)
    by_worth = sorted(groups, key=lambda one: (one.trust == "external", -one.last.toordinal()))
    fitting: list[Group] = []
    for group in by_worth:
        cost = group.entries[0].chars if group.is_short else _LINE_CHARS + group.text_chars[0]
        if records >= 1 and chars >= cost:
            records, chars = records - 1, chars - cost
            fitting.append(group)
    room = {}
    for group in fitting:
        least, most = group.text_chars
        more = 0 if group.is_short else int(min(most - least, chars))
        room[id(group)], chars = least + more, chars - more
    planned = [
        replace(one, max_chars=room.get(id(one), one.text_chars[1]), retired=id(one) not in room)
        for one in groups
    ]
    return tuple(group for group in planned if group.retired or not group.stays)


def _by_period(entries: Iterable[Entry], today: date) -> list[Group]:
    """The groups by period and by whose words they are, oldest first."""
    found: dict[tuple[int, str, Trust], list[Entry]] = {}
    for entry in entries:
        age = (today - entry.day).days
        by_age = _WEEK if age <= _BY_WEEK_DAYS else _MONTH if age <= _BY_MONTH_DAYS else _YEAR
        level = max(entry.level, by_age)
        found.setdefault((level, period_of(entry.day, level), entry.trust), []).append(entry)
    groups = [
        Group(level=level, period=period, trust=trust, entries=tuple(members))
        for (level, period, trust), members in found.items()
    ]
    return sorted(groups, key=lambda one: (one.last, one.entries[0].line.number))
