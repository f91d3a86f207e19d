"""Words that mean the same, across English and Spanish and within each."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cache

from memolith.text.folding import fold
from memolith.text.stopwords import LANGUAGES, is_stop_word
from memolith.text.terms import stems
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memolith.text.stopwords import Language

# Enough for the common meanings of a word; more would drown the word itself.
MOST_SYNONYMS = 16
_MOST_WORDS_OF_A_PHRASE = 3
_MOST_CHARS_OF_A_LINE = 2_000


@dataclass(frozen=True, slots=True)
class Synonyms:
    """Meanings, each with its words in both languages, and where every word is found.

    `problems` says which lines of the source could not be read.
    """

    meanings: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    problems: tuple[str, ...] = ()
    _by_word: tuple[dict[str, list[int]], ...] = field(default_factory=lambda: ({}, {}))
    _by_stem: tuple[dict[str, list[int]], ...] = field(default_factory=lambda: ({}, {}))

    def find(self, phrase: str, language: Language | None) -> tuple[int, ...]:
        """The numbers of a phrase's meanings: as it is written, else its singular, else its stem.

        In a text of known language a word is first looked up in that language, so that the English
        `red` is a colour and the Spanish one a net.
        """
        asked = (language,) if language else LANGUAGES
        for form in _singulars(phrase):
            if found := self._look_up(self._by_word, asked, form):
                return found
        if found := self._look_up_stem(asked, phrase):
            return found
        others = tuple(other for other in LANGUAGES if other not in asked)
        return self._look_up(self._by_word, others, phrase) or self._look_up_stem(others, phrase)

    def _look_up(
        self, table: tuple[dict[str, list[int]], ...], asked: Sequence[Language], form: str
    ) -> tuple[int, ...]:
        found = (table[LANGUAGES.index(language)].get(form, ()) for language in asked)
        return tuple(dict.fromkeys(number for numbers in found for number in numbers))

    def _look_up_stem(self, asked: Sequence[Language], phrase: str) -> tuple[int, ...]:
        if not self._by_stem[0]:
            for side, table in enumerate(self._by_word):
                for entry, numbers in table.items():
                    self._by_stem[side].setdefault(_stem(entry, side), []).extend(numbers)
        found = (
            self._by_stem[LANGUAGES.index(language)].get(_stem(phrase, LANGUAGES.index(language)), ())
            for language in asked
        )
        return tuple(dict.fromkeys(number for numbers in found for number in numbers))


def _singulars(phrase: str) -> Iterator[str]:
    yield phrase
    for ending, instead in (("s", ""), ("es", ""), ("ies", "y"), ("ces", "z")):
        if phrase.endswith(ending) and len(phrase) > len(ending) + 2:
            yield phrase.removesuffix(ending) + instead


def _stem(phrase: str, side: int) -> str:
    return " ".join(stems(word)[min(side, len(stems(word)) - 1)] for word in phrase.split(" "))


def load_synonyms(data: str) -> Synonyms:
    """Read lines of `english, words<TAB>palabras, españolas`; bad lines are reported and left out.

    One side may be empty, for synonyms within a language. Blank lines and `#` comments are skipped.

    >>> load_synonyms("dog, puppy\\tperro\\nno tab here\\n").problems
    ('line 2: write English words, a tab, Spanish words',)
    """
    meanings = list[tuple[tuple[str, ...], tuple[str, ...]]]()
    problems = list[str]()
    for number, line in enumerate(fold(data).split("\n"), start=1):
        content = line.partition("#")[0].rstrip()
        if not content.strip():
            continue
        sides = content[:_MOST_CHARS_OF_A_LINE].split("\t")
        if len(sides) != 2 and content.strip() == content:
            problems.append(f"line {number}: write English words, a tab, Spanish words")
            continue
        english, spanish = (_entries(side) for side in (*sides, "")[:2])
        if len(english) + len(spanish) < 2:
            problems.append(f"line {number}: a word needs at least one other to stand for")
            continue
        meanings.append((english, spanish))
    return _indexed(tuple(meanings), tuple(problems))
