"""Newer first among equals: dated chunks fade, but an old answer that is the only one stays on top."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np

from memolith.interfaces import Column
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage

# The most that being new can add, against 1 for what is best in everything. Plain multiplication by
# 0.5 ** (age / half-life) would bury everything a year old under anything from today; this way age
# only decides between hits of about the same relevance.
MOST_ADDED = 0.1


def decay(half_life_days: float) -> Stage:
    """A stage that adds up to 0.1 to the score of a dated chunk, half of that after the half-life."""

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        new = bonus(candidates.signals.dated, query.today, half_life_days)
        score, lift = candidates.score + new, candidates.lift + new
        return replace(candidates, score=score, lift=lift, why={"new": new})

    return stage


def bonus(dated: Column, today: date, half_life_days: float) -> Floats:
    """0.1 for today and the future, half of it after the half-life; what has no date gets the half.

    >>> from datetime import date
    >>> bonus(np.array([date(2026, 1, 1).toordinal()]), date(2026, 1, 31), 30).tolist()
    [0.05]
    """
    age = np.maximum(0, today.toordinal() - dated) / half_life_days
    return MOST_ADDED * np.where(dated > 0, 0.5**age, 0.5)
