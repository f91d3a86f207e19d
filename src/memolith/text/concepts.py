"""What a statement is about, in a few words: the tags that dreaming counts into themes."""

from __future__ import annotations

import re
from functools import lru_cache

from memolith.text.stopwords import keywords

_SHORTEST, _LONGEST = 3, 32
# Words of every diary, which tell nothing about what it is about.
_GENERIC = frozenset(
    "also always back can day days done file get got going good has have just like lot made make many"
    " memory need new note notes now often one really record said say says see set still take text thing"
    " things think time today tomorrow use used uses user using want wants way week well will work year"
    " yesterday dia dias hace hacer hecho hoy manana nota notas nuevo siempre tiempo usa usar usuario ayer"
    " quiere tiene vez".split()
)
_NUMBERS = re.compile(r"[\d.,:/_-]+(?:st|nd|rd|th)?", re.ASCII)


def concept_tags(text: str, most: int = 8) -> tuple[str, ...]:
    """The first telling words of a text, each once.

    >>> concept_tags("Cookie the dog weighs 12 kg and loves carrots")
    ('cookie', 'dog', 'weighs', 'loves', 'carrots')
    """
    return tuple([word for word in keywords(text) if _tells(word)][:most])


# Texts repeat their words.
@lru_cache(maxsize=1 << 14)
def _tells(word: str) -> bool:
    long_enough = len(word) >= (_SHORTEST if word.isascii() else 2)
    return (
        long_enough
        and len(word) <= _LONGEST
        and word not in _GENERIC
        and not _NUMBERS.fullmatch(word)
    )
