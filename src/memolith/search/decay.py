"""Newer first among equals: dated chunks fade, but an old answer that is the only one stays on top."""

from __future__ import annotations

from dataclasses import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from memolith.search.candidates import Candidate, Situation, Stage

# The most that age can take away. Plain multiplication by 0.5 ** (age / half-life) would bury
# everything a year old under anything from today; this way age only decides between hits of about
# the same relevance: neighbours in a ranking differ by one or two percent.
MOST_LOST = 0.05


def decay(half_life_days: float) -> Stage:
    """A stage that takes up to 5 % from the score of a dated chunk, half of that after the half-life."""

    def stage(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        if situation.dated_question:
            return candidates  # who asks about March does not want March to fade
        aged = [
            replace(
                hit, score=hit.score * freshness(hit.chunk.dated, situation.today, half_life_days)
            )
            for hit in candidates
        ]
        return sorted(aged, key=lambda hit: -hit.score)

    return stage


def freshness(dated: date | None, today: date, half_life_days: float) -> float:
    """1 for today, the future and what has no date; never below 0.95.

    >>> from datetime import date
    >>> freshness(date(2026, 1, 1), date(2026, 1, 31), 30)
    0.975
    """
    if dated is None or dated >= today:
        return 1.0
    faded: float = 1 - 0.5 ** ((today - dated).days / half_life_days)
    return 1 - MOST_LOST * faded
