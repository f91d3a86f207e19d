"""Which chats answer as a whole: by their best turn, by all that was said in them, and by chats like them.

Chats that are about the same thing tend to answer the same questions. So each is judged by a little of
what the others have, as far as they are like it: one that goes on with a matter in other words is
found with the chats that name it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memolith.interfaces import Column, Vectors
from memolith.search.candidates import Candidates, Floats

# How much the score of chats like it counts for a chat, against 1 for both.
OTHERS = 0.2
# So many of the best are compared with each other.
_COMPARED = 64
_TINY = np.float32(1e-6)


def rank_sessions(
    candidates: Candidates, vectors_of: Callable[[Column], Vectors] | None = None
) -> list[tuple[int, float]]:
    """Of each chat among the candidates, best first: the place of its best turn, and its score.

    As a whole a chat has the best vote of each kind that any of its turns has; who said it does not
    matter for that. Its best turn counts as much.
    """
    turns = candidates.signals.chat.nonzero()[0]
    if not len(turns):
        return []
    first, chat = _first_of_each(candidates.signals.chat[turns])
    best = turns[first]
    score = (_as_a_whole(candidates, turns, chat, best) + candidates.score[best]) / 2
    order = np.lexsort((best, -score))[:_COMPARED]
    if vectors_of is not None and len(order) > 1:
        meant = vectors_of(candidates.signals.chat[best[order]])
        score[order] += OTHERS * (_of_others(meant, score[order]) - score[order])
    order = np.lexsort((best, -score))
    return list(zip(best[order].tolist(), score[order].tolist(), strict=True))


def _first_of_each(chats: Column) -> tuple[Column, Column]:
    """Where each chat stands first, and for every row which of these chats it is.

    `np.unique` tells the same, and loads a part of NumPy that nothing else needs.
    """
    order = chats.argsort(kind="stable")
    ordered = chats[order]
    is_first = np.ones(len(order), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    numbers = np.empty_like(order)
    numbers[order] = is_first.cumsum() - 1
    return order[is_first], numbers


def _as_a_whole(candidates: Candidates, turns: Column, chat: Column, best: Column) -> Floats:
    votes = np.zeros((len(best), candidates.votes.shape[1]))
    lift = np.zeros(len(best))
    np.maximum.at(votes, chat, candidates.votes[turns])
    np.maximum.at(lift, chat, candidates.lift[turns])
    voters = candidates.weights.sum() + candidates.group_voters[best]
    total = votes @ candidates.weights + candidates.group_votes[best]
    fade = np.zeros(len(best))
    np.maximum.at(fade, chat, candidates.fade[turns])
    whole: Floats = (total / np.maximum(1, voters) + lift) * fade
    return whole


def _of_others(meant: Vectors, score: Floats) -> Floats:
    """For each chat the mean score of the others, the more alike the more it counts."""
    alike = _cosines(meant @ meant.T)
    # What all have in common makes none alike: as if the mean of all were taken from each of them.
    common = alike.mean(axis=0)
    alike = _cosines(alike - common - common[:, None] + common.mean())
    alike = np.square(np.maximum(alike, 0))
    np.fill_diagonal(alike, 0)
    total = alike.sum(axis=1)
    others: Floats = np.where(total > 0, alike @ score / np.maximum(total, _TINY), score)
    return others


def _cosines(products: Floats) -> Floats:
    """The products of vectors with each other, as if all were of length 1."""
    lengths = np.sqrt(np.maximum(np.diagonal(products), _TINY))
    cosines: Floats = products / lengths / lengths[:, None]
    return cosines
