"""Keep texts within a budget: estimate their tokens."""

from __future__ import annotations

import math
import re

# Measured on two public tokenizers, of 100,000 and 200,000 entries: careful for Latin, Cyrillic and
# East Asian texts, between the two for other alphabets, where they differ by a factor of three.
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_ACCENTED = re.compile(r"[\u00c0-\u024f]")
_NUMBER = re.compile(r"[0-9]+")
_ALPHABET = re.compile(r"[\u0370-\u0dff\u10a0-\u10ff\u1200-\u137f]")
_SYLLABLE = re.compile(r"[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\uffef]")
_BEYOND = re.compile(r"[\u2190-\u2bff\U00010000-\U0010ffff]")  # emoji, rare characters
_MARKS = re.compile(r"[!-/:-@\[-`{-~]{1,3}|[\u00a0-\u00bf\u2010-\u2027\u2030-\u205e]")
_LINE_END = re.compile(r"\n\s*")


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model reads in a text; rather too many than too few.

    >>> estimate_tokens("We decided to use PostgreSQL."), estimate_tokens("我们决定使用新的数据库")
    (8, 11)
    """
    tokens = (
        sum(map(_COSTS.__getitem__, map(len, _LATIN_WORD.findall(text))))
        + sum(0.5 + math.ceil(len(number) / 3) for number in _NUMBER.findall(text))
        + len(_MARKS.findall(text))
        + len(_LINE_END.findall(text))
    )
    if not text.isascii():
        tokens += (
            len(_ACCENTED.findall(text)) / 2
            + len(_ALPHABET.findall(text)) / 2
            + len(_SYLLABLE.findall(text))
            + len(_BEYOND.findall(text)) * 2.5
        )
    return math.ceil(tokens)


class _Costs(dict[int, float]):
    """What a word of so many letters costs; a table, because a context has hundreds of words."""

    def __missing__(self, letters: int) -> float:
        # Nobody writes longer words than this by hand: keys and encoded data are read in small pieces.
        return max(1.0, letters / 5) if letters <= 24 else letters / 2


_COSTS = _Costs({letters: max(1.0, letters / 5) for letters in range(25)})
