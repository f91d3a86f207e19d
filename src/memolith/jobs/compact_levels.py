"""How coarsely the past is told: young days by themselves, older ones by week, month and year.

Every level gets about the same room. As long as the file is too large, the level that takes most hands its
oldest period to the next one, so that detail fades with age and no faster than it must. Near the end each
step is weighed, and the one that is enough and loses least is taken.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from memolith.jobs.compact_figures import BUDGET_CHARS, LEVELS, Figures, Size, period_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    from memolith.jobs.compact_figures import Entry
    from memolith.labels import Trust

    Step = tuple[int, Trust]  # of a level, what is of a kind
    Place = tuple[int, str, Trust]  # level, period, trust: all that is there becomes one summary

_LAST = len(LEVELS) - 1
# What a text is worth by whose it is; the first of them fade first.
_WORTH: dict[Trust, float] = {"external": 0.25, "agent": 1.0, "user": 2.0}
# With so few places left each step is weighed: a step too many would cost a month of detail.
_FEW = 150
_FADES_DAYS = 30  # then a text is worth half
_TOGETHER = 0.1  # of its worth
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
        # The places of a level, oldest first, those of each kind by themselves.
        self._rows: dict[Step, list[tuple[date, Place]]] = {
            (level, kind): [] for level in self._taken for kind in _WORTH
        }
        self._newest = max(entry.day for entry in entries)
        found: dict[Place, list[Entry]] = {}
        for entry in entries:
            found.setdefault(_place(entry, max(1, entry.level)), []).append(entry)
        for place, members in found.items():
            self._add(place, _Cell(members, Figures.of(members)))

    def raise_oldest(self, over: Callable[[Size], Size]) -> bool:
        """Tell the oldest periods of one level by the next; False when everything is told by years.

        `over` says by how much a size passes what it may have. With few places left, it is the step that
        loses least for what it gains; before, that of the level that takes most room.
        """
        steps = self._steps()
        if not steps:
            return False
        alone = [step for step in steps if self._is_alone(*step)]
        if alone and self._is_over(*alone[0]):
            step = alone[0]  # a week of one day: nothing is lost
        elif len(self._cells) <= _FEW:
            step = self._best(steps, over)
        else:
            step = min(steps, key=lambda one: (one in alone, -self._taken[one[0]]))
        for place, parts in list(self._moves(*step)):
            self._remove(place)
            for to, part in parts:
                self._add(to, part)
        return True

    def _steps(self) -> list[Step]:
        """The steps that may be taken: days become weeks before these become a month."""
        return [
            (level, kind)
            for (level, kind), row in self._rows.items()
            if level < _LAST
            and row
            and not any(
                below and period_of(below[0][0], level + 1) <= period_of(row[0][0], level + 1)
                for below in (self._rows[lower, kind] for lower in range(1, level))
            )
        ]

    def _best(self, steps: Sequence[Step], over: Callable[[Size], Size]) -> Step:
        """Of the steps that gain something the one that loses least for it; else the finest."""
        needed = over(self.size)
        best, least = steps[0], math.inf
        for step in steps:
            after, loss = self._outcome(*step)
            left = over(after)
            gain = sum(1 - rest / need for need, rest in zip(needed, left, strict=True) if need)
            if gain > 0 and loss / gain < least:
                best, least = step, loss / gain
        return best

    def groups(self) -> Iterator[Group]:
        """What becomes a summary, oldest first."""
        for place, cell in self._in_order():
            if self._becomes_summary(place, cell.figures):
                yield _group(place, cell)

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
        while (share := _share(told, over(left))) < 0 and leaving:
            gone.add(place := leaving.pop(0))
            del told[place]
            takes = self._size_of(place, self._cells[place].figures)
            left = Size(left.records - takes.records, left.chars - takes.chars)
        for place, cell in self._in_order():
            if place in gone:
                yield _group(place, cell, retired=True)
            elif told[place]:
                yield replace(_group(place, cell), max_chars=int(told[place] * share))

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

    def _outcome(self, level: int, kind: Trust) -> tuple[Size, float]:
        """The size that a step would leave, and how much it loses; nothing is changed."""
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
            told = sum(self._told(place, figures) for place, figures in members)
            worth = sum(self._worth(place, figures) for place, figures in members)
            # What is told together is lost a little even if every word is: it stood by itself.
            loss += worth * max(_TOGETHER, 1 - self._told(to, whole) / told)
        return Size(records, chars), loss

    def _worth(self, place: Place, figures: Figures) -> float:
        """What its text is worth: that of yesterday more than that of last month, your own words most."""
        age = (self._newest - figures.last).days
        return self._told(place, figures) * _WORTH[place[2]] / (1 + age / _FADES_DAYS)

    def _told(self, place: Place, figures: Figures) -> int:
        """How many characters of text are told of some entries at a place."""
        told = min(figures.max_chars(place[0]), figures.told)
        return told if self._becomes_summary(place, figures) else figures.told

    def _moves(self, level: int, kind: Trust) -> Iterator[tuple[Place, list[tuple[Place, _Cell]]]]:
        """Which places go where in a step: the oldest of the level, and what is older still.

        A week, month or year that is over goes as a whole; of one that lasts, the two that are oldest.
        """
        above = level + 1
        row = self._rows[level, kind]
        first = row[0][0]
        unit = above if self._is_over(level, kind) else level
        begun = (above, period_of(first, above), kind) in self._cells
        last = first if begun or self._is_alone(level, kind) else row[1][0]
        until = period_of(last, unit)
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

    def _add(self, place: Place, cell: _Cell) -> None:
        known = self._remove(place) if place in self._cells else None
        whole = known.with_all(cell) if known else cell
        self._cells[place] = whole
        insort(self._rows[place[0], place[2]], (whole.figures.day, place))
        self._count(place, whole, 1)

    def _remove(self, place: Place) -> _Cell:
        cell = self._cells.pop(place)
        row = self._rows[place[0], place[2]]
        del row[bisect_left(row, (cell.figures.day, place))]
        self._count(place, cell, -1)
        return cell

    def _count(self, place: Place, cell: _Cell, sign: int) -> None:
        takes = self._size_of(place, cell.figures)
        self._taken[place[0]] += sign * takes.chars
        self.size = Size(
            self.size.records + sign * (takes.records - len(cell.entries)),
            self.size.chars + sign * (takes.chars - cell.figures.chars),
        )

    def _size_of(self, place: Place, figures: Figures) -> Size:
        if self._becomes_summary(place, figures):
            return Size(1, figures.summary_chars(place[0]))
        return Size(figures.records, figures.chars)

    def _becomes_summary(self, place: Place, figures: Figures) -> bool:
        """Whether there is something new to tell, in less."""
        if figures.lowest >= place[0]:
            return False
        if figures.records == 1 and figures.chars <= _LONG_CHARS:
            return False
        return self._by_count or figures.summary_chars(place[0]) < figures.chars

    def _in_order(self) -> list[tuple[Place, _Cell]]:
        return sorted(self._cells.items(), key=lambda item: (item[1].figures.day, item[0]))


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


def _group(place: Place, cell: _Cell, *, retired: bool = False) -> Group:
    level, period, kind = place
    entries = tuple(sorted(cell.entries, key=lambda entry: entry.head.number))
    return Group(
        level=level,
        period=period,
        trust=kind,
        entries=entries,
        max_chars=cell.figures.max_chars(level),
        retired=retired,
    )


def _share(told: Mapping[Place, int], over: Size) -> float:
    """How much of their texts summaries may tell; below 0 if that is too little to tell anything."""
    texts = sum(told.values())
    left = texts - over.chars
    if over.records or left < BUDGET_CHARS[1] * sum(map(bool, told.values())):
        return -1.0
    return left / texts if texts else 1.0


def _place(entry: Entry, level: int) -> Place:
    return level, period_of(entry.day, level), entry.trust
