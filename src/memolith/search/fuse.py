"""Reciprocal rank fusion: agreement between two rankings counts, their scales do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import Column, Signals
from memolith.search.candidates import Candidates, best_first

# The constant of the original paper; between 20 and 100 our benchmark moves by less than its noise.
RRF_K = 60


def fuse(signals: Signals, k: int = RRF_K) -> Candidates:
    """The chunks, best first, by 1 / (k + rank) from every ranking they are in.

    The first of both rankings has the score 1.
    """
    score = _reciprocal(signals.words_rank, k) + _reciprocal(signals.meaning_rank, k)
    score *= (k + 1) / 2
    order = best_first(score, signals.keys)
    return Candidates.of(signals.take(order), score[order])


def once(candidates: Candidates) -> Candidates:
    """A record that stands in several files, once: in the place of the best, and no copy if possible.

    Ranks are counted again, so that hidden copies leave no gaps in them.
    """
    signals = candidates.signals
    numbers = signals.record
    records = (numbers[numbers > 0] // 2).tolist()  # see `Signals.record`
    if len(set(records)) == len(records):
        return candidates
    place = np.arange(len(numbers))
    _, same = np.unique(np.where(numbers == 0, -1 - place, numbers // 2), return_inverse=True)
    first = np.unique(same, return_index=True)[1]  # the place of the best of each
    order = np.lexsort((place, numbers % 2, same))
    chosen = order[np.unique(same[order], return_index=True)[1]]
    kept = candidates.take(chosen[np.argsort(first)])
    ranks = {
        name: _renumbered(_best_of_each(same, getattr(signals, name))[np.argsort(first)])
        for name in ("words_rank", "meaning_rank")
    }
    return replace(kept, signals=replace(kept.signals, **ranks))


def _best_of_each(same: Column, ranks: Column) -> Column:
    """The least rank of each record; 0, which is none, only if it has no other."""
    none = np.iinfo(ranks.dtype).max
    best = np.full(same.max() + 1, none, ranks.dtype)
    np.minimum.at(best, same, np.where(ranks > 0, ranks, none))
    return np.where(best == none, 0, best)


def _renumbered(ranks: Column) -> Column:
    """The same order without gaps.

    >>> _renumbered(np.array([4, 0, 1])).tolist()
    [2, 0, 1]
    """
    taken = np.unique(ranks[ranks > 0])
    return np.where(ranks > 0, np.searchsorted(taken, ranks) + 1, 0)


def _reciprocal(ranks: Column, k: int) -> NDArray[np.floating[Any]]:
    result: NDArray[np.floating[Any]] = (ranks > 0) / (k + ranks)
    return result


def raw(signals: Signals) -> dict[str, Column]:
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
