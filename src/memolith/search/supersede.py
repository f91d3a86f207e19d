"""What a newer record has taken the place of goes below what still holds."""

from __future__ import annotations

from memolith.search.candidates import best_first

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation

# Enough to let the newer record pass, which says nearly the same and so ranks nearly the same.
_KEPT = 0.25


def demote_superseded(
    _situation: Situation, candidates: Sequence[Candidate]
) -> Sequence[Candidate]:
    """A stage that takes most of the score of records that are history; they are still found."""
    return best_first(
        [
            hit.scored(hit.score * (_KEPT if hit.superseded else 1), {"superseded": hit.superseded})
            for hit in candidates
        ]
    )
