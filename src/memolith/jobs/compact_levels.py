"""How coarsely the past is told: young days by themselves, older ones by week, month and year.

Every level gets about the same room. As long as the file is too large, the level that takes most hands its
oldest period to the next one, so that detail fades with age and no faster than it must.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from memolith.jobs.heads import Head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memolith.labels import Trust

    Place = tuple[int, str, Trust]  # level, period, trust: all that is there becomes one summary

LEVELS = ("record", "day", "week", "month", "year")
# Of a summary's text, by level: so much at least is made room for, and where there is room, the double.
BUDGET_CHARS = (0, 600, 1000, 2400, 2600)
MOST_COVERED_NAMED = 12
_DAYS = (1, 1, 7, 30, 365)
_SUMMARY_CHARS = 360  # of its line beside its text and what it cites
_CHARS_OF_AN_ID, _CHARS_OF_A_PATH = 16, 70
_BESIDE_TEXT = 180  # of any other line, at least
_LEAST_CHARS = 40
# A single record is worth a summary only if it is much longer than one.
_LONG_CHARS = 1500


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Entries that become one summary; retired ones leave MEMORY.md for the long memory."""

    level: int
    period: str
    trust: Trust
    entries: tuple[Entry, ...]
    max_chars: int = 0  # of its text
    retired: bool = False


class Levels:
    """The entries in their places, and the size that the file would have."""

    def __init__(self, entries: Sequence[Entry], size: Size, *, by_count: bool) -> None:
        """Begin with days; a summary of more begins where it is.

        A summary must be smaller than what it stands for, unless there are too many records (`by_count`).
        """
        self.size = size
        self._by_count = by_count
        self._cells: dict[Place, _Cell] = {}
        self._taken = dict.fromkeys(range(1, len(LEVELS)), 0)  # characters, by level
        self._oldest: dict[int, list[tuple[date, Place]]] = {level: [] for level in self._taken}
        self._newest = max(entry.day for entry in entries)
        found: dict[Place, list[Entry]] = {}
        for entry in entries:
            found.setdefault(_place(entry, max(1, entry.level)), []).append(entry)
        for place, members in found.items():
            self._add(place, _Cell.of(members))

    def raise_oldest(self) -> bool:
        """Tell the oldest period of the level that takes most by the next level; False at the end."""
        levels = [level for level in range(1, len(LEVELS) - 1) if self._first(level) is not None]
        levels.sort(key=lambda level: (not self._has_company(level), -self._taken[level]))
        if levels:
            self._raise(levels[0])
        return bool(levels)

    def groups(self) -> Iterator[Group]:
        """What becomes a summary, oldest first."""
        for place, cell in self._in_order():
            if self._becomes_summary(place, cell):
                yield _group(place, cell)

    def retired_until(self, is_small: Callable[[Size], bool]) -> Iterator[Group]:
        """The groups, oldest first; the first of them leave the file until it is small enough."""
        left = self.size
        for place, cell in self._in_order():
            if not is_small(left):
                gone = self._size_of(place, cell)
                left = Size(left.records - gone.records, left.chars - gone.chars)
                yield _group(place, cell, retired=True)
            elif self._becomes_summary(place, cell):
                yield _group(place, cell)

    def _first(self, level: int) -> tuple[date, Place] | None:
        """The oldest place of a level."""
        heap = self._oldest[level]
        while heap and (heap[0][1] not in self._cells or self._cells[heap[0][1]].day != heap[0][0]):
            heappop(heap)  # what stood there has moved on
        return heap[0] if heap else None

    def _has_company(self, level: int) -> bool:
        """Whether the oldest place of a level would be told together with others."""
        day, (_, _, kind) = self._first(level) or (date.min, (0, "", "user"))
        period = period_of(day, level + 1)
        beside = (
            place
            for when, place in self._oldest[level]
            if place in self._cells and place[2] == kind and period_of(when, level + 1) == period
        )
        return (level + 1, period, kind) in self._cells or len(set(beside)) > 1

    def _raise(self, level: int) -> None:
        """Tell by the next level at least what is as old as the oldest, or older.

        A week, month or year that is over goes as a whole; of the one that lasts, what is oldest.
        """
        first = self._first(level)
        if first is None:
            return
        above = level + 1
        is_over = period_of(self._newest, above) > period_of(first[0], above)
        unit = above if is_over else level
        until = period_of(first[0], unit)
        for below in range(1, above):
            while (found := self._first(below)) and period_of(found[0], unit) <= until:
                for place, part in self._remove(found[1]).split(above):
                    goes = period_of(part.day, unit) <= until
                    self._add(place if goes else found[1], part)

    def _add(self, place: Place, cell: _Cell) -> None:
        known = self._remove(place) if place in self._cells else None
        whole = known.with_all(cell) if known else cell
        self._cells[place] = whole
        heappush(self._oldest[place[0]], (whole.day, place))
        self._count(place, whole, 1)

    def _remove(self, place: Place) -> _Cell:
        cell = self._cells.pop(place)
        self._count(place, cell, -1)
        return cell

    def _count(self, place: Place, cell: _Cell, sign: int) -> None:
        takes = self._size_of(place, cell)
        self._taken[place[0]] += sign * takes.chars
        self.size = Size(
            self.size.records + sign * (takes.records - len(cell.entries)),
            self.size.chars + sign * (takes.chars - cell.chars),
        )

    def _size_of(self, place: Place, cell: _Cell) -> Size:
        if self._becomes_summary(place, cell):
            return Size(1, cell.summary_chars(place[0]))
        return Size(len(cell.entries), cell.chars)

    def _becomes_summary(self, place: Place, cell: _Cell) -> bool:
        """Whether there is something new to tell, in less."""
        if cell.lowest >= place[0]:
            return False
        if len(cell.entries) == 1 and cell.chars <= _LONG_CHARS:
            return False
        return self._by_count or cell.summary_chars(place[0]) < cell.chars

    def _in_order(self) -> list[tuple[Place, _Cell]]:
        return sorted(self._cells.items(), key=lambda item: (item[1].day, item[0]))


