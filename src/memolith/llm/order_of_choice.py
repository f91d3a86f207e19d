"""In which order the sentences of a summary are taken, as long as there is room.

Each has a reason to be taken (`Reason`), the stronger first. Of one reason, every part of the time and every
pattern has its turn: thirty appointments do not crowd out what was said only once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import IntEnum

from memolith.interfaces import Statement
from memolith.text.sentences import kind_of, matters

PLAIN = 1.0  # the worth of a sentence without number, name, decision or anything
_PARTS = 12  # the time a summary tells of is seen as so many parts
_FAR_APART = (0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11)
_USUAL_CHARS = 100  # of a sentence
_MOST_OF_A_PATTERN = 2  # sentences that differ in names and numbers only, before they are usual
_OFTEN = 4  # … and of a pattern that comes more often, all but one are


@dataclass(slots=True)
class Candidate:
    """A sentence that may be taken; `pattern` is what it has in common with others of its kind."""

    statement: Statement
    worth: float
    place: int
    words: frozenset[str]
    numbers: frozenset[str]
    pattern: tuple[str, ...]
    tells: bool  # something by itself, or its record tells nothing else
    is_after: bool  # only to be told behind the one before


class Reason(IntEnum):
    """Why a sentence is taken; the strongest first."""

    MATTERS = 0  # a decision, a wish, something open: it must not be missing
    TELLS = 1  # an insight, or the first thing that is heard of its record
    ONE_MORE = 2  # the same, but plain, or one more of a usual pattern
    HELPS = 3  # it is only there to understand the others by


def in_order_of_choice(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The candidates, those first that a reader would miss most."""
    best_first = sorted(candidates, key=_best_first)
    reasons = _reasons(_each_pattern_over_time(best_first))
    chosen = []
    for reason in Reason:
        same = [one for one in best_first if reasons[one.place] == reason]
        chosen += _by_turns(_by_turns(same, _part_of_time(same)), lambda one: one.pattern)
    return chosen


def _reasons(candidates: Sequence[Candidate]) -> dict[int, Reason]:
    """The reason of each, by its place; what is looked at first is no repetition yet."""
    heard: set[str] = set()
    in_all = Counter(one.pattern for one in candidates)
    of_pattern = Counter[tuple[str, ...]]()
    reasons = {}
    for one in candidates:
        is_first = not heard.issuperset(one.statement.ids)
        most = 1 if in_all[one.pattern] > _OFTEN else _MOST_OF_A_PATTERN
        is_usual = of_pattern[one.pattern] >= most
        reasons[one.place] = _reason(one, is_first=is_first, is_usual=is_usual)
        heard.update(one.statement.ids)
        of_pattern[one.pattern] += 1
    return reasons


def _reason(one: Candidate, *, is_first: bool, is_usual: bool) -> Reason:
    must_stay = matters(one.statement.text)
    is_news = one.tells and (is_first or bool(kind_of(one.statement.text)))
    table = (
        (Reason.MATTERS, must_stay and not is_usual),
        (Reason.TELLS, is_news and not must_stay and not is_usual and one.worth > PLAIN),
        (Reason.ONE_MORE, must_stay or is_news),
    )
    return next((reason for reason, applies in table if applies), Reason.HELPS)


def _best_first(one: Candidate) -> tuple[float, int]:
    """By worth; what is long takes the room of others, and must be worth it."""
    length = len(one.statement.text)
    return -one.worth * min(1.0, math.sqrt(_USUAL_CHARS / length)), one.place


def _each_pattern_over_time(candidates: list[Candidate]) -> list[Candidate]:
    """Of each pattern one of every part of the time; the parts in an order that begins far apart."""
    part = _part_of_time(candidates)
    apart = sorted(candidates, key=lambda one: _FAR_APART[part(one)])
    return _by_turns(apart, lambda one: (part(one), one.pattern))


def _part_of_time(candidates: list[Candidate]) -> Callable[[Candidate], int]:
    days = [one.statement.day for one in candidates] or [date.min]
    first, span = min(days), (max(days) - min(days)).days + 1
    return lambda one: (one.statement.day - first).days * _PARTS // span


def _by_turns(candidates: list[Candidate], kind: Callable[[Candidate], object]) -> list[Candidate]:
    """The first of each kind, then the second of each, and so on: no kind crowds out the others."""
    taken = Counter[object]()
    turns = []
    for one in candidates:
        turns.append(taken[kind(one)])
        taken[kind(one)] += 1
    return [one for _, one in sorted(zip(turns, candidates, strict=True), key=lambda pair: pair[0])]
