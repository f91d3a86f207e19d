"""Which records are compacted, and into which summaries: by day, then week, month and year.

A pure function of the lines of MEMORY.md. What is young is told day by day; what is older as coarsely as it
must be for the file to fit (`compact_levels.py`), and in the end the oldest summaries leave.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from memolith.config.sections import CompactConfig
from memolith.jobs.compact_figures import LEVELS, SHORTEST_CHARS, Entry, Size
from memolith.jobs.compact_levels import Group, Levels
from memolith.jobs.covered import short
from memolith.jobs.heads import Head, heads
from memolith.jobs.job import Plan
from memolith.jobs.summary_record import days_told
from memolith.text.wording import counted
from memolith.types import PROTECTED, Trust
from memolith.visibility import Patterns, trust_in_file

_NOTHING_IN_SCOPE = "no record is old enough and unprotected"
_LITTLE = "what could be compacted is little beside what is recent, protected or yours"
TAKEN_BACK = "what could be compacted was before, and you took it back; again: memolith compact"
_STAYS = "What is recent, protected or written by hand is over the limit alone."
_LEFT_ALONE = (
    "What you took back or declined is left alone, and with it what must stay is over the limit."
    " To compact it all the same: memolith compact"
)
_WHOSE: dict[Trust, str] = {
    "user": "yours",
    "agent": "your agent's",
    "external": "from outside",
}
# Below the limit by so much, so that not every run rewrites the file.
_SLACK = 0.15
# Where what must stay fills the limit alone, summaries may still have this share of it.
_ROOM = 0.5


class Limits:
    """How many records and characters MEMORY.md may have; 0 is no limit."""

    def __init__(self, config: CompactConfig, fixed: Size = Size()) -> None:  # noqa: B008 - frozen
        """If what must stay is over a limit alone, summaries still get some room beside it."""
        self._limits = tuple(
            _with_slack(limit if stays <= limit else stays + max(1, int(limit * _ROOM)), stays)
            if limit
            else (0, 0)
            for limit, stays in zip((config.max_records, config.max_chars), fixed, strict=True)
        )

    def passed(self, size: Size) -> bool:
        """Whether either is over its limit."""
        sizes = zip(size, self._limits, strict=True)
        return any(limit and found > limit for found, (limit, _) in sizes)

    def has_too_many(self, records: int) -> bool:
        """Whether there are more records than there may be."""
        return self.passed(Size(records=records))

    def spare_chars(self, size: Size) -> int:
        """How many characters more there may be without coming close to the limit."""
        limit, slack = self._limits[1]
        return max(0, limit - slack - size.chars) if limit else sys.maxsize

    def over(self, size: Size) -> Size:
        """How much too much there is of each, so that the next records would not pass a limit."""
        sizes = zip(size, self._limits, strict=True)
        return Size(
            *(max(0, found - limit + slack) if limit else 0 for found, (limit, slack) in sizes)
        )

    def fits(self, size: Size) -> bool:
        """Whether there is not too much of either."""
        return not any(self.over(size))


def _with_slack(limit: int, stays: int) -> tuple[int, int]:
    """The limit and its slack, which leaves summaries half of the room beside what must stay."""
    return limit, min(int(limit * _SLACK), (limit - stays) // 2)


class Scope:
    """Which records may be compacted."""

    def __init__(
        self,
        config: CompactConfig,
        now: datetime,
        undone: Collection[str] = frozenset(),
        secret: Collection[str] = frozenset(),
        external: Patterns = (),
    ) -> None:
        """`undone` are the beginnings of ids that were compacted before, which somebody took back;
        `secret` the ids of records that another file marks secret, `external` the channels of strangers.
        """
        self.config = config
        self.today = now
        self._oldest_kept = now - timedelta(days=config.min_age_days)
        self._undone = undone
        self._secret = secret
        self.external = external

    def has(self, head: Head) -> bool:
        """Whether a record is old enough, not secret, and of a category that is not kept."""
        if head.sensitivity == "secret" or head.id in self._secret:
            return False
        if head.created > self._oldest_kept:
            return False
        return head.category == "compaction" or head.category not in PROTECTED

    def was_undone(self, head: Head) -> bool:
        """Whether somebody took back that it was compacted."""
        return bool(self._undone) and short(head.id) in self._undone


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactPlan(Plan):
    """The groups, oldest first, and the file they were found in."""

    groups: tuple[Group, ...] = ()
    data: bytes = b""
    unreachable: str = ""  # why what stays is over the limit alone
    strangers_stay: int = 0  # old records from outside that no summary would make much shorter


def plan_compaction(data: bytes, scope: Scope, day_of: Callable[[datetime], date]) -> CompactPlan:
    """Choose what is compacted, or say why nothing is."""
    records = list(heads(data))
    size = Size(len(records), len(data.decode(errors="replace")))
    counts = {"before": size.records, "after": size.records, "compacted": 0, "summaries": 0}
    limits = Limits(scope.config)
    if not limits.passed(size):
        found = f"{counted(size.records, 'record')} and {counted(size.chars, 'character')}"
        reason = f"{found}: under the limit"
        return CompactPlan(skipped=reason, counts=counts)
    may_go = [head for head in records if scope.has(head)]
    entries = [
        _entry(head, day_of, scope.external) for head in may_go if not scope.was_undone(head)
    ]
    taken_back = len(entries) < len(may_go)
    nothing = TAKEN_BACK if taken_back else _NOTHING_IN_SCOPE
    if not entries:
        return CompactPlan(skipped=nothing, counts=counts)
    fixed = Size(size.records - len(entries), size.chars - sum(entry.chars for entry in entries))
    unreachable = ""
    if limits.passed(fixed):
        undone = [
            _entry(head, day_of, scope.external).chars for head in may_go if scope.was_undone(head)
        ]
        rest = Size(fixed.records - len(undone), fixed.chars - sum(undone))
        unreachable = _STAYS if limits.passed(rest) else _LEFT_ALONE
    limits = Limits(scope.config, fixed)
    if not limits.passed(size):
        return CompactPlan(skipped=TAKEN_BACK if taken_back else _LITTLE, counts=counts)
    groups = _reach_target(entries, size, limits)
    if not groups:
        return CompactPlan(skipped=nothing, counts=counts)
    taken = sum(len(group.entries) for group in groups)
    summaries = sum(not group.retired for group in groups)
    counts = {
        "before": size.records,
        "after": size.records - taken + summaries,
        "compacted": taken,
        "summaries": summaries,
    }
    return CompactPlan(
        groups=groups,
        data=data,
        unreachable=unreachable,
        strangers_stay=_from_outside(entries)
        - sum(_from_outside(group.entries) for group in groups),
        counts=counts,
    )


def _from_outside(entries: Iterable[Entry]) -> int:
    return sum(entry.trust == "external" and not entry.level for entry in entries)


def is_summary(head: Head) -> int:
    """The level of one of our own summaries; 0 for any other record."""
    if head.category != "compaction" or head.record is None:
        return 0
    level = head.record.metadata.get("level")
    return LEVELS.index(level) if level in LEVELS[1:] else 1


def _entry(head: Head, day_of: Callable[[datetime], date], external: Patterns) -> Entry:
    chars = len(head.data if head.data.isascii() else head.data.decode(errors="replace")) + 1
    day, level = day_of(head.created), is_summary(head)
    days = days_told(head.record, day) if level and head.record else 1
    return Entry(head, level, day, chars, trust_in_file(head.channel, external), days)


def _reach_target(entries: list[Entry], size: Size, limits: Limits) -> tuple[Group, ...]:
    """As much detail as fits: step by step the oldest of a level is told by the next; room that is left is shared."""
    by_count = limits.has_too_many(size.records)
    levels = Levels(entries, size, by_count=by_count)
    _raise_until_it_fits(levels, limits)
    if levels.has_only_years:
        levels = Levels(entries, size, by_count=by_count, least=SHORTEST_CHARS)
        _raise_until_it_fits(levels, limits)
    if not limits.fits(levels.size):
        return tuple(levels.squeezed(limits.over))
    return tuple(levels.groups(limits.spare_chars(levels.size)))


def _raise_until_it_fits(levels: Levels, limits: Limits) -> None:
    while not limits.fits(levels.size) and levels.raise_oldest(limits.over):
        pass


def describe(group: Group, goes_to: str) -> str:
    """What becomes of whose records, for people."""
    level = LEVELS[group.level]
    period = f"of {group.period}" if level == "week" else group.period
    what = f"{counted(len(group.entries), 'record')} of the {level} {period}"
    if group.is_told_again:
        what = f"the summary of the {level} {period}"
    return f"{what}, {_WHOSE[group.trust]} → {goes_to}"
