"""What the index stores for a word and what a query asks for: stems, made so that both agree."""

from __future__ import annotations

import threading
from collections import Counter
from functools import lru_cache
from typing import Protocol

from memolith.errors import StorageError
from memolith.text import scripts
from memolith.text.stopwords import Language, language_of, language_told_by
from memolith.text.tokens import words


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - PyStemmer's name


# Marks a Spanish stem, so that `red`, a net, does not find what is red in an English text.
SPANISH = "~"


def _terms(found: list[str], *, english: bool) -> list[str]:
    terms = list[str]()
    for word in found:
        if scripts.is_pair(word):
            terms.extend((word, word[0], word[1]))  # so that a query of one character finds it
        else:
            terms.extend(stems(word)[:1] if english else stems(word))
    return terms


def is_second_form(term: str) -> bool:
    """Whether a term only stands beside another of the same word: a Spanish stem, half of a pair.

    >>> is_second_form("~reunion"), is_second_form("東"), is_second_form("東京"), is_second_form("a")
    (True, True, False, False)
    """
    return term[:1] == SPANISH or (len(term) == 1 and scripts.has_words_without_spaces(term))


def term_counts(text: str) -> dict[str, int]:
    """How often each term stands in a text, as the index stores it; none contains a space or a quote.

    An English text is stored by its English stems. Any other gets the Spanish ones as well, which
    also helps Portuguese, Italian and short records without a telling word. Queries ask for both,
    so they find the text however its language was judged, and English texts carry no Spanish
    stems that would match by accident (`case`, `casa` and `caso` share one).

    >>> term_counts("the meetings, the meeting"), term_counts("las reuniones")
    ({'the': 2, 'meet': 2}, {'las': 1, '~las': 1, 'reunion': 1, '~reunion': 1})
    """
    found = [(terms_of(part), count) for part, count in Counter(text.split()).items()]
    english = spanish = 0
    for (_, _, language), count in found:
        if language == "en":
            english += count
        elif language == "es":
            spanish += count
    is_english = english > 3 * spanish
    counts = dict[str, int]()
    for (in_english, in_any, _), count in found:
        for term in in_english if is_english else in_any:
            counts[term] = counts.get(term, 0) + count
    return counts


def terms_of(stretch: str) -> tuple[tuple[str, ...], tuple[str, ...], Language | None]:
    """The terms of a stretch in an English text and in any other, and the language it tells.

    The second holds all of the first.
    """
    # The cache must not keep whole files alive because they hold no space.
    return _terms_of(stretch) if len(stretch) < 64 else _terms_of.__wrapped__(stretch)


@lru_cache(maxsize=1 << 16)
def _terms_of(stretch: str) -> tuple[tuple[str, ...], tuple[str, ...], Language | None]:
    found = words(stretch)
    if len(found) == 1 and not scripts.is_pair(found[0]):
        return _terms_of_word(found[0])
    terms = tuple(tuple(_terms(found, english=english)) for english in (True, False))
    return terms[0], terms[1], language_of(found)


@lru_cache(maxsize=1 << 16)
def _terms_of_word(word: str) -> tuple[tuple[str, ...], tuple[str, ...], Language | None]:
    found = stems(word)
    return found[:1], found, language_told_by(word)


_LATIN = ("english", "spanish")  # a word alone does not tell which
# In these scripts one language is by far the commonest.
_ALGORITHMS = (
    ("α", "ω", "greek"),
    ("Ѐ", "ӿ", "russian"),
    ("ա", "և", "armenian"),
    ("ء", "ۿ", "arabic"),
    ("ऀ", "ॿ", "hindi"),
    ("஀", "௿", "tamil"),
)


@lru_cache(maxsize=1 << 16)
def stems(word: str) -> tuple[str, ...]:
    """The stems of one folded word, the English one first; a word with digits or marks is its own.

    >>> stems("alergias"), stems("running"), stems("v2.1")
    (('alergia', '~alerg'), ('run', '~running'), ('v2.1',))
    """
    return tuple(_stem(word, algorithm) for algorithm in _algorithms(word)) or (word,)


@lru_cache(maxsize=1 << 14)
def stem(word: str, language: Language) -> str:
    """The stem of one folded word in one language."""
    algorithms = _algorithms(word)
    return _stem(word, algorithms[-1 if language == "es" else 0]) if algorithms else word


def _algorithms(word: str) -> tuple[str, ...]:
    if word.isascii():
        return _LATIN if word.isalpha() else ()
    if any("\ud800" <= letter <= "\udfff" for letter in word):
        return ()  # half a character, which the stemmer cannot read
    for first, last, algorithm in _ALGORITHMS:
        if first <= word[0] <= last:
            return (algorithm,)
    return ()


def _stem(word: str, algorithm: str) -> str:
    if algorithm != "spanish":
        return _stemmer(algorithm).stemWord(word)
    # Snowball knows hablábamos by its accent, which folding took away.
    found = _stemmer(algorithm).stemWord(word.replace("abamos", "ábamos"))
    # … and leaves the i of vivía, decidió and familia, which vivir and decidir do not have.
    return SPANISH + (found[:-1] if found.endswith("i") and len(found) > 3 else found)


_loaded = threading.local()  # a stemmer is not safe to share between threads


def _stemmer(algorithm: str) -> _Stemmer:
    stemmer: _Stemmer | None = getattr(_loaded, algorithm, None)
    if stemmer is None:
        try:
            import Stemmer  # type: ignore[import-not-found]
        except ImportError as error:
            # Not to be passed over: words without stems would not be found beside those with them.
            raise StorageError(
                f"The library that knows word stems cannot be loaded: {error}.",
                path=error.path or "Stemmer",
                errno=0,
                hint="No file of the memory is wrong. Try again; if it stays so, install Memolith anew.",
            ) from error
        stemmer = Stemmer.Stemmer(algorithm, 0)  # 0: `stems` keeps its own cache
        setattr(_loaded, algorithm, stemmer)
    return stemmer
