"""Candidates: the best by words and by meaning, and reciprocal rank fusion of both rankings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.errors import EmbeddingError
from memolith.interfaces import Column, Embedder, Index, Nomination, Signals, Vectors
from memolith.results import Filters
from memolith.search.candidates import Candidates, best_first
from memolith.search.plan import QueryPlan
from memolith.text.dates import DayRange

# Which chunks may answer: a question as it is put to the index, once for all kinds of hits.

_NO_VECTOR = "The model gave no vector for this question. Searched by words only."


def meaning_of(text: str, embedder: Embedder | None) -> tuple[Vectors | None, tuple[str, ...]]:
    """The vector of a question, None if it has none, and a warning if the model does not answer."""
    if embedder is None:
        return None, ()
    try:
        read = getattr(embedder, "embed_question", None)
        vector = (read(text) if read else embedder.embed([text]))[0]
    except EmbeddingError as error:
        return None, (f"{error.message} {error.hint} Searched by words only.",)
    if vector.any():
        return vector, ()
    return None, (_NO_VECTOR,) if embedder.is_remote and text.strip() else ()


def find_candidates(
    index: Index, plan: QueryPlan, vector: Vectors | None, kinds: Sequence[Filters], limit: int
) -> dict[Filters, Nomination]:
    """The best of each kind; of days and a chat, also what is not among the best of all."""
    says_something = bool(plan.words) or vector is not None
    parts = {filters: _parts(filters, plan, says_something) for filters in kinds}
    every = [part for some in parts.values() for part in some]
    if says_something:
        found = index.rank(plan.words, vector, limit, [*parts, *every])
    else:  # asked for days alone, or for nothing
        found = index.rank((), None, 0, list(parts))
        found += index.rank((), None, limit, every) if every else []
    rest = iter(found[len(parts) :])
    return {
        filters: _together([nominated, *islice(rest, len(some))])
        for (filters, some), nominated in zip(parts.items(), found, strict=False)
    }


def nowhere(chunks: int) -> float:
    """How rare a word is that stands in none of so many chunks, or hardly less."""
    return math.log1p((chunks + 0.5) / 0.5) - 1e-6


def _parts(filters: Filters, plan: QueryPlan, says_something: bool) -> list[Filters]:
    """What of a kind is looked at by itself: what the question names, a chat that takes part anyway."""
    parts = [_within(filters, days) for days in plan.days]
    if says_something and filters.also_chat is not None:
        parts.append(replace(filters, chat=filters.also_chat))
    return parts


def _within(filters: Filters, days: DayRange) -> Filters:
    return replace(
        filters,
        since=max(filter(None, (filters.since, days.first))),
        until=min(filter(None, (filters.until, days.last))),
    )


def _together(found: Sequence[Nomination]) -> Nomination:
    """As the first, with what only the others have."""
    if len(found) == 1:
        return found[0]
    signals = Signals.together([nominated.signals for nominated in found])
    _, first = np.unique(signals.keys, return_index=True)
    return replace(found[0], signals=signals.take(np.sort(first)))


# Reciprocal rank fusion: agreement between two rankings counts, their scales do not.

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