@dataclass(slots=True)
class _Cell:
    """The entries of one place, and what is known of them together."""

    entries: list[Entry]
    day: date  # the first
    last: date
    lowest: int  # level
    highest: int
    chars: int
    told: int  # characters of their texts, about

    @classmethod
    def of(cls, entries: list[Entry]) -> _Cell:
        return cls(
            entries,
            min(entry.day for entry in entries),
            max(entry.day for entry in entries),
            min(entry.level for entry in entries),
            max(entry.level for entry in entries),
            sum(entry.chars for entry in entries),
            sum(max(_LEAST_CHARS, entry.chars - _BESIDE_TEXT) for entry in entries),
        )

    def summary_chars(self, level: int) -> int:
        """What the line of a summary takes at most."""
        named = len(self.entries) if len(self.entries) <= MOST_COVERED_NAMED else 0
        cited = _CHARS_OF_AN_ID * named or _CHARS_OF_A_PATH
        return min(self.max_chars(level), self.told) + _SUMMARY_CHARS + cited

    def max_chars(self, level: int) -> int:
        """What the text may have: a month of which there is one week is not told longer than the week."""
        parts = (self.last - self.day).days // _DAYS[level - 1] + 1
        least = BUDGET_CHARS[max(1, self.highest)]
        return min(BUDGET_CHARS[level], max(least, BUDGET_CHARS[level - 1] * parts))

    def with_all(self, other: _Cell) -> _Cell:
        """This one, grown by another."""
        self.entries += other.entries
        self.day, self.last = min(self.day, other.day), max(self.last, other.last)
        self.lowest = min(self.lowest, other.lowest)
        self.highest = max(self.highest, other.highest)
        self.chars, self.told = self.chars + other.chars, self.told + other.told
        return self

    def split(self, level: int) -> Iterator[tuple[Place, _Cell]]:
        """By the periods of a level: a week may lie in two months."""
        if period_of(self.day, level) == period_of(self.last, level):
            yield _place(self.entries[0], level), self
            return
        found: dict[Place, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(_place(entry, level), []).append(entry)
        for place, entries in found.items():
            yield place, _Cell.of(entries)


def _group(place: Place, cell: _Cell, *, retired: bool = False) -> Group:
    level, period, kind = place
    entries = tuple(sorted(cell.entries, key=lambda entry: entry.head.number))
    return Group(
        level=level,
        period=period,
        trust=kind,
        entries=entries,
        max_chars=cell.max_chars(level),
        retired=retired,
    )


def period_of(day: date, level: int) -> str:
    """The name of the day, week (by its Monday), month or year a day is in.

    >>> from datetime import date
    >>> [period_of(date(2026, 11, 15), level) for level in (1, 2, 3, 4)]
    ['2026-11-15', '2026-11-09', '2026-11', '2026']
    """
    if level == 2:
        return (day - timedelta(days=day.weekday())).isoformat()
    return day.isoformat()[: {1: 10, 3: 7, 4: 4}[level]]


def _place(entry: Entry, level: int) -> Place:
    return level, period_of(entry.day, level), entry.trust
