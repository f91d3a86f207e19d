"""Words that say nothing about what is looked for, and which language they betray."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import islice
from typing import Literal

from memolith.text.folding import fold
from memolith.text.tables import read_words, word_list
from memolith.text.tokens import words

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


def keywords(text: str, language: Language | None = None) -> list[str]:
    """The words that say what a text is about, each once; all of them if every one is a stop word.

    >>> keywords("¿Qué hablamos sobre el proyecto Cookie?")
    ['hablamos', 'proyecto', 'cookie']
    >>> keywords("to be or not to be")
    ['to', 'be', 'or', 'not']
    """
    found = list(dict.fromkeys(words(text)))
    spoken = language or language_of(found)
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


def language_told_by(word: str) -> Language | None:
    """The language a single folded word belongs to, if it is a stop word of only one."""
    return _telling().get(word)


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
    long_enough = len(word) >= (_SHORTEST if word.isascii() else 2)
    return (
        long_enough
        and len(word) <= _LONGEST
        and word not in _GENERIC
        and not _NUMBERS.fullmatch(word)
    )
