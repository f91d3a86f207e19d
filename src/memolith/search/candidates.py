"""What the stages of a search pass on to each other: candidates as columns, not as objects.

A search looks at some hundred chunks, and every stage at all of them. As objects they cost more than
everything else together; as arrays a stage is a few lines of arithmetic. They come from the index: the
best by words and by meaning, in the order of reciprocal rank fusion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import chain, islice
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.errors import EmbeddingError
from memolith.interfaces import NEAR, Column, Embedder, Index, Nomination, Signals, Vectors
from memolith.results import Filters
from memolith.search.plan import QueryPlan
from memolith.text.dates import DayRange

Floats = NDArray[np.floating[Any]]
Stage = Callable[["QueryContext", "Candidates"], "Candidates"]
Staged = Sequence[tuple[str, "Candidates"]]  # after each stage, by its name

# The constant of the original paper; between 20 and 100 our benchmark moves by less than its noise.
RRF_K = 60
# How many of each ranking take part in the fusion, and how many of all are staged then: more change no
# recall (benchmarks/recall). A larger limit is honoured.
NOMINATED = 200
# How much a vote of the chat or file counts for one of its chunks.
GROUP = 0.5
_NO_VECTOR = "The model gave no vector for this question. Searched by words only."
NOTHING = 1e-300  # more than none, to divide by
_COLUMNS = (
    "score", "votes", "group_votes", "group_voters", "lift", "fade",
    "chunks", "texts", "superseded", "newest",
)  # fmt: skip
_columns = attrgetter(*_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """Chunks that may answer, with everything that speaks for them."""

    signals: Signals
    score: Floats
    votes: Floats  # a row for each: what the chunk itself has, from 0 to 1
    weights: Floats  # how much each of these votes counts
    group_votes: Floats  # what its chat or file has: the sum, and how many votes these are
    group_voters: Floats
    lift: Floats  # what its day added to the score
    fade: Floats  # what its age left of it
    why: Mapping[str, Column] = field(default_factory=dict)  # what the last stage found, by name
    held_back: bool = False  # whether some were moved down, so that others may come up
    # Nothing of these is known before they are read.
    chunks: Column
    texts: Column
    superseded: Column
    newest: Column  # what holds now in its place, as `Found`, if that may be seen

    def __len__(self) -> int:
        """How many there are."""
        return len(self.score)

    @classmethod
    def of(cls, signals: Signals, score: Floats, *, votes: int = 0) -> Candidates:
        """Candidates without votes yet: `votes` zeros each."""
        none, unknown = np.zeros(len(score)), np.empty(len(score), object)
        return cls(
            signals=signals,
            score=score,
            votes=np.zeros((len(score), votes)),
            weights=np.zeros(votes),
            group_votes=none,
            group_voters=none,
            lift=none,
            fade=np.ones(len(score)),
            chunks=unknown,
            texts=unknown,
            superseded=np.zeros(len(score), np.bool_),
            newest=unknown,
        )

    def take(self, at: Column | Sequence[int] | slice) -> Candidates:
        """Some of them, in this order."""
        at = at if isinstance(at, slice) else np.asarray(at, np.intp)
        some = itemgetter(at)
        columns: Any = dict(zip(_COLUMNS, map(some, _columns(self)), strict=True))
        why = dict(zip(self.why, map(some, self.why.values()), strict=True))
        return replace(self, signals=self.signals.take(at), why=why, **columns)

    def with_others(self, others: Candidates) -> Candidates:
        """These, and behind them others with as many votes."""
        both = zip(_columns(self), _columns(others), strict=True)
        columns: Any = dict(zip(_COLUMNS, map(np.concatenate, both), strict=True))
        signals = Signals.together([self.signals, others.signals])
        return replace(self, signals=signals, why={}, **columns)

    def scored(self, score: Floats, why: Mapping[str, Column]) -> Candidates:
        """The same with other scores, in the same order."""
        return replace(self, score=score, why=why)

    def best(self) -> NDArray[np.intp]:
        """Their places, best first; of equal ones the chunk that was written last."""
        return np.lexsort((-self.signals.keys, -self.score))

    def in_order(self) -> Candidates:
        """The same, best first."""
        return self.take(self.best())

    def mean_vote(self) -> Floats:
        """The mean of all votes, those of the group at half their weight."""
        voters = self.weights.sum() + GROUP * self.group_voters
        votes = self.votes @ self.weights + GROUP * self.group_votes
        result: Floats = votes / np.maximum(voters, NOTHING)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryContext:
    """What a stage may want to know besides the candidates."""

    plan: QueryPlan
    today: date
    limit: int
    external: tuple[str, ...] = ()  # the setting `trust.external`
    near: float = NEAR  # how far above the usual a cosine must be to count fully
    # What the index says of the question.
    mean_similarity: float = 0.0  # how near any chunk is, on average
    rarity: Mapping[str, float] = field(default_factory=dict)  # of its words: how much each tells
    exact: float = 0.0  # how far words that no model knows decide, from 0 to 1


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
    parts = {filters: _parts(filters, plan.days, says_something) for filters in kinds}
    found = iter(index.rank(plan.words, vector, limit, [*chain.from_iterable(parts.values())]))
    return {filters: _together([*islice(found, len(some))]) for filters, some in parts.items()}


def _parts(filters: Filters, days: Iterable[DayRange], says_something: bool) -> list[Filters]:
    """All of a kind, and what the question names of it, or a chat that takes part anyway.

    Of all of it a question that asks for days alone, or for nothing, finds nothing.
    """
    parts = [filters if says_something else replace(filters, records=frozenset())]
    for named in days:
        since = max(filter(None, (filters.since, named.first)))
        until = min(filter(None, (filters.until, named.last)))
        parts.append(replace(filters, since=since, until=until))
    if says_something and filters.also_chat is not None:
        parts.append(replace(filters, chat=filters.also_chat))
    return parts


def _together(found: Sequence[Nomination]) -> Nomination:
    """As the first, with what only the others have."""
    signals = Signals.together([nominated.signals for nominated in found])
    first = np.unique(signals.keys, return_index=True)[1]
    return replace(found[0], signals=signals.take(np.sort(first)))


def fuse(signals: Signals, k: int = RRF_K) -> Candidates:
    """The chunks, best first, by 1 / (k + rank) from every ranking they are in.

    The first of both rankings has the score 1.
    """
    ranks = np.array([signals.words_rank, signals.meaning_rank])
    score = ((ranks > 0) / (k + ranks)).sum(axis=0) * (k + 1) / 2
    return Candidates.of(signals, score).in_order()


def without_copies(signals: Signals) -> Signals:
    """A record that is in several files, once: no copy made of it if possible, and what was written last.

    It has the best of their ranks, and those behind it move up.
    """
    places = np.arange(len(signals.keys))
    # See `Signals.record`; what is no record is only itself.
    names = np.where(signals.record // 2, signals.record // 2, -1 - places)
    best = np.lexsort((-places, signals.record % 2, names))
    distinct, first, of = np.unique(names, return_index=True, return_inverse=True)
    kept = best[np.unique(names[best], return_index=True)[1]]
    met = first.argsort()  # in the order in which they were found
    ranks = {}
    for ranking in ("words_rank", "meaning_rank"):
        before = getattr(signals, ranking)
        order = np.lexsort((names, before))
        order = order[before[order] > 0]
        ahead = np.sort(np.unique(of[order], return_index=True)[1])
        rank = np.zeros(len(distinct), np.intp)
        rank[of[order[ahead]]] = np.arange(1, len(ahead) + 1)
        ranks[ranking] = rank[met]
    return replace(signals.take(kept[met]), **ranks)
