"""Newer first among equals: the score of a dated chunk fades with its age."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import numpy as np

from memolith.interfaces import Column
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage


def decay(half_life_days: float, strength: float) -> Stage:
    """A stage that multiplies the score of a dated chunk.

    Full strength buries everything a year old under anything from today; at a low one age only decides
    between hits of about the same relevance.
    """

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        left = fading(candidates.signals.dated, query.today, half_life_days, strength)
        score = candidates.score * left
        return replace(candidates, score=score, fade=candidates.fade * left, why={"age": left})

    return stage


def fading(dated: Column, today: date, half_life_days: float, strength: float) -> Floats:
    """(1 - strength) + strength · 0.5^(age / half-life); 1 for what has no date, and for the future.

    >>> from datetime import date
    >>> days = np.array([0, date(2026, 1, 1).toordinal()])
    >>> fading(days, date(2026, 1, 31), 30, 1.0).tolist()
    [1.0, 0.5]
    """
    age = np.maximum(0, today.toordinal() - dated) / half_life_days
    return np.where(dated > 0, 1 - strength + strength * 0.5**age, 1.0)
