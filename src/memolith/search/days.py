"""Who asks about certain days wants what is from those days first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.text.dates import SURE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation

# Against 1 for the best words and 1 for the nearest meaning. Days that had to be guessed ("in
# March" of which year?) only help; days that are named outright decide.
_CERTAIN = 1.0
_GUESSED = 0.3


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
    lifted = [hit.scored(hit.score + lift(hit)) for hit in candidates]
    return sorted(lifted, key=lambda hit: -hit.score)
