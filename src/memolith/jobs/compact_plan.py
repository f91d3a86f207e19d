"""Which records are compacted, and into which summaries: by day, then week, month and year.

A pure function of the lines of MEMORY.md. Old things are told in less detail than young ones; if that
is not enough to reach the target, detail fades faster, and in the end the oldest summaries leave.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from memolith.jobs.heads import Head, heads
from memolith.jobs.job import Plan
from memolith.types import policy
from memolith.visibility import trust_in_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date, datetime

    from memolith.config_jobs import CompactConfig
    from memolith.labels import Trust

LEVELS = ("record", "day", "week", "month", "year")
BUDGET_CHARS = (0, 900, 1500, 2400, 3000)  # of a summary's text, by level
# From which age on, in days, things are told by week, month and year. Each row fades faster.
_FADING = ((28, 120, 730), (14, 60, 365), (7, 30, 180), (0, 14, 90), (0, 0, 30), (0, 0, 0))
_LINE_CHARS = 450  # of a record's line beside its text
_COVER_CHARS = 16
MOST_COVERED_NAMED = 40
_NOTHING_IN_SCOPE = "no record is old enough and unprotected"
# A single record is worth a summary only if it is much longer than one.
_LONG_CHARS = 1500
# Below the limit by so much, so that not every run rewrites the file.
_SLACK = 0.15
# Where what must stay fills the limit alone, summaries may still have this share of it.
_ROOM = 0.5


class Limits:
    """How many records and characters MEMORY.md may have; 0 is no limit."""

    def __init__(self, config: CompactConfig, *, records: int = 0, chars: int = 0) -> None:
        """If what must stay is over a limit alone, summaries still get some room beside it."""
        self._limits = tuple(
            (limit if fixed <= limit else fixed + max(1, int(limit * _ROOM)), int(limit * _SLACK))
            if limit
            else (0, 0)
            for limit, fixed in ((config.max_records, records), (config.max_chars, chars))
        )

    def passed(self, records: int, chars: int) -> bool:
        """Whether either is over its limit."""
        sizes = zip((records, chars), self._limits, strict=True)
        return any(limit and size > limit for size, (limit, _) in sizes)

    def nearly_passed(self, records: int, chars: int) -> bool:
        """Whether either is so close to its limit that the next records would pass it."""
        sizes = zip((records, chars), self._limits, strict=True)
        return any(limit and size > limit - slack for size, (limit, slack) in sizes)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that may be compacted; level 0 is a record, others are summaries already."""

    head: Head
    level: int
    day: date
    chars: int
    trust: Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Entries that become one summary; retired ones leave MEMORY.md for the long memory."""

    level: int
    period: str
    trust: Trust
    entries: tuple[Entry, ...]
    retired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactPlan(Plan):
    """The groups, oldest first, and the file they were found in."""

    groups: tuple[Group, ...] = ()
    data: bytes = b""
    unreachable: bool = False  # what must stay is over the limit alone


def plan_compaction(
    data: bytes, config: CompactConfig, now: datetime, day_of: Callable[[datetime], date]
) -> CompactPlan:
    """Choose what is compacted, or say why nothing is."""
    records = list(heads(data))
    chars = len(data.decode(errors="replace"))
    counts = {"before": len(records), "after": len(records), "compacted": 0, "summaries": 0}
    limits = Limits(config)
    if not limits.passed(len(records), chars):
        reason = f"{len(records):,} records and {chars:,} characters are under the limit"
        return CompactPlan(skipped=reason, counts=counts)
    entries = list(_in_scope(records, config, now, day_of))
    if not entries:
        return CompactPlan(skipped=_NOTHING_IN_SCOPE, counts=counts)
    fixed = len(records) - len(entries), chars - sum(entry.chars for entry in entries)
    unreachable = limits.passed(*fixed)
    limits = Limits(config, records=fixed[0], chars=fixed[1])
    if not limits.passed(len(records), chars):
        reason = "what could be compacted is little beside what is recent, protected or yours"
        return CompactPlan(skipped=reason, counts=counts)
    groups = _reach_target(entries, len(records), chars, limits, day_of(now))
    if not groups:
        return CompactPlan(skipped=_NOTHING_IN_SCOPE, counts=counts)
    taken = sum(len(group.entries) for group in groups)
    summaries = sum(not group.retired for group in groups)
    counts = {
        "before": len(records),
        "after": len(records) - taken + summaries,
        "compacted": taken,
        "summaries": summaries,
    }
    return CompactPlan(
        groups=groups,
        data=data,
        unreachable=unreachable,
        counts=counts,
        lines=tuple(_described(groups)),
    )


def is_summary(head: Head) -> int:
    """The level of one of our own summaries; 0 for any other record."""
    if head.category != "compaction" or head.record is None:
        return 0
    level = head.record.metadata.get("level")
    return LEVELS.index(level) if level in LEVELS[1:] else 1


def in_scope(head: Head, config: CompactConfig, oldest_kept: datetime) -> bool:
    """Whether a record may be compacted: old enough, not secret, of a category that is not kept."""
    if head.sensitivity == "secret" or head.created > oldest_kept:
        return False
    if head.category == "compaction":
        return True
    wanted, kept = names(config.categories), names(config.protected)
    if head.category in kept or policy(head.category).protected:
        return False
    return not wanted or head.category in wanted


def names(setting: str) -> frozenset[str]:
    """The names of a setting that lists some."""
    return frozenset(name.strip() for name in setting.split(",")) - {""}


def _in_scope(
    records: Iterable[Head],
    config: CompactConfig,
    now: datetime,
    day_of: Callable[[datetime], date],
) -> Iterable[Entry]:
    oldest_kept = now - timedelta(days=config.min_age_days)
    for head in records:
        if in_scope(head, config, oldest_kept):
            chars = len(head.data.decode(errors="replace")) + 1
            yield Entry(
                head, is_summary(head), day_of(head.created), chars, trust_in_file(head.channel)
            )


def _reach_target(
    entries: list[Entry], records: int, chars: int, limits: Limits, today: date
) -> tuple[Group, ...]:
    groups: tuple[Group, ...] = ()
    for fading in _FADING:
        groups = tuple(_grouped(entries, fading, today))
        if not limits.nearly_passed(*_predicted(groups, records, chars)):
            return groups
    return _retire(groups, entries, _predicted(groups, records, chars), limits)


def _grouped(
    entries: Iterable[Entry], fading: tuple[int, int, int], today: date
) -> Iterable[Group]:
    found: dict[tuple[int, str, Trust], list[Entry]] = {}
    for entry in entries:
        age = (today - entry.day).days
        level = 1 + sum(age >= days for days in fading)
        if level >= entry.level:
            found.setdefault((level, period_of(entry.day, level), entry.trust), []).append(entry)
    for (level, period, kind), members in sorted(found.items(), key=lambda item: item[1][0].day):
        new = any(entry.level < level for entry in members)
        if new and (len(members) > 1 or members[0].chars > _LONG_CHARS):
            yield Group(level=level, period=period, trust=kind, entries=tuple(members))


def _predicted(groups: Iterable[Group], records: int, chars: int) -> tuple[int, int]:
    for group in groups:
        records += (not group.retired) - len(group.entries)
        chars += _predicted_chars(group) - sum(entry.chars for entry in group.entries)
    return records, chars


def _predicted_chars(group: Group) -> int:
    if group.retired:
        return 0
    text = min(BUDGET_CHARS[group.level], sum(entry.chars for entry in group.entries))
    return text + _LINE_CHARS + _COVER_CHARS * min(len(group.entries), MOST_COVERED_NAMED)


def _retire(
    groups: tuple[Group, ...], entries: list[Entry], predicted: tuple[int, int], limits: Limits
) -> tuple[Group, ...]:
    """Let the oldest summaries leave MEMORY.md until it fits; they stay in LONGMEMORY.md."""
    taken = {entry.head.number for group in groups for entry in group.entries}
    single = (_alone(entry) for entry in entries if entry.head.number not in taken)
    records, chars = predicted
    result = []
    for group in sorted((*groups, *single), key=lambda group: group.entries[0].day):
        is_grouped = group.entries[0].head.number in taken
        if limits.nearly_passed(records, chars):
            records -= 1
            chars -= _predicted_chars(group) if is_grouped else group.entries[0].chars
            result.append(replace(group, retired=True))
        elif is_grouped:
            result.append(group)
    return tuple(result)


def _alone(entry: Entry) -> Group:
    level = max(1, entry.level)
    period = period_of(entry.day, level)
    return Group(level=level, period=period, trust=entry.trust, entries=(entry,))


def period_of(day: date, level: int) -> str:
    """The name of the day, week (by its Monday), month or year a day is in.

    >>> from datetime import date
    >>> [period_of(date(2026, 11, 15), level) for level in (1, 2, 3, 4)]
    ['2026-11-15', '2026-11-09', '2026-11', '2026']
    """
    if level == 2:
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[: {1: 10, 3: 7, 4: 4}[level]]


def _described(groups: Iterable[Group]) -> Iterable[str]:
    for group in groups:
        count = len(group.entries)
        what = f"{count:,} record{'s' if count > 1 else ''} of the {LEVELS[group.level]} {group.period}"
        yield f"{what} → {'the long memory' if group.retired else 'one summary'}"
