"""How much a recalled statement is worth: six signals from 0 to 1, and a little for its phases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from memolith.jobs.recall_state import Recalled

WEIGHTS: Mapping[str, float] = {
    "frequency": 0.24,
    "relevance": 0.30,
    "diversity": 0.15,
    "recency": 0.15,
    "consolidation": 0.10,
    "richness": 0.06,
}
# What light and REM sleep can add at most: they support, they do not decide.
MOST_BOOST = 0.15
HALF_LIFE_DAYS = 14.0
_TEN_RECALLS = math.log1p(10)  # more of them say no more
# Reading a statement after it was shown says twice what showing it says.
_WEIGHT_OF_A_USE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of an entry and what it is made of."""

    value: float
    signals: Mapping[str, float]
    boost: float
    age_days: float


def score(entry: Recalled, strength: float, now: datetime) -> Score:
    """The score at this moment; every signal is bounded, so nothing rises by waiting or sweeping."""
    age = days_between(entry.last_at, now)
    count = entry.recalls + _WEIGHT_OF_A_USE * entry.used
    signals = {
        "frequency": _bounded(math.log1p(count) / _TEN_RECALLS),
        "relevance": _bounded(entry.total_score / entry.recalls if entry.recalls else 0.0),
        "diversity": _bounded(variety(entry) / 5),
        "recency": _bounded(fading(age)),
        "consolidation": _bounded(_consolidation(entry.days)),
        "richness": _bounded(len(entry.tags) / 6),
    }
    boost = MOST_BOOST * _bounded(strength)
    value = sum([WEIGHTS[name] * value for name, value in signals.items()]) + boost
    return Score(value=value, signals=signals, boost=boost, age_days=age)


def _bounded(value: float) -> float:
    if 0.0 <= value <= 1.0:
        return value
    return 1.0 if value > 1.0 else 0.0


def variety(entry: Recalled) -> int:
    """How many questions it answered, or on how many days: whichever says more."""
    return max(len(entry.queries), len(entry.days))


def fading(days: float) -> float:
    """1 now, a half after the half-life."""
    return math.exp(-math.log(2) / HALF_LIFE_DAYS * days)


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from one moment to another; a clock that was set back makes no negative age."""
    return max(0.0, (later - earlier).total_seconds() / 86400)


def _consolidation(days: tuple[str, ...]) -> float:
    """What is asked for again on other days has settled."""
    if len(days) < 2:
        return 0.2 * len(days)
    return 0.55 * math.log(len(days)) / math.log(5) + 0.45 * _span(days) / 7


def _span(days: tuple[str, ...]) -> int:
    try:
        return (date.fromisoformat(max(days)) - date.fromisoformat(min(days))).days
    except ValueError:  # days that somebody else wrote
        return 0
