"""Which records are compacted, and into which summaries: a pure function of the lines of MEMORY.md.

What is younger than 45 days is summarised by week, up to a year by month, older by year; coarser only if the file
would not fit its limits. In the end the oldest summaries leave for the archive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import product
from typing import NamedTuple

from memolith.config.sections import CompactConfig, Config
from memolith.files import layout
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.jobs.job import Plan
from memolith.text.summary_line import short_id
from memolith.text.wording import counted
from memolith.types import PROTECTED, Record, Trust
from memolith.visibility import Patterns, trust_in_file

LEVELS = ("record", "day", "week", "month", "year")
_WEEK, _MONTH, _YEAR = 2, 3, 4
# Days up to which records are summarised by week and by month; the next where the first does not fit.
_AGES = ((45, 365), (0, 365), (0, 0))
_MIN_CHARS = (0, 300, 300, 350, 400)  # of a summary's text, by level
_MAX_CHARS = (0, 1200, 2000, 4800, 5200)
_LINE_CHARS = 430  # of a summary beside its text
_BESIDE_TEXT = 180  # of any other line, at least
_WEIGHTS: Mapping[Trust, float] = {"external": 0.25, "agent": 1.0, "user": 2.0}
TRUSTED_FIRST: tuple[Trust, ...] = ("user", "agent", "external")
_HALF_LIFE_DAYS = 14  # a day this much older gets half the room
# Below the limit by this share, so that not every run rewrites the file.
_SLACK = 0.15
# Where what must stay fills the limit alone, summaries may still have this share of it.
_ROOM = 0.5
_GROWN = 1.05

NO_LIMIT = "no limit is set: see compact.max_records and compact.max_chars"
_NOTHING_IN_SCOPE = "no record is old enough and unprotected"
_LITTLE = "what could be compacted is little beside what is recent, protected or yours"
TAKEN_BACK = "what could be compacted was before, and you took it back; again: memolith compact"
_STAYS = "What is recent, protected or written by hand is over the limit alone."
_LEFT_ALONE = (
    "What you took back or declined is left alone, and with it what must stay is over the limit."
    " To compact it all the same: memolith compact"
)
_WHOSE: dict[Trust, str] = {"user": "yours", "agent": "your agent's", "external": "from outside"}


class Size(NamedTuple):
    """How large a file is, or how much more it is than it may be."""

    records: int = 0
    chars: int = 0

    def without(self, entries: Collection[Entry]) -> Size:
        """How large the file is without these lines."""
        return Size(self.records - len(entries), self.chars - sum(one.chars for one in entries))


class RecordLine(NamedTuple):
    """A record and its line."""

    number: int  # of the line, from 1
    data: bytes  # the line without its newline
    record: Record


def record_lines(data: bytes) -> Iterator[RecordLine]:
    """The records of a file, in file order; prose and broken lines are left out."""
    for line, record in Document.parse("", data).records():
        yield RecordLine(line.number, line.data.removesuffix(b"\n"), record)


def short(record_id: str) -> str:
    """The beginning of an id, by which the archive names a record."""
    return short_id(record_id, 13)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that may be compacted; level 0 is a record, others are summaries already."""

    line: RecordLine
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
    def is_summary(self) -> bool:
        """Whether it is a single summary of this level, which can only get shorter."""
        return len(self.entries) == 1 and self.entries[0].level == self.level

    @property
    def last(self) -> date:
        """The day of the newest line."""
        return max(entry.day for entry in self.entries)

    @property
    def chars(self) -> int:
        """Of the lines as they are."""
        return sum(entry.chars for entry in self.entries)

    @property
    def min_chars(self) -> int:
        """The shortest text worth writing."""
        return min(_MIN_CHARS[self.level], self._said)

    @property
    def most_chars(self) -> int:
        """The longest text that can be of use."""
        return min(_MAX_CHARS[self.level], self._said)

    @property
    def _said(self) -> int:
        return sum(max(40, entry.chars - _BESIDE_TEXT) for entry in self.entries)


