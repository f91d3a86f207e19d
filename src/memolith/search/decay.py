"""Newer first among equals: dated chunks fade, but an old answer that is the only one stays on top."""

from __future__ import annotations

from memolith.search.candidates import best_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from memolith.search.candidates import Candidate, Situation, Stage

# The most that being new can add, against 1 for what is best in everything. Plain multiplication by
# 0.5 ** (age / half-life) would bury everything a year old under anything from today; this way age
# only decides between hits of about the same relevance.
MOST_ADDED = 0.1


def decay(half_life_days: float) -> Stage:
    """A stage that adds up to 0.1 to the score of a dated chunk, half of that after the half-life."""

    def stage(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        added = [bonus(hit.chunk.dated, situation.today, half_life_days) for hit in candidates]
        return best_first(
            [
                hit.scored(hit.score + new, {"new": new}, lift=new)
                for hit, new in zip(candidates, added, strict=True)
            ]
        )

    return stage


def bonus(dated: date | None, today: date, half_life_days: float) -> float:
    """0.1 for today and the future, half of it after the half-life; what has no date gets the half.

    >>> from datetime import date
    >>> bonus(date(2026, 1, 1), date(2026, 1, 31), 30)
    0.05
    """
    if dated is None:
        return MOST_ADDED / 2
    age: float = max(0, (today - dated).days) / half_life_days
    faded: float = 0.5**age
    return MOST_ADDED * faded
