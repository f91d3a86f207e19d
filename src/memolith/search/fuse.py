"""Reciprocal rank fusion: agreement between two rankings counts, their scales do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from memolith.search.candidates import Candidates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memolith.interfaces import Column, Signals

# The constant of the original paper; between 20 and 100 our benchmark moves by less than its noise.
RRF_K = 60


def fuse(signals: Signals, k: int = RRF_K, words: float = 1.0, meaning: float = 1.0) -> Candidates:
    """The chunks by 1 / (k + rank) from every ranking they are in, each with its weight."""
    score = words * _reciprocal(signals.words_rank, k)
    score += meaning * _reciprocal(signals.meaning_rank, k)
    return Candidates.of(signals, score, {}).scored(score, _raw(signals))


def once(candidates: Candidates) -> Candidates:
    """A record that stands in several files, once: in the place of the best, and no copy if possible."""
    numbers = candidates.signals.record
    records = (numbers[numbers > 0] // 2).tolist()  # see `Signals.record`
    if len(set(records)) == len(records):
        return candidates
    place = np.arange(len(numbers))
    same = np.where(numbers == 0, -1 - place, numbers // 2)
    _, best = np.unique(same, return_index=True)
    order = np.lexsort((place, numbers % 2, same))
    chosen = order[np.unique(same[order], return_index=True)[1]]
    return candidates.take(chosen[np.argsort(best)])


def _reciprocal(ranks: Column, k: int) -> NDArray[np.floating[Any]]:
    return np.where(ranks > 0, 1 / (k + ranks), 0.0)


def _raw(signals: Signals) -> dict[str, Column]:
    """What the index says of each chunk: scores, and its place in both rankings."""
    return {
        "bm25": signals.words,
        "cosine": signals.meaning,
        "words": signals.words_rank,
        "meaning": signals.meaning_rank,
        "chat_bm25": signals.group_words,
        "user_bm25": signals.group_user_words,
        "title_cosine": signals.group_title,
    }
