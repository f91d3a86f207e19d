"""The default model: word vectors that come inside an ordinary package, so nothing is downloaded.

A text's vector is the weighted mean of its tokens' vectors. Tokens never cross a space, so each
distinct word is tokenised once and remembered: that makes embedding a matter of adding rows.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.embed.model_files import (
    fingerprint,
    open_pieces,
    open_table,
    open_tokenizer,
    tokenise,
)
from memolith.embed.word_pieces import MARK
from memolith.interfaces import WORD_START, Column, Vectors
from memolith.text.stopwords import is_stop_word, stop_words
from memolith.text.synonyms import in_english
from memolith.text.tokens import MARKS

_NAME = "wordllama-l2-supercat/3"  # the number is that of our rule to make vectors of the table
_MOST_WORDS = 100_000  # a kilobyte each
_MOST_STRETCHES = 1_000_000  # a word with the marks around it; some bytes each
_ROOM = 120_000  # rows that are there but cost nothing while they are zeros
_LONGEST_WORD = 100
# So many new words at once are worth loading the library for.
_FEW_WORDS = 1_000
_QUESTION = 64  # words; so few are picked out one by one faster than at once
# How much a word like "the" adds to the vector of a text, against 1 for one that says something.
STOP_WORD = 0.3
_SHORTEST = np.float32(1e-6)  # of a vector that says nothing


class StaticModel:
    """Vectors of 256 numbers from a table of tokens; some thousand texts a second on one core.

    Safe to share between threads: a search has it while chunks are embedded in the background.
    """

    dimensions = 256
    is_remote = False

    def __init__(self) -> None:
        """Nothing is learned yet."""
        self._guard = threading.RLock()  # over what is learned until the rows of it are read
        self._table = open_table(self.dimensions)
        # Vectors are kept by this name: those of other weights, or of another rule of ours, are no use.
        self.name = f"{_NAME}-{len(self._table)}x{self.dimensions}-{fingerprint():08x}"
        self._pieces = open_pieces()
        self._tokenizer = None if self._pieces else open_tokenizer()
        # The vectors of tokens met so far, side by side: scattered, each would take a page of memory,
        # which is large here. The first row is that of no token.
        self._weighted = np.zeros((_FEW_WORDS, self.dimensions), np.float32)
        self._weighted_rows = np.zeros(len(self._table), np.intp)  # by token; 0: not met yet
        self._met = 1
        # The same cut to what was asked for last, as directions and lengths: short rows are quicker to
        # pick out. A length of 0 is not known yet.
        self._directions = np.zeros((0, 0), np.float32)
        self._lengths = np.zeros(len(self._table), np.float32)
        self._token_weights: Vectors | None = None
        self._forget()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; zeros for a text without words."""
        said = [in_english(text.split()) for text in texts]
        result = np.zeros((len(texts), self.dimensions), np.float32)
        with self._guard:
            self._learn(set().union(*said))
            row = self._rows.__getitem__
            for at, stretches in enumerate(said):
                rows = np.fromiter(map(row, stretches), np.intp, len(stretches))
                np.add.reduce(self._sums.take(rows, axis=0), axis=0, out=result[at])
        lengths = np.sqrt(np.add.reduce(result * result, axis=1, keepdims=True))
        result /= np.where(lengths == 0, 1, lengths)
        return result

    def spell(self, texts: Sequence[Sequence[str]]) -> list[bytes]:
        """Each text as tokens, two bytes each; the first token of a word has its top bit set."""
        sizes = [len(stretches) for stretches in texts]
        with self._guard:
            self._learn(set().union(*texts))
            if sum(sizes) <= _QUESTION:
                return [b"".join(map(self._spelled, stretches)) for stretches in texts]
            row = self._rows.__getitem__
            rows = np.fromiter(map(row, chain.from_iterable(texts)), np.intp, sum(sizes))
            data, ends = self._tokens_of(rows)
        every = [0, *ends.tolist()]
        bounds = (every[count] for count in accumulate(sizes, initial=0))
        return [data[start:stop] for start, stop in pairwise(bounds)]

    def _spelled(self, stretch: str) -> bytes:
        row = self._rows[stretch]
        return self._tokens[self._bounds[row] : self._bounds[row + 1]].tobytes()

    def _tokens_of(self, rows: NDArray[np.intp]) -> tuple[bytes, NDArray[np.int64]]:
        """The tokens of words, one after the other, and where those of each end."""
        bounds = np.frombuffer(self._bounds, np.int64)
        starts = bounds[rows]
        sizes = bounds[rows + 1] - starts
        ends = sizes.cumsum()
        at = (starts - ends + sizes).repeat(sizes)
        at += np.arange(len(at))
        return np.frombuffer(self._tokens, "<u2")[at].tobytes(), 2 * ends

    def directions(self, tokens: Column, dimensions: int) -> tuple[Vectors, Vectors]:
        """The first numbers of the vector of each token, made a vector of length 1, and the length they had.

        The vector of a word is the sum of its tokens'.
        """
        with self._guard:
            if self._directions.shape[1] != dimensions:
                self._directions = np.zeros((len(self._table), dimensions), np.float32)
                self._lengths[:] = 0
            lengths: Vectors = self._lengths.take(tokens)
            if not lengths.all():
                self._cut(tokens[lengths == 0].astype(np.intp), dimensions)
                lengths = self._lengths.take(tokens)
            return self._directions.take(tokens, axis=0), lengths

    def _cut(self, tokens: NDArray[np.intp], dimensions: int) -> None:
        vectors = _weighed(self._table[tokens, :dimensions], tokens)
        vectors *= self._stop_word_weights()[tokens, None]
        lengths = np.maximum(np.linalg.norm(vectors, axis=1), _SHORTEST)
        self._directions[tokens] = vectors / lengths[:, None]
        self._lengths[tokens] = lengths

    def _stop_word_weights(self) -> Vectors:
        """How much each token counts: less if a word that says nothing is this one token."""
        if self._token_weights is None:
            self._token_weights = np.ones(len(self._table), np.float32)
            whole = [form for word in stop_words() for form in (word, word.capitalize())]
            self._token_weights[self._single(whole)] = STOP_WORD
        return self._token_weights

    def _forget(self) -> None:
        # What stands between spaces, as it stands there, and its row in the array below.
        self._rows: dict[str, int] = {}
        self._words: dict[str, int] = {"": 0}  # the same for bare words; none is zeros
        # Their tokens one after the other, and where those of each row end; the first row has none.
        self._tokens, self._bounds = array("H"), array("q", [0, 0])
        self._sums = np.zeros((_ROOM, self.dimensions), np.float32)

    def _learn(self, stretches: Iterable[str]) -> None:
        """Tokenise the words not met before and remember the sum of their tokens' vectors."""
        if len(self._words) > _MOST_WORDS or len(self._rows) > _MOST_STRETCHES:
            self._forget()
        bare = {stretch: _word(stretch) for stretch in stretches if stretch not in self._rows}
        new = [word for word in dict.fromkeys(bare.values()) if word not in self._words]
        if new:
            ids, starts = self._tokenise(new)
            rows = self._weigh(ids)
            first = len(self._words)
            self._sums = _with_room(self._sums, first + len(new))
            sums = self._sums[first : first + len(new)]
            _add_up(self._weighted, rows, starts, sums)
            sums[[is_stop_word(word) for word in new]] *= STOP_WORD
            self._words |= zip(new, range(first, first + len(new)), strict=True)
            marked = ids.astype("<u2")
            marked[starts] += np.uint16(WORD_START)
            end = len(self._tokens)
            self._tokens.frombytes(marked.tobytes())
            self._bounds.extend((end + np.append(starts[1:], len(ids))).tolist())
        self._rows |= {stretch: self._words[word] for stretch, word in bare.items()}

    def _weigh(self, ids: NDArray[np.integer[Any]]) -> NDArray[np.intp]:
        """The rows of tokens, whose vectors are weighed by how much they tell when they are first met."""
        rows: NDArray[np.intp] = self._weighted_rows.take(ids)
        if rows.all():
            return rows
        new = _those_not(self._weighted_rows, ids)
        stop = self._met + len(new)
        self._weighted = _with_room(self._weighted, stop)
        self._weighted[self._met : stop] = _weighed(self._table[new], new)
        self._weighted_rows[new] = np.arange(self._met, stop)
        self._met = stop
        return self._weighted_rows.take(ids)

    def _single(self, words: Sequence[str]) -> list[int]:
        """The tokens of those words that are one token."""
        if self._pieces is not None:
            return self._pieces.single(words)
        spelled = [tokens for tokens in self.spell([[word] for word in words]) if len(tokens) == 2]
        return [token - WORD_START for token in np.frombuffer(b"".join(spelled), "<u2").tolist()]

    def _tokenise(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of all words, and where each word begins."""
        few = self._tokenizer is None and len(words) <= _FEW_WORDS
        if self._pieces is not None and few and not any("<" in word for word in words):
            spelled = [self._pieces.spell(word.replace(MARK, "_")) for word in words]
            sizes = [len(tokens) for tokens in spelled]
            return np.array(list(chain.from_iterable(spelled))), np.cumsum([0, *sizes[:-1]])
        if self._tokenizer is None:
            self._tokenizer = open_tokenizer()
        return tokenise(self._tokenizer, words)


def _with_room(vectors: Vectors, rows: int) -> Vectors:
    """The same with at least so many rows; twice as many if they are too few."""
    if rows <= len(vectors):
        return vectors
    grown = np.zeros((max(rows, 2 * len(vectors)), vectors.shape[1]), np.float32)
    grown[: len(vectors)] = vectors
    return grown


def _weighed(vectors: NDArray[np.float16], tokens: NDArray[np.integer[Any]]) -> Vectors:
    """The vectors of tokens, each by how much it tells.

    Tokens are numbered as they were learned, the commonest first: the logarithm of the number is a
    fair guess at how much a token tells, from nothing but the vocabulary.
    """
    weighed: Vectors = vectors.astype(np.float32)
    weighed *= np.log(tokens + 1.0).astype(np.float32)[:, None]
    return weighed


def _those_not(
    known: NDArray[np.generic], tokens: NDArray[np.integer[Any]]
) -> NDArray[np.integer[Any]]:
    """Each of the tokens that is not known, once."""
    return np.array(sorted(set(tokens[known[tokens] == 0].tolist())), np.intp)


def _add_up(
    table: Vectors, ids: NDArray[np.int64], starts: NDArray[np.int64], out: Vectors
) -> None:
    """For each start the sum of the rows named from there to the next: a faster `np.add.reduceat`."""
    counts = np.diff(starts, append=len(ids))
    out[:] = table[ids[starts]]
    more, after = np.flatnonzero(counts > 1), 1
    while len(more):
        out[more] += table[ids[starts[more] + after]]
        after += 1
        more = more[counts[more] > after]


def _word(stretch: str) -> str:
    """A bare word; "" for what is longer than any word (a key, base64): it has no meaning to add."""
    word = stretch.encode(errors="ignore").decode().strip(MARKS)
    return word if len(word) <= _LONGEST_WORD else ""
