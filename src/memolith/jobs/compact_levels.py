"""How coarsely the past is told: young days by themselves, older ones by week, month and year.

As long as the file is too large, a level hands its oldest period to the next one: of such steps, the one that
loses least for what it gains. What a text is worth falls with its age, and the less is told of a day, the more
each word counts; so detail fades with age and no faster than it must, also where years are made small at once.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial, reduce
from typing import NamedTuple

from memolith.jobs.compact_figures import LEAST_CHARS, LEVELS, Entry, Figures, Size, period_of
from memolith.jobs.compact_worth import KINDS, shared, weight, worth
from memolith.types import Trust

Row = tuple[int, Trust]  # of a level, what is of a kind
Place = tuple[int, str, Trust]  # level, period, trust: all that is there becomes one summary

_LAST = len(LEVELS) - 1
_TOGETHER = 0.02  # of its worth
_AT_LENGTH = 1.3  # times what it needs
# A single record is worth a summary only if it is much longer than one.
_LONG_CHARS = 1500


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Entries that become one summary; retired ones leave MEMORY.md for the long memory."""

    level: int
    period: str
    trust: Trust
    entries: tuple[Entry, ...]
    max_chars: int = 0  # of its text
    retired: bool = False

    @property
    def is_told_again(self) -> bool:
        """Whether it is a summary of this level already, which was longer than there is room for now."""
        return all(entry.level >= self.level for entry in self.entries)


