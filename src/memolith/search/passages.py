"""The best passage of a chunk: an answer is often one sentence of a text about something else.

Every candidate is looked at through a window of twenty words. Two votes come of it: how near the best
passage is to the question as a whole, and how many of the question's words it has. A word counts as
far as the nearest word of the passage means the same, and by how rare it is in this memory. All that
is needed are vectors of single words, so nothing of it has to be stored.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from memolith.search.candidates import best_first
from memolith.search.weigh import mean_vote, shares
from memolith.text.in_english import in_english
from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memolith.interfaces import Vectors, WordVectors
    from memolith.search.candidates import Candidate, Situation, Stage

    Rows = NDArray[np.intp]

# A passage is two blocks side by side.
_BLOCK = 10
# The model is trained so that the first numbers of a vector say most of it: a quarter of them ranks
# passages as well as all, at a quarter of the cost.
_DIMENSIONS = 64
# Beyond these, time is spent and nothing is learned.
_MOST_CHARS = 2_000
_MOST_WORDS = 32
_MOST_STRETCHES = 400


def passages(vectors: WordVectors) -> Stage:
    """A stage that lets the best passage of each candidate vote."""

    def stage(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        asked = situation.question.split(maxsplit=_MOST_STRETCHES)[:_MOST_STRETCHES]
        texts = [in_english(hit.chunk.text[:_MOST_CHARS].split()) for hit in candidates]
        rows, table = vectors.look_up(list(chain(in_english(asked), *texts)))
        question = _Question(asked, rows[: len(asked)], table[:, :_DIMENSIONS], situation.rarity)
        blocks = _Blocks([len(text) for text in texts])
        if not candidates or not len(blocks.starts) or not question.means_something:
            return candidates
        near, told = _of_best_passage(question, rows[len(asked) :], blocks)
        result = []
        for hit, *values in zip(candidates, shares(told), shares(near), strict=True):
            votes = (*hit.votes, *values)
            change = mean_vote(votes, hit.group) - mean_vote(hit.votes, hit.group)
            why = {"passage_words": values[0], "passage_meaning": values[1]}
            result.append(hit.voted(hit.score + change, votes, hit.group, why))
        return best_first(result)

    return stage


class _Question:
    """What is compared with passages: the whole question, and its telling words."""

    def __init__(
        self, asked: Sequence[str], rows: Rows, table: Vectors, rarity: Mapping[str, float]
    ) -> None:
        told: dict[int, float] = {}
        for stretch, row in zip(asked, rows.tolist(), strict=True):
            rarest = max((rarity.get(word, 0.0) for word in words(stretch)), default=0.0)
            if row and rarest:
                told[row] = max(rarest, told.get(row, 0.0))
        best = sorted(told, key=lambda row: -told[row])[:_MOST_WORDS]
        self.table = table
        self.weights = np.array([told[row] for row in best], np.float32)
        self.words = _unit(table[best]) if best else np.zeros((0, table.shape[1]), np.float32)
        self.whole = _unit(table[rows].sum(axis=0, keepdims=True))[0]

    @property
    def means_something(self) -> bool:
        """Whether there is a word in it that the model knows."""
        return bool(self.whole.any())


class _Blocks:
    """Where the blocks of each text begin in the row of all their words."""

    def __init__(self, lengths: Sequence[int]) -> None:
        self.count = len(lengths)
        counts = -(-np.array(lengths, np.intp) // _BLOCK)
        self.texts = np.repeat(np.arange(len(lengths)), counts)  # the text of each block
        first_words = np.cumsum([0, *lengths[:-1]]) if len(lengths) else np.zeros(0, np.intp)
        first_blocks = np.cumsum(counts) - counts
        inside = np.arange(len(self.texts)) - first_blocks[self.texts]
        self.starts = first_words[self.texts] + _BLOCK * inside
        self.followed = np.zeros(len(self.texts), np.bool_)
        self.followed[:-1] = self.texts[1:] == self.texts[:-1]
        # The last block of a longer text is only the second half of a passage.
        self.begins_passage = self.followed | (inside == 0)


def _of_best_passage(question: _Question, rows: Rows, blocks: _Blocks) -> tuple[Vectors, Vectors]:
    """For each text how near its best passage is, and how much of the question's words it has."""
    distinct, at = _distinct(rows, len(question.table))
    vectors = question.table[distinct]
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    dots = np.add.reduceat((vectors @ question.whole)[at], blocks.starts)
    # Words of a passage are taken as unrelated, so its length is known without adding their vectors.
    squares = np.add.reduceat((lengths**2)[at], blocks.starts)
    for values in (dots, squares):
        values[:-1] += np.where(blocks.followed[:-1], values[1:], 0)
    near = dots / np.sqrt(np.maximum(squares, np.float32(1e-6)))
    told = np.zeros(len(blocks.starts), np.float32)
    alike = (question.words @ vectors.T) / np.maximum(lengths, np.float32(1e-6))
    for weight, likeness in zip(question.weights, alike, strict=True):
        best = np.maximum.reduceat(likeness[at], blocks.starts)
        best[:-1] = np.where(blocks.followed[:-1], np.maximum(best[:-1], best[1:]), best[:-1])
        told += weight * np.maximum(best, 0)
    return _best_of_each(near, blocks), _best_of_each(told, blocks)


def _distinct(rows: Rows, most: int) -> tuple[Rows, Rows]:
    """Each row once, and the place of every row among them; quicker than sorting them."""
    places = np.zeros(most, np.intp)
    places[rows] = 1
    distinct = np.flatnonzero(places)
    places[distinct] = np.arange(len(distinct))
    return distinct, places[rows]


def _best_of_each(values: NDArray[np.floating[Any]], blocks: _Blocks) -> Vectors:
    result = np.zeros(blocks.count, np.float32)
    np.maximum.at(result, blocks.texts[blocks.begins_passage], values[blocks.begins_passage])
    return result


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = vectors / np.maximum(lengths, 1e-6)
    return result
