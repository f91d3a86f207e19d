"""The best passage of a chunk: an answer is often one sentence of a text about something else.

Every candidate is looked at through a window of twenty words. Two votes come of it: how near the best
passage is to the question as a whole, and how many of the question's words it has. A word counts as
far as the nearest word of the passage means the same, and by how rare it is in this memory. All that
is needed are vectors of single words; which words a chunk has, and in which order, the index knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import WORD_START, Column, Tokens, Vectors, WordVectors
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage
from memolith.search.doubt import has_digit
from memolith.search.reorder import MORE
from memolith.search.votes import shares
from memolith.text.synonyms import in_english
from memolith.text.tokens import words

Integers = NDArray[np.integer[Any]]
TokensOf = Callable[[Column], tuple[Tokens, Integers]]

# A passage is two blocks side by side.
_BLOCK = 10
_LONG_BLOCK = 40  # tokens; words that nobody knows are spelled in many
# The model is trained so that the first numbers of a vector say most of it: a quarter of them ranks
# passages as well as all, at a quarter of the cost.
_DIMENSIONS = 64
# So many of the best are looked at; the others are taken to have no passage that answers.
_JUDGED = 64
# Beyond these, time is spent and nothing is learned.
_MOST_TOKENS = 48
_MOST_STRETCHES = 400
_ALL = 1 - 1e-6
_TINY = np.float32(1e-6)
_TOKEN = np.uint16(WORD_START - 1)


def passages(model: WordVectors, tokens_of: TokensOf) -> Stage:
    """A stage that lets the best passage of each candidate vote."""
    weights = np.ones(2)  # of words and of meaning
    read = dict[str, _Question]()  # once for all kinds of hits

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        if query.exact >= _ALL:
            return candidates
        question = read.get(query.question)
        if question is None:
            question = _Question.of(model, query.question, query.rarity, query.exact)
            read[query.question] = question
        judged = candidates.best()[: max(_JUDGED, query.limit + MORE)]
        tokens, sizes = tokens_of(candidates.signals.keys[judged])
        if not len(tokens) or not question.compared[0].any():
            return candidates
        best = np.zeros((2, len(candidates)))
        best[:, judged] = _of_best_passage(question, model, tokens, _Blocks.of(tokens, sizes))
        told, near = found = shares(best)
        before = candidates.mean_vote()
        voted = replace(
            candidates,
            votes=np.concatenate([candidates.votes, found.T], axis=1),
            weights=np.concatenate([candidates.weights, (1 - query.exact) * weights]),
        )
        why = {"passage_words": told, "passage_meaning": near}
        more = candidates.fade * (voted.mean_vote() - before)
        return voted.scored(candidates.score + more, why)

    return stage


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """What is compared with passages: the whole question, and its telling words, token by token."""

    compared: Vectors  # the directions: first of the whole, then a row for each token
    rarity: Vectors  # how much each of them tells; the whole nothing

    @classmethod
    def of(
        cls, model: WordVectors, question: str, rarity: Mapping[str, float], exact: float
    ) -> _Question:
        stretches = question.split(maxsplit=_MOST_STRETCHES)[:_MOST_STRETCHES]
        read = model.spell([[stretch] for stretch in in_english(stretches)])
        spelled = np.frombuffer(b"".join(read), "<u2") & _TOKEN
        every = iter(spelled.tolist())
        told: dict[int, float] = {}
        for stretch, part in zip(stretches, read, strict=True):
            tokens = list(islice(every, len(part) // 2))
            rarest = max((rarity.get(word, 0.0) for word in words(stretch)), default=0.0)
            if exact and has_digit(stretch):  # taken in pieces it is like any other number
                rarest *= 1 - exact
            for token in tokens if rarest else ():
                told[token] = max(rarest / len(tokens), told.get(token, 0.0))
        best = sorted(told, key=lambda token: -told[token])[:_MOST_TOKENS]
        directions, lengths = model.directions(
            np.concatenate([np.array(best, np.uint16), spelled]), _DIMENSIONS
        )
        whole = lengths[len(best) :] @ directions[len(best) :]
        whole /= np.maximum(np.sqrt(whole @ whole), _TINY)
        rarities = np.array([0.0, *(told[token] for token in best)], np.float32)
        return cls(np.concatenate([whole[None], directions[: len(best)]]), rarities)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Where blocks of words begin in the row of all tokens."""

    count: int  # of texts
    starts: Integers  # the first token of each block
    followed: NDArray[np.bool_]  # by another block of the same text
    passages: Integers  # the blocks that a passage begins with …
    texts: Integers  # … and the text of each

    @classmethod
    def of(cls, tokens: Tokens, sizes: Integers) -> _Blocks:
        words = (tokens >= WORD_START).nonzero()[0]
        ends = words.searchsorted(sizes.cumsum())
        lengths = ends.copy()  # of each text, in words
        lengths[1:] -= ends[:-1]
        counts = -(-lengths // _BLOCK)
        texts = np.arange(len(sizes)).repeat(counts)
        inside = np.arange(len(texts)) - (counts.cumsum() - counts)[texts]
        followed = np.zeros(len(texts), np.bool_)
        followed[:-1] = texts[1:] == texts[:-1]
        # The last block of a longer text is only the second half of a passage.
        passages = (followed | (inside == 0)).nonzero()[0]
        starts = words[(ends - lengths)[texts] + _BLOCK * inside]
        return cls(len(sizes), starts, followed, passages, texts[passages])

    def greatest(self, values: Floats, at: Integers) -> Floats:
        """Of the tokens of each block the greatest value, column by column; a row for each token `at`."""
        sizes = np.append(self.starts[1:], len(at)) - self.starts
        longest = int(sizes.max())
        found: Floats
        if longest > _LONG_BLOCK:
            found = np.maximum.reduceat(values.take(at, 0), self.starts)
        else:  # side by side, as if all blocks were as long as the longest: that is twice as fast
            places = self.starts + np.minimum(np.arange(longest)[:, None], sizes - 1)
            found = np.maximum.reduce(values.take(at.take(places), 0))
        return found

    def best_of_each(self, values: Floats) -> Floats:
        """The best passage of each text."""
        result = np.zeros(self.count, values.dtype)  # of another type this takes ten times as long
        np.maximum.at(result, self.texts, values[self.passages])
        return result


# OpenBLAS at times says of finite numbers that a product is none (numpy/numpy#24067).
@np.errstate(invalid="ignore")
def _of_best_passage(
    question: _Question, model: WordVectors, tokens: Tokens, blocks: _Blocks
) -> tuple[Floats, Floats]:
    """For each text how much of the question's words its best passage has, and how near that is."""
    distinct, at = _distinct((tokens & _TOKEN).astype(np.intp))
    directions, lengths = model.directions(distinct, _DIMENSIONS)
    alike = directions @ question.compared.T
    # Tokens of a passage are taken as unrelated: so its length is known without adding vectors.
    of_tokens = np.array([alike[:, 0] * lengths, lengths * lengths])
    near, squares = _sums(of_tokens.take(at, 1), blocks)
    best = np.maximum(blocks.greatest(alike, at), 0)
    best[:-1] = np.maximum(best[:-1], best[1:] * blocks.followed[:-1, None])
    return (
        blocks.best_of_each(best @ question.rarity),
        blocks.best_of_each(near / np.sqrt(np.maximum(squares, _TINY))),
    )


def _sums(values: Floats, blocks: _Blocks) -> Floats:
    """The sums of the values of each passage's tokens, row by row."""
    sums: Floats = np.add.reduceat(values, blocks.starts, axis=1)
    sums[:, :-1] += np.where(blocks.followed[:-1], sums[:, 1:], 0)
    return sums


def _distinct(tokens: Integers) -> tuple[Integers, Integers]:
    """Each token once, and the place of every token among them; quicker than sorting them."""
    met = np.zeros(WORD_START, np.bool_)
    met[tokens] = True
    distinct = met.nonzero()[0]
    places = np.empty(WORD_START, np.intp)
    places[distinct] = np.arange(len(distinct))
    return distinct, places.take(tokens)
