"""What a summary's text is worth, by whose words and how old they are; and who gets the room that is left.

A day that is twice as old is worth about half, so a year long ago gets about the room of last month.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date

from memolith.jobs.compact_figures import Figures
from memolith.types import Trust

# By whose they are; the first of them fade first.
_WORTH: dict[Trust, float] = {"external": 0.25, "agent": 1.0, "user": 2.0}
KINDS = tuple(_WORTH)
TRUSTED_FIRST = KINDS[::-1]
_FADES_DAYS = 14  # a day that much older is worth half
_CHARS_OF_A_DAY = 20  # told of a day, the next are worth half of the first


def weight(kind: Trust, figures: Figures, newest: date) -> float:
    """What its days are worth: yesterday more than a day of last month, your own words most."""
    age = (newest - figures.last).days + _FADES_DAYS
    return _WORTH[kind] * math.log1p(figures.days / age)


def worth(told: int, kind: Trust, figures: Figures, newest: date) -> float:
    """What so many characters are worth: the more is told of each day, the less is one word more."""
    told_of_a_day = told / figures.days
    return weight(kind, figures, newest) * math.log1p(told_of_a_day / _CHARS_OF_A_DAY)


def shared(room: int, wishes: Sequence[tuple[int, float]]) -> list[int]:
    """The room by weight; nobody gets more than he wishes, and what he leaves is for the others.

    >>> shared(900, [(100, 1.0), (5_000, 3.0), (5_000, 1.0)])
    [100, 600, 200]
    """
    given = [0] * len(wishes)
    weights = sum(weight for _, weight in wishes)
    for index in sorted(range(len(wishes)), key=lambda one: wishes[one][0] / wishes[one][1]):
        wish, weight = wishes[index]
        given[index] = min(wish, int(room * weight / weights))
        room -= given[index]
        weights -= weight
    return given
