"""Keep texts within a budget: estimate their tokens."""

from __future__ import annotations

import math
import re

# Measured on two public tokenizers, of 100,000 and 200,000 entries: careful for Latin, Cyrillic and
# East Asian texts, between the two for other alphabets, where they differ by a factor of three.
_LATIN_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]+")
_NUMBER = re.compile(r"[0-9]+")
_PLAIN = {
    re.compile(r"[!-/:-@\[-`{-~]{1,3}|[\u00a0-\u00bf\u2010-\u2027\u2030-\u205e]"): 1,  # marks
    re.compile(r"\n\s*"): 1,
}
_BEYOND_ASCII = {
    re.compile(r"[\u00c0-\u024f]"): 0.5,  # letters with accents
    re.compile(r"[\u0370-\u0dff\u10a0-\u10ff\u1200-\u137f]"): 0.5,  # letters of other alphabets
    re.compile(
        r"[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\ud7ff\uf900-\uffef]"
    ): 1,  # syllables
    re.compile(r"[\u2190-\u2bff\U00010000-\U0010ffff]"): 2.5,  # emoji, rare characters
}


def estimate_tokens(text: str) -> int:
    """About how many tokens a language model reads in a text; rather too many than too few.

    >>> estimate_tokens("We decided to use PostgreSQL."), estimate_tokens("我们决定使用新的数据库")
    (8, 11)
    """
    costs = _PLAIN if text.isascii() else _PLAIN | _BEYOND_ASCII
    tokens = sum(map(_cost, _LATIN_WORD.findall(text)))
    tokens += sum(0.5 + math.ceil(len(number) / 3) for number in _NUMBER.findall(text))
    return math.ceil(tokens + sum(cost * len(one.findall(text)) for one, cost in costs.items()))


def _cost(word: str) -> float:
    # Nobody writes words of more than 24 letters by hand: keys are read in small pieces.
    return max(1.0, len(word) / 5) if len(word) <= 24 else len(word) / 2


# What belongs to the character before it: marks, joiners, variation selectors, skin tones.
_ATTACHED = re.compile(
    r"[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    r"\u200c\u200d\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)


def cut(text: str, max_chars: int, mark: str = "") -> str:
    """At most this many characters, ending with a whole word if there is one near the end.

    >>> cut("Ana owns the release key", 15, " …"), cut("short", 15, " …")
    ('Ana owns the …', 'short')
    """
    if len(text) <= max_chars:
        return text
    end = max(max_chars, 0)
    while end and (_ATTACHED.match(text, end) or text[end - 1] == "\u200d"):
        end -= 1
    kept = text[:end]
    if end and not text[end].isspace():
        # A text without spaces, or with one very long word, is cut inside the word.
        head = kept.rsplit(None, 1)[0] if len(kept.split()) > 1 else ""
        kept = head if len(head) * 2 >= max_chars else kept
    return kept.rstrip() + mark
