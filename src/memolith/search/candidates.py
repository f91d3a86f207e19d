"""What the stages of a search pass on to each other: candidates as columns, not as objects.

A search looks at some hundred chunks, and every stage at all of them. As objects they cost more than
everything else together; as arrays a stage is a few lines of arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import NEAR, Column, Signals
from memolith.results import Chunk
from memolith.text.dates import DayRange

Floats = NDArray[np.floating[Any]]
Stage = Callable[["QueryContext", "Candidates"], "Candidates"]
Staged = Sequence[tuple[str, "Candidates"]]  # after each stage, by its name

# How much a vote of the chat or file counts for one of its chunks.
GROUP = 0.5
_NO_VOTERS = 1e-300  # more than none, and so little that it changes nothing


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
    # Nothing of these is known before they are read.
    chunks: tuple[Chunk, ...] = ()
    texts: tuple[str, ...] = ()
    superseded: Column | None = None
    # For each the ids of the records that took its place, one after the other, as far as they may be seen.
    successors: tuple[tuple[str, ...], ...] = ()
    held_back: bool = False  # whether some were moved down, so that others may come up

    def __len__(self) -> int:
        """How many there are."""
        return len(self.score)

    @classmethod
    def of(cls, signals: Signals, score: Floats) -> Candidates:
        """Candidates nobody has voted on."""
        none = np.zeros(len(score))
        return cls(
            signals=signals,
            score=score,
            votes=np.zeros((len(score), 0)),
            weights=np.zeros(0),
            group_votes=none,
            group_voters=none,
            lift=none,
            fade=np.ones(len(score)),
        )

    def take(self, at: NDArray[np.integer[Any]] | Sequence[int] | slice) -> Candidates:
        """Some of them, in this order; what the last stage found is left behind."""
        if not isinstance(at, slice):
            at = np.asarray(at, np.intp)
        rows: Iterable[int] = ()
        if self.chunks:
            rows = range(len(self))[at] if isinstance(at, slice) else at.tolist()
        return Candidates(
            signals=self.signals.take(at),
            score=self.score[at],
            votes=self.votes[at],
            weights=self.weights,
            group_votes=self.group_votes[at],
            group_voters=self.group_voters[at],
            lift=self.lift[at],
            fade=self.fade[at],
            chunks=tuple([self.chunks[row] for row in rows]),
            texts=tuple([self.texts[row] for row in rows]),
            superseded=None if self.superseded is None else self.superseded[at],
            successors=tuple([self.successors[row] for row in rows]),
            held_back=self.held_back,
        )

    def with_others(self, others: Candidates) -> Candidates:
        """These, and behind them others that were judged like them, or not at all."""
        both = (self, others)
        votes: Floats = np.zeros((len(others), self.votes.shape[1]))
        if others.votes.shape == votes.shape:
            votes = others.votes
        return replace(
            self,
            signals=Signals.together([some.signals for some in both]),
            votes=np.concatenate([self.votes, votes]),
            score=np.concatenate([some.score for some in both]),
            group_votes=np.concatenate([some.group_votes for some in both]),
            group_voters=np.concatenate([some.group_voters for some in both]),
            lift=np.concatenate([some.lift for some in both]),
            fade=np.concatenate([some.fade for some in both]),
            chunks=self.chunks + others.chunks,
            texts=self.texts + others.texts,
            superseded=_one_after_the_other(self.superseded, others.superseded),
            successors=self.successors + others.successors,
            why={},
        )

    def first(self, count: int) -> Candidates:
        """So many of them, as they stand."""
        return self if len(self) <= count else self.take(slice(count))

    def scored(self, score: Floats, why: Mapping[str, Column]) -> Candidates:
        """The same with other scores, where they stand: who needs an order asks for it."""
        return replace(self, score=score, why=why)

    def best(self) -> NDArray[np.intp]:
        """Their places, best first; of equal ones the chunk that was written last."""
        return best_first(self.score, self.signals.keys)

    def in_order(self) -> Candidates:
        """The same, best first."""
        return self.take(self.best())

    def mean_vote(self) -> Floats:
        """The mean of all votes, those of the group at half their weight."""
        voters = self.weights.sum() + GROUP * self.group_voters
        votes = self.votes @ self.weights + GROUP * self.group_votes
        result: Floats = votes / np.maximum(voters, _NO_VOTERS)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryContext:
    """What a stage may want to know besides the candidates."""

    question: str
    today: date
    limit: int
    mean_similarity: float = 0.0  # how near any chunk is, on average
    near: float = NEAR  # how far above that a cosine must be to count fully
    days: tuple[DayRange, ...] = ()  # that the question itself asks about
    rarity: Mapping[str, float] = field(default_factory=dict)  # of its words: how much each tells
    exact: float = 0.0  # how far words that no model knows decide, from 0 to 1
    subjects: int = 0  # how many of its words say what it is about
    phrases: tuple[tuple[str, ...], ...] = ()  # what it says in quotation marks
    names: frozenset[str] = frozenset()  # first names in it, folded
    external: tuple[str, ...] = ()  # the setting `trust.external`


def _one_after_the_other(one: Column | None, other: Column | None) -> Column | None:
    return None if one is None or other is None else np.concatenate([one, other])


def best_first(score: Floats, keys: Column) -> NDArray[np.intp]:
    """The places of the best scores; of equal ones the chunk that was written last."""
    return np.lexsort((-keys, -score))
