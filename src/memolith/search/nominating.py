"""Which chunks may answer: a question as it is put to the index, once for all kinds of hits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from memolith.errors import EmbeddingError
from memolith.interfaces import Embedder, Index, Nomination, Signals, Vectors
from memolith.results import Filters
from memolith.search.plan import QueryPlan
from memolith.text.dates import DayRange

_NO_VECTOR = "The model gave no vector for this question. Searched by words only."


def meaning_of(text: str, embedder: Embedder | None) -> tuple[Vectors | None, tuple[str, ...]]:
    """The vector of a question, None if it has none, and a warning if the model does not answer."""
    if embedder is None:
        return None, ()
    try:
        vector = embedder.embed([text])[0]
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