class Limits:
    """How many records and characters MEMORY.md may have; 0 is no limit."""

    def __init__(self, config: CompactConfig, fixed: Size = Size()) -> None:  # noqa: B008 - frozen
        """If what must stay is over a limit alone, summaries still get some room beside it."""
        self._limits = [
            (
                most := limit if stays <= limit else stays + max(1, int(limit * _ROOM)),
                most - min(int(most * _SLACK), (most - stays) // 2),
            )
            if limit
            else (math.inf, math.inf)
            for limit, stays in zip((config.max_records, config.max_chars), fixed, strict=True)
        ]

    def passed(self, size: Size) -> bool:
        """Whether either is over its limit."""
        return any(found > most for found, (most, _) in zip(size, self._limits, strict=True))

    def fits(self, size: Size) -> bool:
        """Whether there is room until the next run."""
        return all(found <= goal for found, (_, goal) in zip(size, self._limits, strict=True))

    def spare_chars(self, size: Size) -> float:
        """How many characters more there may be."""
        return max(0, self._limits[1][1] - size.chars)


def is_over(config: Config, folder: Folder) -> bool:
    """Whether MEMORY.md has more characters or records than it may have, by a quick look."""
    limits, path = config.compact, config.profile.primary
    stamp = folder.stamp(path)
    if stamp is None:
        return False
    if limits.max_chars and stamp[1] > limits.max_chars:
        return True
    return bool(limits.max_records) and (
        (folder.read(path) or b"").count(b"\n- {") > limits.max_records
    )


def has_grown(config: Config, folder: Folder, left: int) -> bool:
    """Whether MEMORY.md is a little larger than the last run left it: until then there is little to gain."""
    stamp = folder.stamp(config.profile.primary)
    return stamp is not None and stamp[1] >= left * _GROWN


def limit_message(config: Config, folder: Folder, left: int, came_of: str) -> str:
    """That MEMORY.md is over its limits, and when it is compacted; "" if it is not over them.

    `left` is its size after the last scheduled run, `came_of` the outcome of that.
    """
    if not is_over(config, folder):
        return ""
    over = f"{config.profile.primary} is over its limits (compact.max_records, compact.max_chars)"
    if any(folder.walk(layout.PROPOSALS_FOLDER, suffix="-compact.json")):
        return f"{over}, and a proposal to compact it waits for you: memolith jobs"
    if not config.compact.enabled:
        return f"{over}, and compaction is switched off (compact.enabled)"
    if not has_grown(config, folder, left):
        is_yours = came_of.startswith("proposed: ") or came_of.endswith(TAKEN_BACK)
        what = "what you declined or took back" if is_yours else "what must stay"
        return f"{over} by {what}: looked at again when it has grown, or at its time (compact.cron)"
    return f"{over}: compaction follows within a minute, while memolith mcp, serve or maintain runs"


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
    unreachable: str = ""  # why what stays is over the limit alone


def plan_compaction(data: bytes, scope: Scope, day_of: Callable[[datetime], date]) -> CompactPlan:
    """Choose what is compacted, or say why nothing is."""
    records = list(record_lines(data))
    size = Size(len(records), len(data.decode(errors="replace")))
    counts = {"before": size.records, "after": size.records, "compacted": 0, "summaries": 0}

    def skip(why: str) -> CompactPlan:
        return CompactPlan(skipped=why, counts=counts)

    if not (scope.config.max_records or scope.config.max_chars):
        return skip(NO_LIMIT)
    as_set = Limits(scope.config)
    if not as_set.passed(size):
        found = f"{counted(size.records, 'record')} and {counted(size.chars, 'character')}"
        return skip(f"{found}: under the limit")
    may_go = [_entry(line, day_of, scope.external) for line in records if scope.has(line.record)]
    entries = [entry for entry in may_go if short(entry.line.record.id) not in scope.undone]
    taken_back = len(entries) < len(may_go)
    if not entries:
        return skip(TAKEN_BACK if taken_back else _NOTHING_IN_SCOPE)
    fixed = size.without(entries)
    limits = Limits(scope.config, fixed)
    if not limits.passed(size):
        return skip(TAKEN_BACK if taken_back else _LITTLE)
    groups = _groups(entries, fixed, limits, day_of(scope.now))
    if not groups:
        return skip(TAKEN_BACK if taken_back else _NOTHING_IN_SCOPE)
    unreachable = ""
    if as_set.passed(fixed):
        unreachable = _STAYS if as_set.passed(size.without(may_go)) else _LEFT_ALONE
    taken = sum(len(group.entries) for group in groups)
    summaries = sum(not group.retired for group in groups)
    counts |= {
        "after": size.records - taken + summaries,
        "compacted": taken,
        "summaries": summaries,
    }
    return CompactPlan(groups=groups, counts=counts, unreachable=unreachable)


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


def _entry(line: RecordLine, day_of: Callable[[datetime], date], external: Patterns) -> Entry:
    chars = len(line.data if line.data.isascii() else line.data.decode(errors="replace")) + 1
    record = line.record
    return Entry(
        line,
        level_of(record),
        day_of(record.created),
        chars,
        trust_in_file(record.provenance.channel, external),
    )


def _groups(
    entries: Sequence[Entry], fixed: Size, limits: Limits, today: date
) -> tuple[Group, ...]:
    """The finest groups that fit; where none do, the oldest and least trusted leave without a summary."""
    groups: list[Group] = []
    # First with the summaries that are there as they are, then with all of them written again.
    for again, ages in product((False, True), _AGES):
        groups = list(_by_period(entries, ages, today))
        stay = [one for one in groups if (one.is_summary and not again) or _gains_nothing(one)]
        size = Size(fixed.records + len(stay), fixed.chars + sum(one.chars for one in stay))
        groups = [one for one in groups if one not in stay]
        size = Size(
            size.records + len(groups),
            size.chars + sum(_LINE_CHARS + one.min_chars for one in groups),
        )
        if limits.fits(size):
            return tuple(_with_room(groups, limits.spare_chars(size), today))
    groups, size = list(_by_period(entries, _AGES[-1], today)), fixed
    kept: list[Group] = []
    for group in sorted(
        groups,
        key=lambda one: (
            one.trust == "external",
            -one.last.toordinal(),
            TRUSTED_FIRST.index(one.trust),
        ),
    ):
        larger = Size(size.records + 1, size.chars + _LINE_CHARS + group.min_chars)
        if limits.fits(larger):
            kept.append(group)
            size = larger
    with_room = {
        id(one): shorter
        for one, shorter in zip(
            kept, _with_room(kept, limits.spare_chars(size), today), strict=True
        )
    }
    return tuple(
        with_room.get(id(one)) or replace(one, retired=True, max_chars=one.most_chars)
        for one in groups
    )


def _by_period(entries: Iterable[Entry], ages: tuple[int, int], today: date) -> Iterator[Group]:
    """The groups by period and by whose words they are, oldest first."""
    found: dict[tuple[str, int, Trust], list[Entry]] = {}
    levels: dict[str, int] = {}
    for entry in entries:
        age = (today - entry.day).days
        level = max(entry.level, _WEEK if age <= ages[0] else _MONTH if age <= ages[1] else _YEAR)
        level = max(level, levels.get(period_of(entry.day, level), level))
        levels[period_of(entry.day, level)] = level
        found.setdefault((period_of(entry.day, level), level, entry.trust), []).append(entry)
    groups = [
        Group(level=level, period=period, trust=trust, entries=tuple(members))
        for (period, level, trust), members in found.items()
    ]
    return iter(sorted(groups, key=lambda one: (one.entries[0].line.number, one.level)))


def _gains_nothing(group: Group) -> bool:
    """Whether a record alone would only become longer."""
    return len(group.entries) == 1 and _LINE_CHARS + group.min_chars >= group.chars


def _with_room(groups: Sequence[Group], room: float, today: date) -> Iterator[Group]:
    """The groups with the length of their texts: what is left is shared by age and by whose words they are.

    No group gets more than it can use, and what it leaves is for the others.
    """
    weights = [
        _WEIGHTS[one.trust]
        * math.log1p(len(one.entries))
        / (1 + max(0, (today - one.last).days) / _HALF_LIFE_DAYS)
        for one in groups
    ]
    wishes = [max(0, one.most_chars - one.min_chars) for one in groups]
    given, total = [0] * len(groups), sum(weights)
    for index in sorted(range(len(groups)), key=lambda at: wishes[at] / weights[at]):
        share = wishes[index] if math.isinf(room) else int(room * weights[index] / total)
        given[index] = min(wishes[index], share)
        room, total = room - given[index], total - weights[index]
    for group, more in zip(groups, given, strict=True):
        yield replace(group, max_chars=group.min_chars + more)


def describe(group: Group, goes_to: str) -> str:
    """What becomes of whose records, for people."""
    level = LEVELS[group.level]
    period = f"of {group.period}" if level == "week" else group.period
    what = f"{counted(len(group.entries), 'record')} of the {level} {period}"
    if group.is_summary:
        what = f"the summary of the {level} {period}"
    return f"{what}, {_WHOSE[group.trust]} → {goes_to}"
