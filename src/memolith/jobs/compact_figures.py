"""How large lines of MEMORY.md are, and how large their summary by day, week, month or year would be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

from memolith.jobs.heads import Head
from memolith.types import Trust

LEVELS = ("record", "day", "week", "month", "year")
# Of a summary's text, by level: so much is planned with, or, if all would be told by years then, the shorter; and
# where there is room, so much is told at most.
LEAST_CHARS = (0, 450, 650, 800, 900)
SHORTEST_CHARS = (0, 300, 350, 400, 450)
MOST_CHARS = (0, 1200, 2000, 4800, 5200)
MOST_COVERED_NAMED = 12
_DAYS = (1, 1, 7, 30, 365)
_SUMMARY_CHARS = 360  # of its line beside its text and what it cites
_CHARS_OF_AN_ID, _CHARS_OF_A_PATH = 16, 70
_BESIDE_TEXT = 180  # of any other line, at least
_LEAST_OF_A_LINE = 40


class Size(NamedTuple):
    """How large a file is."""

    records: int = 0
    chars: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A line that may be compacted; level 0 is a record, others are summaries already."""

    head: Head
    level: int
    day: date
    chars: int
    trust: Trust
    days: int = 1  # that it tells of; a summary has the day of the last


class Figures(NamedTuple):
    """What is known of some entries together."""

    records: int
    day: date  # the first
    last: date
    days: int  # that are told of, from the first to the last
    lowest: int
    highest: int
    chars: int
    told: int  # characters of their texts, about

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Figures:
        """Of these entries."""
        last = max(entry.day for entry in entries)
        return cls(
            len(entries),
            min(entry.day for entry in entries),
            last,
            max((last - entry.day).days + entry.days for entry in entries),
            min(entry.level for entry in entries),
            max(entry.level for entry in entries),
            sum(entry.chars for entry in entries),
            sum(max(_LEAST_OF_A_LINE, entry.chars - _BESIDE_TEXT) for entry in entries),
        )

    def plus(self, other: Figures) -> Figures:
        """Of these and others."""
        last = max(self.last, other.last)
        return Figures(
            self.records + other.records,
            min(self.day, other.day),
            last,
            max((last - one.last).days + one.days for one in (self, other)),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.chars + other.chars,
            self.told + other.told,
        )

    def summary_chars(self, level: int, least: Sequence[int]) -> int:
        """What the line of a summary takes at most."""
        cited = (
            _CHARS_OF_AN_ID * self.records
            if self.records <= MOST_COVERED_NAMED
            else _CHARS_OF_A_PATH
        )
        return min(self.max_chars(level, least), self.told) + _SUMMARY_CHARS + cited

    def max_chars(self, level: int, least: Sequence[int]) -> int:
        """What its text is planned with: a month of which there is one week is not told longer than the week."""
        parts = (self.last - self.day).days // _DAYS[level - 1] + 1
        return min(least[level], max(least[max(1, self.highest)], least[level - 1] * parts))

    def more_chars(self, level: int, least: Sequence[int]) -> int:
        """What it could tell beyond that where there is room."""
        return max(0, min(MOST_CHARS[level], self.told) - self.max_chars(level, least))


def period_of(day: date, level: int) -> str:
    """The name of the day, week (by its Monday), month or year a day is in.

    >>> from datetime import date
    >>> [period_of(date(2026, 11, 15), level) for level in (1, 2, 3, 4)]
    ['2026-11-15', '2026-11-09', '2026-11', '2026']
    """
    if level == 2:
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[: {1: 10, 3: 7, 4: 4}[level]]
