"""What the index stores for a word and what a query asks for: stems, without words that say nothing.

Stop words also betray the language of a text, and that decides which stems its words get.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Literal, Protocol

from memolith.errors import StorageError
from memolith.text.tables import read_words, word_list
from memolith.text.tokens import fold, has_words_without_spaces, is_pair, words

Language = Literal["en", "es"]

LANGUAGES: tuple[Language, ...] = ("en", "es")

# Enough to tell the language of any text; more would only take time.
_MOST_WORDS_LOOKED_AT = 2_000


def is_stop_word(word: str, language: Language | None = None) -> bool:
    """Whether a word, in any case and with or without accents, says nothing about the subject.

    Some words do so in one language only: `son` is a verb form in Spanish and a child in English.
    They count only where the language is given.

    >>> is_stop_word("son"), is_stop_word("son", "es"), is_stop_word("Él"), is_stop_word("home")
    (False, True, True, False)
    """
    folded = fold(word)
    return folded in stop_words() or (language is not None and folded in _read(language))


def keywords(text: str) -> list[str]:
    """The words that say what a text is about, each once; all of them if every one is a stop word.

    >>> keywords("¿Qué hablamos sobre el proyecto Cookie?")
    ['hablamos', 'proyecto', 'cookie']
    >>> keywords("to be or not to be")
    ['to', 'be', 'or', 'not']
    """
    found = list(dict.fromkeys(words(text)))
    spoken = language_of(found)
    # What `is_stop_word` does for any word; these are folded already.
    everywhere, here = stop_words(), _read(spoken) if spoken else {}
    return [word for word in found if word not in everywhere and word not in here] or found


def language_of(folded: Iterable[str]) -> Language | None:
    """The language most stop words among these folded words belong to; None if it is not clear."""
    telling = _telling()
    seen = [telling[word] for word in islice(folded, _MOST_WORDS_LOOKED_AT) if word in telling]
    for language in LANGUAGES:
        if 4 * seen.count(language) > 3 * len(seen):
            return language
    return None


def telling_words(language: Language) -> frozenset[str]:
    """Stop words that only this language has, in every way they are commonly written."""
    folded = {word for word, spoken in _telling().items() if spoken == language}
    written = {word for word in _written(language) if fold(word) in folded} | folded
    return frozenset(written | {word.capitalize() for word in written})


@dataclass(frozen=True, slots=True)
class StopWords:
    """What the user changed in our list."""

    added: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()

    @classmethod
    def load(cls, text: str) -> StopWords:
        """From a file with a word in each line; `-word` removes one of ours, and # begins a comment.

        >>> StopWords.load("# mine\\nProject\\n-not")
        StopWords(added=frozenset({'project'}), removed=frozenset({'not'}))
        """
        lines = [line.partition("#")[0].strip() for line in text.splitlines()]
        return cls(
            frozenset(fold(line) for line in lines if line and not line.startswith("-")),
            frozenset(fold(line[1:].strip()) for line in lines if line.startswith("-")),
        )

    def applied(self, telling: Sequence[str], said: Sequence[str]) -> list[str]:
        """The telling words of a question as this user sees them; all, if none were left."""
        if not (self.added or self.removed):
            return list(telling)
        kept = {word for word in telling if word not in self.added}
        kept |= {word for word in said if word in self.removed}
        return [word for word in dict.fromkeys((*telling, *said)) if word in kept] or list(telling)


@cache
def stop_words() -> frozenset[str]:
    """Words, folded, that say nothing in whichever language they stand."""
    return frozenset().union(*(_without_star(language) for language in LANGUAGES))


@cache
def of_days() -> frozenset[str]:
    """Words, folded, that say nothing where days are asked for: what happened, was done, told or noted."""
    return frozenset(read_words("of_days.txt"))


@cache
def _telling() -> dict[str, Language]:
    """Stop words that only one language has."""
    english, spanish = _without_star("en"), _without_star("es")
    return {
        **dict.fromkeys(english - spanish, LANGUAGES[0]),
        **dict.fromkeys(spanish - english, LANGUAGES[1]),
    }


def _without_star(language: Language) -> frozenset[str]:
    return frozenset(word for word, starred in _read(language).items() if not starred)


@cache
def _read(language: Language) -> dict[str, bool]:
    """Each word of a list, folded, and whether it has a star."""
    return {fold(entry.removesuffix("*")): entry.endswith("*") for entry in _written(language)}


@cache
def _written(language: Language) -> list[str]:
    return read_words(f"stopwords.{language}.txt")


_SHORTEST, _LONGEST = 3, 32
# Words of every diary, which tell nothing about what it is about.
_GENERIC = word_list("generic")
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
    shortest = _SHORTEST if word.isascii() else 2
    is_generic = word in _GENERIC or _NUMBERS.fullmatch(word)
    return shortest <= len(word) <= _LONGEST and not is_generic


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - PyStemmer's name


# Marks a Spanish stem, so that `red`, a net, does not find what is red in an English text.
SPANISH = "~"


def is_second_form(term: str) -> bool:
    """Whether a term only stands beside another of the same word: a Spanish stem, half of a pair.

    >>> is_second_form("~reunion"), is_second_form("東"), is_second_form("東京"), is_second_form("a")
    (True, True, False, False)
    """
    return term[:1] == SPANISH or (len(term) == 1 and has_words_without_spaces(term))


def term_counts(text: str) -> dict[str, int]:
    """How often each term stands in a text, as the index stores it; none contains a space or a quote.

    An English text is stored by its English stems. Any other gets the Spanish ones as well, which
    also helps Portuguese, Italian and short records without a telling word. Queries ask for both,
    so they find the text however its language was judged, and English texts carry no Spanish
    stems that would match by accident (`case`, `casa` and `caso` share one).

    >>> term_counts("the meetings, the meeting"), term_counts("las reuniones")
    ({'the': 2, 'meet': 2}, {'las': 1, '~las': 1, 'reunion': 1, '~reunion': 1})
    """
    parts = Counter(text.split())
    found = list(zip(terms_of(parts), parts.values(), strict=True))
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


# The terms of a word in an English text and in any other, and the language it tells. The second holds all
# of the first.
WordTerms = tuple[tuple[str, ...], tuple[str, ...], Language | None]


def terms_of(stretches: Iterable[str]) -> list[WordTerms]:
    """The terms of each stretch between spaces."""
    # The cache must not keep whole files alive because they hold no space.
    return [_terms_of(one) if len(one) < 64 else _terms_of.__wrapped__(one) for one in stretches]


@lru_cache(maxsize=1 << 16)
def _terms_of(stretch: str) -> WordTerms:
    found = words(stretch)
    english, any_language = list[str](), list[str]()
    for word in found:
        # Of a pair a query of one character finds each.
        both = (word, word[0], word[1]) if is_pair(word) else stems(word)
        english += both if is_pair(word) else both[:1]
        any_language += both
    return tuple(english), tuple(any_language), language_of(found)


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
                hint="No file of the memory is wrong. Try again; if that does not help, reinstall Memolith.",
            ) from error
        stemmer = Stemmer.Stemmer(algorithm, 0)  # 0: `stems` keeps its own cache
        setattr(_loaded, algorithm, stemmer)
    return stemmer
