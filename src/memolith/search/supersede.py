"""What a newer record has taken the place of goes below what still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memolith.search.candidates import best_first

if TYPE_CHECKING:
    from memolith.search.candidates import Candidates, Situation

# Enough to let the newer record pass, which says nearly the same and so ranks nearly the same.
_KEPT = 0.25


def demote_superseded(_situation: Situation, candidates: Candidates) -> Candidates:
    """A stage that takes most of the score of records that are history; they are still found."""
    past = candidates.superseded
    if past is None:
        return candidates
    if not past.any():
        return replace(candidates, why={"superseded": past})
    score = candidates.score * np.where(past, _KEPT, 1)
    order = best_first(score, candidates.signals.keys)
    demoted = replace(candidates, score=score, held_back=True).take(order)
    return replace(demoted, why={"superseded": past[order]})
