"""The best passage of a chunk: an answer is often one sentence of a text about something else.

Every candidate is looked at through a window of twenty words. Two votes come of it: how near the
best passage is to the question as a whole, and how many of the question's words it has. A word counts as
far as the nearest word of the passage means the same, and by how rare it is in this memory. All that
is needed are vectors of single words; which words a chunk has, and in which order, the index knows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.interfaces import TURN, USER, WORD_START, Tokens, Vectors, WordVectors
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage
from memolith.search.reorder import MORE
from memolith.search.votes import preference, shares
from memolith.text.synonyms import in_english
from memolith.text.tokens import words

Integers = NDArray[np.integer[Any]]

# A passage is two blocks side by side, each of this many words.
_BLOCK = 10
# The model is trained so that the first numbers of a vector say most of it: a quarter of them ranks
# passages as well as all, at a quarter of the cost.
_DIMENSIONS = 64
# This many of the best are looked at; the others are taken to have no passage that answers.
_JUDGED = 64
# Beyond these, time is spent and nothing is learned.
_MOST_TOKENS = 48
_MOST_STRETCHES = 400
_TINY = np.float32(1e-6)
_TOKEN = np.uint16(WORD_START - 1)


def passages(model: WordVectors) -> Stage:
    """A stage that lets the best passage of each candidate vote."""

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        compared, rarity = _compared(model, query.plan.meant, query.rarity)
        judged, tokens, sizes = _judged(query, candidates)
        if not len(tokens) or not compared[0].any():
            return candidates
        best = np.zeros((2, len(candidates)))
        best[:, judged] = _of_best_passage(model, compared, rarity, tokens, sizes)
        told, near = found = shares(best)
        voted = replace(
            candidates,
            votes=np.concatenate([candidates.votes, found.T], axis=1),
            weights=np.append(candidates.weights, (1 - query.exact) * np.ones(2)),
        )
        more = candidates.fade * (voted.mean_vote() - candidates.mean_vote())
        why = {"passage_words": told, "passage_meaning": near}
        return voted.scored(candidates.score + more, why)

    return stage


def _judged(query: QueryContext, candidates: Candidates) -> tuple[Integers, Tokens, Integers]:
    """The places of the best, their tokens, and how many each has."""
    judged = candidates.best()[: max(_JUDGED, query.limit + MORE)]
    parts = candidates.signals.tokens[judged].tolist()
    sizes = np.fromiter(map(len, parts), np.int64, len(parts)) // 2
    return judged, np.frombuffer(b"".join(parts), "<u2"), sizes


def _compared(
    model: WordVectors, question: str, rarity: Mapping[str, float]
) -> tuple[Vectors, Vectors]:
    """What passages are compared with, as directions: the whole question, and its telling words by tokens.

    And the weight of each of them; the whole has none.
    """
    stretches = in_english(question.split(maxsplit=_MOST_STRETCHES)[:_MOST_STRETCHES])
    read = [np.frombuffer(one, "<u2") & _TOKEN for one in model.spell([[s] for s in stretches])]
    weights: dict[int, float] = {}
    for stretch, tokens in zip(stretches, read, strict=True):
        rarest = max([rarity.get(word, 0.0) for word in words(stretch)], default=0.0)
        for token in tokens.tolist() if rarest else ():
            weights[token] = max(rarest / len(tokens), weights.get(token, 0.0))
    best = sorted(weights, key=lambda token: -weights[token])[:_MOST_TOKENS]
    every = np.concatenate([np.array(best, np.uint16), *read])
    directions, lengths = model.directions(every, _DIMENSIONS)
    whole = lengths[len(best) :] @ directions[len(best) :]
    whole /= np.maximum(np.linalg.norm(whole), _TINY)
    rarities = np.array([0.0, *(weights[token] for token in best)], np.float32)
    return np.concatenate([whole[None], directions[: len(best)]]), rarities


# OpenBLAS at times says of finite numbers that a product is none (numpy/numpy#24067).
@np.errstate(invalid="ignore")
def _of_best_passage(
    model: WordVectors, compared: Vectors, rarity: Vectors, tokens: Tokens, sizes: Integers
) -> Floats:
    """For each text how much of the question's words its best passage has, and how near that is."""
    known = tokens & _TOKEN
    met = np.zeros(WORD_START, np.bool_)
    met[known] = True
    distinct, place = met.nonzero()[0], np.empty(WORD_START, np.intp)
    place[distinct] = np.arange(len(distinct))
    at = place[known]
    directions, lengths = model.directions(distinct, _DIMENSIONS)
    alike = directions @ compared.T
    # Tokens of a passage are taken as unrelated: so its length is known without adding vectors.
    sums = np.array([alike[:, 0] * lengths, lengths * lengths])
    starts, texts, inside = _blocks(tokens, sizes)
    told = np.maximum.reduceat(alike.take(at, 0), starts)
    near, squares = np.add.reduceat(sums.take(at, 1), starts, axis=1)
    followed = np.append(texts[1:] == texts[:-1], False)  # by another block of the same text
    after = followed[:-1].nonzero()[0]
    told[after] = np.maximum(told[after], told[after + 1])
    near[after] += near[after + 1]
    squares[after] += squares[after + 1]
    result = np.zeros((2, len(sizes)), np.float32)
    # The last block of a longer text is only the second half of a passage.
    begins = (followed | (inside == 0)).nonzero()[0]
    found = np.array([told @ rarity, near / np.sqrt(np.maximum(squares, _TINY))])
    for best, values in zip(result, found, strict=True):
        np.maximum.at(best, texts[begins], values[begins])
    return result


def _blocks(tokens: Tokens, sizes: Integers) -> tuple[Integers, Integers, Integers]:
    """The first token of each block of words, of which text it is, and its number there."""
    words = (tokens >= WORD_START).nonzero()[0]
    ends = words.searchsorted(sizes.cumsum())
    lengths = np.diff(ends, prepend=0)
    counts = -(-lengths // _BLOCK)
    texts = np.arange(len(sizes)).repeat(counts)
    inside = np.arange(len(texts)) - (counts.cumsum() - counts)[texts]
    return words[(ends - lengths)[texts] + _BLOCK * inside], texts, inside


# A question about what the user did or has is answered by what they said about themselves.

_OF_ONESELF = re.compile(r"(?i)\b(?:did|do|does|have|had|has|was|were|am|is|are) (?:I|my)\b")
_I = [["I"], ["i"], ["My"], ["my"], ["me"], ["mine"], ["myself"]]
# The share of its score that a message keeps in which the user says none of these.
_NOT_OF_ONESELF = 0.8


def prefer_own(model: WordVectors) -> Stage:
    """A stage that puts messages in which the user speaks of himself before others, if he asks for that."""

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        if not (_OF_ONESELF.search(query.plan.text) and preference(query.plan.meant)):
            return candidates
        judged, tokens, sizes = _judged(query, candidates)
        first = np.frombuffer(b"".join([spelled[:2] for spelled in model.spell(_I)]), "<u2")
        said = judged.repeat(sizes)[np.isin(tokens, first)]
        is_own = candidates.signals.kind != TURN
        is_own[said[candidates.signals.role[said] == USER]] = True
        left = np.where(is_own, 1.0, _NOT_OF_ONESELF)
        return candidates.scored(candidates.score * left, {"own": left})

    return stage
