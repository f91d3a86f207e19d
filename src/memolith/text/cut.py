"""The beginning of a text: cut at a word, and saying what was left out."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The beginning of a text, and how many characters of it are missing."""

    text: str
    left_out: int


# What belongs to the character before it: marks, joiners, variation selectors, skin tones.
_ATTACHED = re.compile(
    r"[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
    r"\u200c\u200d\u20d0-\u20ff\u3099\u309a\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)


def cut(text: str, max_chars: int) -> Cut:
    """At most so many characters, ending with a whole word if there is one near the end.

    >>> cut("Ana owns the release key", 15)
    Cut(text='Ana owns the', left_out=12)
    >>> cut("short", 15)
    Cut(text='short', left_out=0)
    """
    if len(text) <= max_chars:
        return Cut(text=text, left_out=0)
    end = max(max_chars, 0)
    while end and (_ATTACHED.match(text, end) or text[end - 1] == "\u200d"):
        end -= 1
    kept = text[:end]
    if end and not text[end].isspace():
        # A text without spaces, or with one very long word, is cut inside the word.
        head = kept.rsplit(None, 1)[0] if len(kept.split()) > 1 else ""
        kept = head if len(head) * 2 >= max_chars else kept
    kept = kept.rstrip()
    return Cut(text=kept, left_out=len(text) - len(kept))
