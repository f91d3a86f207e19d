"""Which of the capitals in a memory are names, by all that its texts show together.

In German every noun has a capital, and the first word of a sentence has one anyway. So a name must show
elsewhere that it is one: by a title, by standing within an English or Spanish sentence, by what it does.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache

from memolith.text.cues import Sentence, languages, listed
from memolith.text.entities import entities
from memolith.text.folding import fold
from memolith.text.sentences import sentences
from memolith.text.tables import read_words

_WORD = re.compile(r"[\w'’.-]+|:")
_BARE = "'’.-"
# What only somebody does, or what has a name: «likes», «lives in», «owns».
_DOES = ("for", "against", "of one", "by one", "prefers")
_AND = frozenset({"and", "y", "e", "und"})
_FARTHEST_VERB = 4  # words between «wohnen» and «in Rostock»


@dataclass(slots=True)
class _Evidence:
    """What sentences show of their capitals, folded."""

    names: set[str] = field(default_factory=set)  # beyond doubt
    things: set[str] = field(default_factory=set)
    nouns: set[str] = field(
        default_factory=set
    )  # capitals where every noun has one, and nothing else told


class KnownNames:
    """The names that these texts show."""

    def __init__(self, texts: Iterable[str], common: Collection[str] = ()) -> None:
        """`common` are words that stand in small letters somewhere."""
        self._common = common
        found = [Sentence(one) for text in texts for one in sentences(text[:4000])]
        # A sentence may show no language: then it is German only where others are.
        self._has_german = any(_is_german(told) and _is_clear(told) for told in found)
        seen = _Evidence()
        for told in found:
            self._look_at(told, seen)
        self._shown = seen.names - (seen.things - _first_names())
        self._nouns = (seen.things | seen.nouns) - self._shown - _first_names()

    def of(self, text: str) -> Iterator[str]:
        """The names in a text, each once, in their order.

        >>> texts = ["Heute war der Puls bei 60", "Sven trinkt keinen Alkohol", "Der Puls von Sven ist gut"]
        >>> list(KnownNames(texts).of(texts[2]))
        ['Sven']
        >>> list(KnownNames(["Meine Frau Elena mag Tee"]).of("Meine Frau Elena mag Tee"))
        ['Elena']
        """
        found = (self._without_others(name) for name in entities(text, self._common))
        yield from dict.fromkeys(filter(None, found))

    def _without_others(self, name: str) -> str:
        """What of some capitals beside each other is a name: of «Meine Frau Elena», the last."""
        if "@" in name:
            return name
        words = name.split()
        while words and self._only_leads(words):
            words = words[1:]
        while len(words) > 1 and _bare(words[-1]) in self._nouns:
            words = words[:-1]  # «Jürgen Tee»
        is_known = any(
            _bare(word) in self._shown or _bare(word) in _first_names() for word in words
        )
        return " ".join(words) if is_known else ""

    def _only_leads(self, words: Sequence[str]) -> bool:
        """Whether the first of some capitals is only written before a name: «Meine», «Bruder»."""
        word = _bare(words[0])
        is_title = len(words) > 1 and word in _titles() and word not in self._nouns
        return not is_title and (word in _small() or word in self._nouns or word in _verbs())

    def _look_at(self, told: Sentence, seen: _Evidence) -> None:
        nouns_have_capitals = _is_german(told) and (self._has_german or _is_clear(told))
        words = [word.strip(_BARE) for word in _WORD.findall(told.text)]
        for at, word in enumerate(words):
            if not word[:1].isupper() or any(letter.isdigit() for letter in word):
                continue
            two_before, before = ["", "", *words][at : at + 2]
            after = words[at + 1] if at + 1 < len(words) else ""
            bare = _bare(word)
            if bare in _small():
                continue
            if told.knows("before nouns", before):
                seen.things.add(bare)
            elif (
                (fold(before) in _titles() and not told.knows("before nouns", two_before))
                or told.knows("names follow", before)
                or _is_apposition(told, two_before, before)
                or _is_where_somebody_lives(told, words[max(0, at - _FARTHEST_VERB) : at])
                or _is_joined_to_somebody(words, at)
                or (fold(after) in _verbs() if not at else not nouns_have_capitals)
            ):
                seen.names.add(bare)
            elif at and not before[:1].isupper() and bare not in _titles():
                seen.nouns.add(bare)


def _is_apposition(told: Sentence, two_before: str, before: str) -> bool:
    """«Meine Schwester Wiebke»: behind somebody's noun stands the name."""
    return before[:1].isupper() and told.knows("of somebody", two_before)


def _is_joined_to_somebody(words: Sequence[str], at: int) -> bool:
    """«Frieda und Ole»: beside a first name stands another."""
    others = (words[at + 1 : at + 3], words[max(0, at - 2) : at][::-1])
    return any(
        len(pair) == 2
        and pair[0] in _AND
        and pair[1][:1].isupper()
        and _bare(pair[1]) in _first_names()
        for pair in others
    )


def _is_where_somebody_lives(told: Sentence, before: Sequence[str]) -> bool:
    """«Wir wohnen mit Annika in Rostock»."""
    if not before or not told.knows("before names", before[-1]):
        return False
    return any(told.knows("lives", word) for word in before[:-1])


def _bare(word: str) -> str:
    return fold(re.sub(r"['’]s$", "", word.strip(_BARE)))


def _is_german(told: Sentence) -> bool:
    """Whether it may be of a language in which every noun has a capital."""
    return any("before names" in one.sections for one in told.languages)


def _is_clear(told: Sentence) -> bool:
    return len(told.languages) == 1


@cache
def _small() -> frozenset[str]:
    """Words of every language that are never names: «Ich», «Meine», «Mit»."""
    return frozenset().union(*(language.words for language in languages()))


@cache
def _verbs() -> frozenset[str]:
    cues = (cue for section in _DOES for cue in listed(section, "claims"))
    first = {fold(cue).split()[0] for cue in cues if cue[:1].isalpha()}
    return frozenset(first) - {
        fold(word) for word in (*listed("is", "claims"), *listed("not", "claims"))
    }


@cache
def _first_names() -> frozenset[str]:
    return frozenset(read_words("first_names.txt"))


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(title) for title in listed("titles", "claims"))
