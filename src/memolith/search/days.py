"""Who asks about certain days wants what is from those days first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.search.candidates import best_first
from memolith.text.dates import SURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation

# The least that a day adds, against 1 for what is best in everything; one that had to be guessed
# ("in March" of which year?) adds half.
_LEAST = 0.2


def prefer_days(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stage that lifts what is from the days in the question; without such days it does nothing.

    The days are one of the things asked for: in "what happened yesterday?" they decide, in a long
    message that mentions a day among much else they only help.
    """
    if not situation.days:
        return candidates
    most = max(_LEAST, 1 / (1 + len(situation.rarity)))

    def lift(hit: Candidate) -> float:
        dated = hit.chunk.dated
        return max(
            (
                most if days.confidence >= SURE else most / 2
                for days in situation.days
                if dated is not None and days.first <= dated <= days.last
            ),
            default=0.0,
        )

    lifts = [lift(hit) for hit in candidates]
    return best_first(
        [
            hit.scored(hit.score + added, {"days": added}, lift=added)
            for hit, added in zip(candidates, lifts, strict=True)
        ]
    )
