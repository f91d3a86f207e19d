"""Who asks about certain days wants what is from those days first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.search.candidates import best_first
from memolith.text.dates import SURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation

# Against 1 for what is best in everything. Days that had to be guessed ("in March" of which year?)
# only help; days that are named outright decide.
_CERTAIN = 0.4
_GUESSED = 0.1


def prefer_days(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stage that lifts what is from the days in the question; without such days it does nothing."""

    def lift(hit: Candidate) -> float:
        dated = hit.chunk.dated
        return max(
            (
                _CERTAIN if days.confidence >= SURE else _GUESSED
                for days in situation.days
                if dated is not None and days.first <= dated <= days.last
            ),
            default=0.0,
        )

    if not situation.days:
        return candidates
    lifts = [lift(hit) for hit in candidates]
    return best_first(
        [
            hit.scored(hit.score + added, {"days": added}, lift=added)
            for hit, added in zip(candidates, lifts, strict=True)
        ]
    )
