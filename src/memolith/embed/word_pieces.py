"""The tokens of single words, without the library that reads whole texts.

Loading the library's tables takes longer than a search, and a question has few words. The vocabulary
alone is read in a tenth of the time, and it is enough: of two neighbours that make a known token, those
whose token has the lowest number are joined first. That holds for one vocabulary, which is known by
its checksum; with any other the library is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import pairwise
from zlib import crc32

_KNOWN = 0x3FAF5800
MARK = "\u2581"  # a word begins with it
_FIRST_BYTE = 3  # the token of the byte 0; letters that have none are spelled in bytes


class WordPieces:
    """Spells words in tokens."""

    def __init__(self, vocabulary: dict[str, int]) -> None:
        """The number of each token."""
        self._vocabulary = vocabulary

    @classmethod
    def load(cls, path: str) -> WordPieces | None:
        """Those of a tokenizer's file; None if it is not the one whose rule is known here."""
        with open(path, "rb") as file:
            data = file.read()
        if crc32(data) != _KNOWN:
            return None
        start = data.index(b"{", data.index(b'"vocab"'))
        stop = data.rindex(b"}", start, data.index(b'"merges"', start))
        return cls(json.loads(data[start : stop + 1].decode()))

    def single(self, words: Iterable[str]) -> list[int]:
        """The tokens of those words that are one token."""
        found = (self._vocabulary.get(MARK + word) for word in words)
        return [token for token in found if token is not None]

    def spell(self, word: str) -> list[int]:
        """The tokens of a word; one with a `<` may be a name of the library's own, and has none here."""
        known = self._vocabulary
        if MARK + word in known:  # whatever is joined first, of this vocabulary, it ends there
            return [known[MARK + word]]
        pieces = list[str | int]()
        for letter in MARK + word:
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
