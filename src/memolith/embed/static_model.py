"""The default model: word vectors that come inside an ordinary package, so nothing is downloaded.

A text's vector is the weighted mean of its tokens' vectors. Tokens never cross a space, so each
distinct word is tokenised once and remembered: that makes embedding a matter of adding rows.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.embed.model_files import WordPieces, fingerprint, open_table
from memolith.interfaces import WORD_START, Column, Vectors
from memolith.text.synonyms import in_english
from memolith.text.terms import is_stop_word, stop_words
from memolith.text.tokens import MARKS

_NAME = "wordllama-l2-supercat/3"  # the number is that of our rule to make vectors of the table
_MOST_WORDS = 100_000  # a kilobyte each
_MOST_STRETCHES = 1_000_000  # a word with the marks around it; some bytes each
_LONGEST_WORD = 100
_FIRST_ROWS = 1_000
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
        self._pieces = WordPieces()
        # The vectors of tokens met so far, cut to what was asked for last, as directions and lengths: short
        # rows are quicker to pick out. A length of 0 is not known yet.
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
        with self._guard:
            self._learn(set().union(*texts))
            return [
                b"".join([self._tokens[self._rows[stretch]] for stretch in stretches])
                for stretches in texts
            ]

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
            self._token_weights[self._pieces.single(whole)] = STOP_WORD
        return self._token_weights

    def _forget(self) -> None:
        # The words between spaces, unchanged, and the row of each below.
        self._rows: dict[str, int] = {}
        self._words: dict[str, int] = {"": 0}  # the same for bare words; none is zeros
        self._tokens = [b""]
        self._sums = np.zeros((_FIRST_ROWS, self.dimensions), np.float32)

    def _learn(self, stretches: Iterable[str]) -> None:
        """Spell the words not met before and remember the sum of their tokens' vectors."""
        if len(self._words) > _MOST_WORDS or len(self._rows) > _MOST_STRETCHES:
            self._forget()
        bare = {stretch: _word(stretch) for stretch in stretches if stretch not in self._rows}
        new = [word for word in dict.fromkeys(bare.values()) if word not in self._words]
        if new:
            spelled = [self._pieces.spell(word) for word in new]
            sizes = np.array([len(tokens) for tokens in spelled])
            starts = sizes.cumsum() - sizes
            ids = np.array(list(chain.from_iterable(spelled)))
            first, stop = len(self._words), len(self._words) + len(new)
            self._sums = _with_room(self._sums, stop)
            sums = self._sums[first:stop]
            np.add.reduceat(_weighed(self._table[ids], ids), starts, axis=0, out=sums)
            sums[[is_stop_word(word) for word in new]] *= STOP_WORD
            self._words |= zip(new, range(first, stop), strict=True)
            marked = ids.astype("<u2")
            marked[starts] += np.uint16(WORD_START)
            self._tokens += [part.tobytes() for part in np.split(marked, starts[1:])]
        self._rows |= {stretch: self._words[word] for stretch, word in bare.items()}


def _with_room(vectors: Vectors, rows: int) -> Vectors:
    """The same with at least this many rows; twice as many if they are too few."""
    if rows <= len(vectors):
        return vectors
    grown = np.zeros((max(rows, 2 * len(vectors)), vectors.shape[1]), np.float32)
    grown[: len(vectors)] = vectors
    return grown


def _weighed(vectors: NDArray[np.float16], tokens: NDArray[np.integer[Any]]) -> Vectors:
    """The vectors of tokens, each by its weight.

    Tokens are numbered as they were learned, the commonest first: the logarithm of the number is a
    fair guess at the weight of a token, from nothing but the vocabulary.
    """
    weighed: Vectors = vectors.astype(np.float32)
    weighed *= np.log(tokens + 1.0).astype(np.float32)[:, None]
    return weighed


def _word(stretch: str) -> str:
    """A bare word; "" for what is longer than any word (a key, base64): it has no meaning to add."""
    word = stretch.encode(errors="ignore").decode().strip(MARKS)
    return word if len(word) <= _LONGEST_WORD else ""