class Levels:
    """The entries in their places, and the size that the file would have."""

    def __init__(
        self,
        entries: Sequence[Entry],
        size: Size,
        *,
        by_count: bool,
        least: Sequence[int] = LEAST_CHARS,
    ) -> None:
        """Begin with days; a summary of more begins where it is.

        A summary must be smaller than what it stands for, unless there are too many records (`by_count`).
        `least` is what a text is planned with, by level.
        """
        self.size = size
        self._least = least
        self._by_count = by_count
        self._cells: dict[Place, _Cell] = {}
        # The places of a level, oldest first, those of each kind by themselves.
        self._rows: dict[Row, list[tuple[date, Place]]] = {
            (level, kind): [] for level in range(1, len(LEVELS)) for kind in KINDS
        }
        self._long: dict[
            Place, None
        ] = {}  # summaries that were told at length while there was room
        self._shorter: set[Place] = set()  # those of them that are told once more, in less
        self._newest = max(entry.day for entry in entries)
        found: dict[Place, list[Entry]] = {}
        for entry in entries:
            found.setdefault(_place(entry, max(1, entry.level)), []).append(entry)
        for place, members in found.items():
            self._add(place, _Cell(members, Figures.of(members)))

    def raise_oldest(self, over: Callable[[Size], Size]) -> bool:
        """Tell the oldest periods of one level by the next, or an old summary shorter; False when neither can be.

        `over` says by how much a size passes what it may have.
        """
        rows = self._rising()
        alone = [row for row in rows if self._is_alone(*row)]
        if alone and self._is_over(*alone[0]):
            self._raise(alone[0])  # a week of one day: nothing is lost
            return True
        steps = [
            *((self._raised(*row), partial(self._raise, row)) for row in rows),
            *((self._shortened(place), partial(self._shorten, place)) for place in self._long),
        ]
        if steps:
            self._best(steps, over)()
        return bool(steps)

    def _raise(self, row: Row) -> None:
        for place, parts in list(self._moves(*row)):
            self._remove(place)
            for to, part in parts:
                self._add(to, part)

    def _shorten(self, place: Place) -> None:
        cell = self._remove(place)
        self._shorter.add(place)
        self._add(place, cell)

    def _rising(self) -> list[Row]:
        """The rows whose oldest may be told by the next level: days become weeks before these become a month."""
        return [
            (level, kind)
            for (level, kind), row in self._rows.items()
            if level < _LAST and row and not self._has_finer(level, kind)
        ]

    def _has_finer(self, level: int, kind: Trust) -> bool:
        """Whether a step of a level would take along what is told by a finer one."""
        unit, until = self._reach(level, kind)
        finer = (self._rows[lower, kind] for lower in range(1, level))
        return any(row and period_of(row[0][0], unit) <= until for row in finer)

    def _best(
        self, steps: Sequence[tuple[_Outcome, Callable[[], None]]], over: Callable[[Size], Size]
    ) -> Callable[[], None]:
        """Of the steps that gain something the one that loses least for it; else the finest."""
        needed = over(self.size)
        best, least = steps[0][1], math.inf
        for (after, loss), step in steps:
            left = over(after)
            gain = sum(1 - rest / need for need, rest in zip(needed, left, strict=True) if need)
            if gain > 0 and loss / gain < least:
                best, least = step, loss / gain
        return best

    def groups(self, spare: int = 0) -> Iterator[Group]:
        """What becomes a summary, oldest first; so many spare characters are shared among them by worth."""
        found = [
            (place, cell)
            for place, cell in self._in_order()
            if self._becomes_summary(place, cell.figures)
        ]
        wishes = [
            (
                cell.figures.more_chars(place[0], self._least),
                weight(place[2], cell.figures, self._newest),
            )
            for place, cell in found
        ]
        for (place, cell), more in zip(found, shared(spare, wishes), strict=True):
            yield _group(place, cell, cell.figures.max_chars(place[0], self._least) + more)

    def squeezed(self, over: Callable[[Size], Size]) -> Iterator[Group]:
        """The groups, oldest first, told so much shorter that they fit.

        What strangers said leaves, then the oldest, until each that stays can still tell something.
        """
        told = {
            place: self._told(place, cell.figures)
            if self._becomes_summary(place, cell.figures)
            else 0
            for place, cell in self._in_order()
        }
        leaving = sorted(
            told, key=lambda place: place[2] != "external"
        )  # of equals, the oldest first
        gone: set[Place] = set()
        left = self.size
        while (share := self._share(told, over(left))) < 0 and leaving:
            gone.add(place := leaving.pop(0))
            del told[place]
            takes = self._size_of(place, self._cells[place].figures)
            left = Size(left.records - takes.records, left.chars - takes.chars)
        for place, cell in self._in_order():
            if place in gone:
                whole = cell.figures.max_chars(place[0], self._least)
                yield _group(place, cell, whole, retired=True)
            elif told[place]:
                yield _group(place, cell, int(told[place] * share))

    def _share(self, told: Mapping[Place, int], over: Size) -> float:
        """How much of their texts summaries may tell; below 0 if that is too little to tell anything."""
        texts = sum(told.values())
        left = texts - over.chars
        if over.records or left < self._least[1] * sum(map(bool, told.values())):
            return -1.0
        return left / texts if texts else 1.0

    @property
    def has_only_years(self) -> bool:
        """Whether nothing is told by anything finer."""
        return all(level == _LAST for level, _, _ in self._cells)

    def _is_over(self, level: int, kind: Trust) -> bool:
        """Whether the period above the oldest place of a level is over."""
        first, _ = self._rows[level, kind][0]
        return period_of(self._newest, level + 1) > period_of(first, level + 1)

    def _is_alone(self, level: int, kind: Trust) -> bool:
        """Whether the oldest place of a level would be told by the next without any others."""
        row = self._rows[level, kind]
        period = period_of(row[0][0], level + 1)
        return (level + 1, period, kind) not in self._cells and (
            len(row) == 1 or period_of(row[1][0], level + 1) != period
        )

    def _shortened(self, place: Place) -> _Outcome:
        """What telling a summary shorter would come to; nothing is changed."""
        figures = self._cells[place].figures
        shorter = figures.max_chars(place[0], self._least)
        loss = self._worth(place, figures) - worth(shorter, place[2], figures, self._newest)
        gain = figures.chars - figures.summary_chars(place[0], self._least)
        return _Outcome(Size(self.size.records, self.size.chars - gain), loss)

    def _raised(self, level: int, kind: Trust) -> _Outcome:
        """What a step of a level would come to; nothing is changed."""
        records, chars = self.size
        before: dict[Place, list[tuple[Place, Figures]]] = {}
        for place, parts in self._moves(level, kind):
            for to, part in parts:
                known = [(to, self._cells[to].figures)] if to in self._cells and to != place else []
                before.setdefault(to, known).append((place, part.figures))
        loss = 0.0
        for to, members in before.items():
            whole = reduce(Figures.plus, (figures for _, figures in members))
            sizes = [self._size_of(place, figures) for place, figures in members]
            takes = self._size_of(to, whole)
            records += takes.records - sum(size.records for size in sizes)
            chars += takes.chars - sum(size.chars for size in sizes)
            worth = sum(self._worth(place, figures) for place, figures in members)
            # What is told together is lost a little even if every word is: it stood by itself.
            loss += max(_TOGETHER * worth, worth - self._worth(to, whole))
        return _Outcome(Size(records, chars), loss)

    def _worth(self, place: Place, figures: Figures) -> float:
        return worth(self._told(place, figures), place[2], figures, self._newest)

    def _told(self, place: Place, figures: Figures) -> int:
        """How many characters of text are told of some entries at a place."""
        told = min(figures.max_chars(place[0], self._least), figures.told)
        return told if self._becomes_summary(place, figures) else figures.told

    def _moves(self, level: int, kind: Trust) -> Iterator[tuple[Place, list[tuple[Place, _Cell]]]]:
        """Which places go where in a step: the oldest of the level, and what is older still."""
        above = level + 1
        unit, until = self._reach(level, kind)
        for below in range(1, above):
            for day, place in self._rows[below, kind]:
                if period_of(day, unit) > until:
                    break
                parts = self._cells[place].split(above)
                yield (
                    place,
                    [
                        (to if period_of(part.figures.day, unit) <= until else place, part)
                        for to, part in parts
                    ],
                )

    def _reach(self, level: int, kind: Trust) -> tuple[int, str]:
        """How far a step of a level goes: to the end of which period of which level.

        A week or month that is over goes as a whole; of one that lasts, and of a year, the two that are oldest:
        else what was told by month in December would be told by year in January.
        """
        above = level + 1
        row = self._rows[level, kind]
        first = row[0][0]
        is_whole = above < _LAST and self._is_over(level, kind)
        begun = (above, period_of(first, above), kind) in self._cells
        last = first if begun or self._is_alone(level, kind) else row[1][0]
        unit = above if is_whole else level
        return unit, period_of(last, unit)

    def _add(self, place: Place, cell: _Cell) -> None:
        known = self._remove(place) if place in self._cells else None
        whole = known.with_all(cell) if known else cell
        self._cells[place] = whole
        if place not in self._shorter and self._is_at_length(place, whole.figures):
            self._long[place] = None
        insort(self._rows[place[0], place[2]], (whole.figures.day, place))
        self._count(place, whole, 1)

    def _remove(self, place: Place) -> _Cell:
        cell = self._cells.pop(place)
        self._long.pop(place, None)
        row = self._rows[place[0], place[2]]
        del row[bisect_left(row, (cell.figures.day, place))]
        self._count(place, cell, -1)
        return cell

    def _count(self, place: Place, cell: _Cell, sign: int) -> None:
        takes = self._size_of(place, cell.figures)
        self.size = Size(
            self.size.records + sign * (takes.records - len(cell.entries)),
            self.size.chars + sign * (takes.chars - cell.figures.chars),
        )

    def _size_of(self, place: Place, figures: Figures) -> Size:
        if self._becomes_summary(place, figures):
            return Size(1, figures.summary_chars(place[0], self._least))
        return Size(figures.records, figures.chars)

    def _becomes_summary(self, place: Place, figures: Figures) -> bool:
        """Whether there is something new to tell, in less."""
        if figures.lowest >= place[0]:
            return place in self._shorter
        if figures.records == 1 and figures.chars <= _LONG_CHARS:
            return False
        return self._by_count or figures.summary_chars(place[0], self._least) < figures.chars

    def _is_at_length(self, place: Place, figures: Figures) -> bool:
        """Whether it is a summary already, and longer than it need be."""
        needed = figures.max_chars(place[0], self._least)
        return figures.lowest >= place[0] and figures.told > _AT_LENGTH * needed

    def _in_order(self) -> list[tuple[Place, _Cell]]:
        return sorted(self._cells.items(), key=lambda item: (item[1].figures.day, item[0]))


