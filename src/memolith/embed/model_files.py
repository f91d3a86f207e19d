"""The files of the default model, as an ordinary package brings them: a table of vectors, and a tokenizer.

They are found without importing the package, which would cost a second.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memolith.embed.word_pieces import MARK, WordPieces
from memolith.errors import EmbeddingError
from memolith.interfaces import WORD_START

if TYPE_CHECKING:
    from tokenizers import Tokenizer


_PACKAGE = "wordllama"
_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_REINSTALL = f"Reinstall it: pip install --force-reinstall {_PACKAGE} tokenizers"
_WORDS_AT_ONCE = 500
_PAGE, _PAGES = 4096, 16


def open_table(dimensions: int) -> NDArray[np.float16]:
    """Map the table of token vectors: a safetensors file with one tensor of half floats.

    Raises EmbeddingError unless each has so many numbers, and tokens are no more than can be spelled.
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
            continue  # whoever needs the file says what is wrong with it
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


def open_pieces() -> WordPieces | None:
    """What spells few words without the library; None if the tokenizer is not as it should be."""
    try:
        return WordPieces.load(tokenizer_path())
    except (OSError, ValueError):
        return None  # the library says what is wrong with it


def open_tokenizer() -> Tokenizer:
    """The tokenizer of the library, which takes long to load."""
    try:
        from tokenizers import Tokenizer

        # Read by us: the library's own error for a missing file is a bare Exception.
        with open(tokenizer_path(), encoding="utf-8") as file:
            tokenizer = Tokenizer.from_str(file.read())
    except (ImportError, OSError, ValueError) as error:
        raise EmbeddingError(
            f"The default model's tokenizer cannot be read: {error}.", hint=_REINSTALL
        ) from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def tokenise(
    tokenizer: Tokenizer, words: Sequence[str]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tokens of all words, and where each word begins, by the library.

    Some hundred words at once: a call for each costs twenty times as much. A word's first token
    begins with a mark; a word that has the mark inside would upset the count, so it loses it.
    """
    ids: list[int] = []
    starts: list[int] = []
    for at in range(0, len(words), _WORDS_AT_ONCE):
        text = " ".join(word.replace(MARK, "_") for word in words[at : at + _WORDS_AT_ONCE])
        encoding = tokenizer.encode(text, add_special_tokens=False)
        starts += [
            len(ids) + number
            for number, token in enumerate(encoding.tokens)
            if token.startswith(MARK)
        ]
        ids += encoding.ids
    if len(starts) != len(words):
        raise EmbeddingError(
            "The default model's tokenizer does not begin words with its mark.", hint=_REINSTALL
        )
    return np.array(ids), np.array(starts)


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
