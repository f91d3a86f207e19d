"""Which chats answer as a whole: by their best turns, and by all that was said in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from memolith.search.candidates import Candidates


def rank_sessions(candidates: Candidates) -> list[tuple[int, float]]:
    """Of each chat among the candidates, best first: the place of its best turn, and its score.

    A chat has the best vote of each kind that any of its turns has; who said it does not matter here.
    """
    turns = np.flatnonzero(candidates.signals.chat)
    if not len(turns):
        return []
    _, first, chat = np.unique(
        candidates.signals.chat[turns], return_index=True, return_inverse=True
    )
    votes = np.zeros((len(first), candidates.votes.shape[1]))
    lift = np.zeros(len(first))
    np.maximum.at(votes, chat, candidates.votes[turns])
    np.maximum.at(lift, chat, candidates.lift[turns])
    best = turns[first]
    voters = candidates.weights.sum() + candidates.group_voters[best]
    total = votes @ candidates.weights + candidates.group_votes[best]
    score = total / np.maximum(1, voters) + lift
    order = np.lexsort((best, -score))
    return list(zip(best[order].tolist(), score[order].tolist(), strict=True))
