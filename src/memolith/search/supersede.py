"""What a newer record has taken the place of goes below what still holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from memolith.search.candidates import Candidates, Situation

# Enough to let the newer record pass, which says nearly the same and so ranks nearly the same.
_KEPT = 0.25


def demote_superseded(_situation: Situation, candidates: Candidates) -> Candidates:
    """A stage that takes most of the score of records that are history; they are still found."""
    past = candidates.superseded
    if past is None:
        return candidates
    marked = replace(candidates, held_back=candidates.held_back or bool(past.any()))
    score = candidates.score * np.where(past, _KEPT, 1)
    return marked.scored(score, {"superseded": past}).in_order()