class _Outcome(NamedTuple):
    """The size that a step would leave, and how much it loses."""

    size: Size
    loss: float


@dataclass(slots=True)
class _Cell:
    """The entries of one place."""

    entries: list[Entry]
    figures: Figures

    def with_all(self, other: _Cell) -> _Cell:
        """This one, grown by another."""
        self.entries += other.entries
        self.figures = self.figures.plus(other.figures)
        return self

    def split(self, level: int) -> list[tuple[Place, _Cell]]:
        """By the periods of a level: a week may lie in two months."""
        if period_of(self.figures.day, level) == period_of(self.figures.last, level):
            return [(_place(self.entries[0], level), self)]
        found: dict[Place, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(_place(entry, level), []).append(entry)
        return [(place, _Cell(entries, Figures.of(entries))) for place, entries in found.items()]


def _group(place: Place, cell: _Cell, max_chars: int, *, retired: bool = False) -> Group:
    level, period, kind = place
    entries = tuple(sorted(cell.entries, key=lambda entry: entry.head.number))
    return Group(
        level=level,
        period=period,
        trust=kind,
        entries=entries,
        max_chars=max_chars,
        retired=retired,
    )


def _place(entry: Entry, level: int) -> Place:
    return level, period_of(entry.day, level), entry.trust
