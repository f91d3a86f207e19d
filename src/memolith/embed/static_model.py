"""The default model: word vectors that come inside an ordinary package, so nothing is downloaded.

A text's vector is the weighted mean of its tokens' vectors. Tokens never cross a space, so each
distinct word is tokenised once and remembered: that makes embedding a matter of adding rows.
"""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING

import numpy as np

from memolith.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from memolith.interfaces import Vectors

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_REINSTALL = f"Reinstall it: pip install --force-reinstall {_PACKAGE} tokenizers"
_MOST_WORDS = 300_000
_LONGEST_WORD = 100
_WORDS_AT_ONCE = 500
_MARK = "\u2581"
_EDGES = ".,;:!?\"'`()[]{}<>*_~|#=+/\\\u2026\u00bf\u00a1\u201c\u201d\u2018\u2019-"


class StaticModel:
    """Vectors of 256 numbers from a table of tokens; some thousand texts a second on one core."""

    name = "wordllama-l2-supercat-256/1"
    dimensions = 256

    def __init__(self) -> None:
        """Find the package's data without importing the package, which would cost a second."""
        folder = _package_folder(_PACKAGE)
        self._table = _open_table(os.path.join(folder, _WEIGHTS))
        self._tokenizer = _open_tokenizer(os.path.join(folder, _TOKENIZER))
        self._rows: dict[str, int] = {}  # of each word met so far in the two arrays below
        self._sums = np.empty((0, self.dimensions), np.float32)
        self._counts = np.empty(0, np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; zeros for a text without words."""
        split = [_words(text) for text in texts]
        self._learn({word for words in split for word in words})
        result = np.zeros((len(texts), self.dimensions), np.float32)
        for at, words in enumerate(split):
            if words:
                rows = [self._rows[word] for word in words]
                result[at] = self._sums[rows].sum(axis=0) / self._counts[rows].sum()
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        result /= np.where(lengths == 0, 1, lengths)
        return result

    def _learn(self, words: Iterable[str]) -> None:
        """Tokenise the words not met before and remember the sum of their tokens' vectors."""
        if len(self._rows) > _MOST_WORDS:
            self._rows.clear()
            self._sums, self._counts = self._sums[:0], self._counts[:0]
        new = [word for word in words if word not in self._rows]
        if not new:
            return
        ids, starts = self._tokenise(new)
        sums = np.add.reduceat(self._table[ids].astype(np.float32), starts)
        counts = np.diff(np.append(starts, len(ids)))
        self._rows |= zip(new, range(len(self._rows), len(self._rows) + len(new)), strict=True)
        self._sums = np.concatenate([self._sums, sums])
        self._counts = np.concatenate([self._counts, counts.astype(np.float32)])

    def _tokenise(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The tokens of all words, and where each word begins.

        Some hundred words at once: a call for each costs twenty times as much. A word's first token
        begins with a mark; a word that has the mark inside would upset the count, so it loses it.
        """
        ids: list[int] = []
        starts: list[int] = []
        for at in range(0, len(words), _WORDS_AT_ONCE):
            text = " ".join(word.replace(_MARK, "_") for word in words[at : at + _WORDS_AT_ONCE])
            encoding = self._tokenizer.encode(text, add_special_tokens=False)
            starts += [
                len(ids) + number
                for number, token in enumerate(encoding.tokens)
                if token.startswith(_MARK)
            ]
            ids += encoding.ids
        if len(starts) != len(words):
            raise EmbeddingError(
                "The default model's tokenizer does not begin words with its mark.", hint=_REINSTALL
            )
        return np.array(ids), np.array(starts)


def _words(text: str) -> list[str]:
    """The text at its spaces; what is longer than any word (a key, base64) has no meaning to add."""
    words = (word.strip(_EDGES) for word in text.encode(errors="ignore").decode().split())
    return [word for word in words if 0 < len(word) <= _LONGEST_WORD]


def _package_folder(name: str) -> str:
    from importlib.util import find_spec

    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(
            f"The package {name}, which carries the default model, is not installed.",
            hint=f"Install it: pip install {name}. Until then search goes by words only.",
        )
    return spec.submodule_search_locations[0]


def _open_table(path: str) -> NDArray[np.float16]:
    """Map the table of token vectors: a safetensors file with one tensor of half floats."""
    try:
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, 1 << 20)))
        tensor = header["embedding.weight"]
        return np.memmap(path, np.float16, "r", offset=8 + size, shape=tuple(tensor["shape"]))
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise EmbeddingError(
            f"The default model cannot be read: {error}.",
            hint=_REINSTALL,
        ) from error


def _open_tokenizer(path: str) -> Tokenizer:
    try:
        from tokenizers import Tokenizer

        # Read by us: the library's own error for a missing file is a bare Exception.
        with open(path, encoding="utf-8") as file:
            tokenizer = Tokenizer.from_str(file.read())
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingError(
            f"The default model's tokenizer cannot be read: {error}.", hint=_REINSTALL
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer
