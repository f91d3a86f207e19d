"""The files of the default model, as an ordinary package brings them: a table of vectors, and a tokenizer.

They are found without importing the package, which would cost a second.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memolith.errors import EmbeddingError
from memolith.interfaces import WORD_START

_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_REINSTALL = f"Reinstall it: pip install --force-reinstall {_PACKAGE}"
_PAGE, _PAGES = 4096, 16
_MARK = "\u2581"  # a word begins with it
_FIRST_BYTE = 3  # the token of the byte 0; letters that have none are spelled in bytes


def open_table(dimensions: int) -> NDArray[np.float16]:
    """Map the table of token vectors: a safetensors file with one tensor of half floats.

    Raises EmbeddingError unless each has this many numbers and every token can be spelled.
    """
    table = _map_table(os.path.join(_folder(), _WEIGHTS))
    if table.ndim != 2 or table.shape[1] != dimensions or len(table) > WORD_START:
        shape = " by ".join(f"{size:,}" for size in table.shape)
        raise EmbeddingError(
            f"The default model of the package {_PACKAGE} is another one: its table is {shape} large.",
            hint=f"Install a version that fits: pip install '{_PACKAGE}>=0.4,<0.5'",
        )
    return table


def fingerprint() -> int:
    """A checksum that differs from model to model: of the sizes of its files, and of some pages of each.

    To read all of it would take longer than a search.
    """
    found = 0
    for name in (_WEIGHTS, _TOKENIZER):
        try:
            with open(os.path.join(_folder(), name), "rb", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                found = crc32(b"%d" % size, found)
                for number in range(_PAGES):
                    file.seek(size * number // _PAGES)
                    found = crc32(file.read(_PAGE), found)
        except OSError:
            continue  # the reader of the file says what is wrong with it
    return found


def _map_table(path: str) -> NDArray[np.float16]:
    try:
        with open(path, "rb") as file:
            (size,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(size, 1 << 20)))
        tensor = header["embedding.weight"]
        mapped = np.memmap(path, np.float16, "r", offset=8 + size, shape=tuple(tensor["shape"]))
        return np.asarray(mapped)  # an ordinary array is quicker to pick from
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise EmbeddingError(
            f"The default model cannot be read: {error}.",
            hint=_REINSTALL,
        ) from error


class WordPieces:
    """Spells words in tokens.

    Loading the tables of a library for it takes longer than a search. The vocabulary alone is read in a tenth
    of the time, and it is enough: of two neighbours that make a known token, those whose token has the
    lowest number are joined first.
    """

    def __init__(self) -> None:
        """The number of each token, from the tokenizer's file; raises EmbeddingError."""
        try:
            with open(tokenizer_path(), "rb") as file:
                data = file.read()
            start = data.index(b"{", data.index(b'"vocab"'))
            stop = data.rindex(b"}", start, data.index(b'"merges"', start))
            self._vocabulary: dict[str, int] = json.loads(data[start : stop + 1])
        except (OSError, ValueError) as error:
            raise EmbeddingError(
                f"The default model's tokenizer cannot be read: {error}.", hint=_REINSTALL
            ) from error

    def single(self, words: Iterable[str]) -> list[int]:
        """The tokens of those words that are one token."""
        found = (self._vocabulary.get(_MARK + word) for word in words)
        return [token for token in found if token is not None]

    def spell(self, word: str) -> list[int]:
        """The tokens of a word."""
        known = self._vocabulary
        word = _MARK + word.replace(_MARK, "_")
        if word in known:  # whatever is joined first, it ends there
            return [known[word]]
        pieces = list[str | int]()
        for letter in word:
            if letter in known:
                pieces.append(letter)
            else:
                pieces += [_FIRST_BYTE + byte for byte in letter.encode()]
        while joined := self._first_to_join(pieces):
            at = joined[1]
            pieces[at : at + 2] = [f"{pieces[at]}{pieces[at + 1]}"]
        return [known[piece] if isinstance(piece, str) else piece for piece in pieces]

    def _first_to_join(self, pieces: list[str | int]) -> tuple[int, int] | None:
        """The number of the token that is made next, and where."""
        known = self._vocabulary
        return min(
            (
                (known[one + other], at)
                for at, (one, other) in enumerate(pairwise(pieces))
                if isinstance(one, str) and isinstance(other, str) and one + other in known
            ),
            default=None,
        )


def tokenizer_path() -> str:
    """Where the tokenizer is."""
    return os.path.join(_folder(), _TOKENIZER)


@cache
def _folder() -> str:
    from importlib.util import find_spec

    spec = find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise EmbeddingError(
            f"The package {_PACKAGE}, which carries the default model, is not installed.",
            hint=f"Install it: pip install {_PACKAGE}. Until then search goes by words only.",
        )
    return spec.submodule_search_locations[0]
