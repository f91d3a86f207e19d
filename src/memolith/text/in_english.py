"""Spanish words as English ones, for a model that knows English best.

The default model has seen little Spanish: two Spanish texts are near each other because they are
Spanish, not because they say the same. So what is written in Spanish is read by it word for word in
English, as far as our list of synonyms goes. A rough translation, but only ever compared with others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from memolith.text.folding import fold
from memolith.text.stopwords import is_stop_word, telling_words
from memolith.text.synonyms import knows, synonyms_of
from memolith.text.tokens import MARKS

_MOST_WORDS = 100_000  # some hundred bytes each
_SHORT = 8  # a text without any small word is a few keywords; a longer one a table, or code


def in_english(stretches: Sequence[str]) -> Sequence[str]:
    """The words of a text, as they stand between spaces; those of a Spanish one in English.

    A word that our list does not have stays as it is, one that says nothing becomes "".

    >>> in_english("¿Cómo se llama mi perro?".split())
    ['', '', 'name', '', 'dog']
    """
    return [_translated(stretch) for stretch in stretches] if _is_spanish(stretches) else stretches


def _is_spanish(stretches: Sequence[str]) -> bool:
    """Whether a text is clearly Spanish: by its small words or, if it has none, by all others."""
    found = frozenset(stretches)
    english, spanish = (len(found & words) for words in _telling())
    if english or spanish:
        return spanish > 3 * english
    return len(found) <= _SHORT and _is_spanish_by_its_words(found)


def _is_spanish_by_its_words(found: Iterable[str]) -> bool:
    """Whether words are Spanish ones; capitals alone are no sign: Dolores, Rosa and Tomás are names."""
    read = [stretch.strip(MARKS) for stretch in found]
    folded = [(word, fold(word)) for word in read]
    return any(knows(plain, "es") and not word.istitle() for word, plain in folded) and not any(
        knows(plain, "en") for _, plain in folded
    )


@cache
def _telling() -> tuple[frozenset[str], frozenset[str]]:
    """Small words that only one language has, as they stand in a text: looking is all it takes."""
    return telling_words("en"), telling_words("es")


@lru_cache(_MOST_WORDS)
def _translated(stretch: str) -> str:
    word = fold(stretch.strip(MARKS))
    if is_stop_word(word, "es"):
        return ""
    found = [one.text for one in synonyms_of(word, language="es") if one.language == "en"]
    return min(found, key=lambda text: " " in text, default=stretch).replace(" ", "-")
