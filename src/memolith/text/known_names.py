"""Which of the capitals in a memory are names, by all that its texts show together.

In German every noun has a capital, and the first word of a sentence has one anyway. So a name must show
elsewhere that it is one: by a title, by standing within an English or Spanish sentence, by what it does.
"""

from __future__ import annotations

import re
from functools import cache

from memolith.text.cues import Sentence, listed
from memolith.text.entities import entities
from memolith.text.folding import fold
from memolith.text.sentences import sentences
from memolith.text.tables import read_table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

_WORD = re.compile(r"[\w'’.-]+|:")
_BARE = "'’.-"
# What only somebody does, or what has a name: «likes», «lives in», «owns».
_DOES = ("for", "against", "of one", "by one")


class KnownNames:
    """The names that these texts show."""

    def __init__(self, texts: Iterable[str], common: Collection[str] = ()) -> None:
        """`common` are words that stand in small letters somewhere."""
        self._common = common
        self._shown: set[str] = set()  # words that are names beyond doubt
        things: set[str] = set()
        for text in texts:
            for sentence in sentences(text[:4000]):
                shown, seen = _evidence(sentence)
                self._shown |= shown
                things |= seen
        self._shown -= things - _first_names()

    def of(self, text: str) -> Iterator[str]:
        """The names in a text, each once, in their order.

        >>> texts = ["Heute war der Puls bei 60", "Sven trinkt keinen Alkohol", "Der Puls von Sven ist gut"]
        >>> list(KnownNames(texts).of(texts[2]))
        ['Sven']
        """
        for name in entities(text, self._common):
            words = [fold(word.strip(_BARE)) for word in name.split()]
            if "@" in name or any(word in self._shown or word in _first_names() for word in words):
                yield name


def _evidence(sentence: str) -> tuple[set[str], set[str]]:
    """The words of a sentence that are names there, and those that are things."""
    names: set[str] = set()
    things: set[str] = set()
    told = Sentence(sentence)
    nouns_have_capitals = any("before names" in one.sections for one in told.languages)
    words = [word.strip(_BARE) for word in _WORD.findall(sentence)]
    for at, word in enumerate(words):
        if not word[:1].isupper() or any(letter.isdigit() for letter in word):
            continue
        lives, before = ["", "", *words][at : at + 2]
        after = words[at + 1] if at + 1 < len(words) else ""
        bare = fold(re.sub(r"['’]s$", "", word))
        if told.knows("before nouns", before):
            things.add(bare)
        elif (
            fold(before) in _titles()
            or told.knows("names follow", before)
            or (told.knows("before names", before) and told.knows("lives", lives))
            or (fold(after) in _verbs() if not at else not nouns_have_capitals)
        ):
            names.add(bare)
    return names, things


@cache
def _verbs() -> frozenset[str]:
    cues = (cue for section in _DOES for cue in listed(section, "claims"))
    first = {fold(cue).split()[0] for cue in cues if cue[:1].isalpha()}
    return frozenset(first) - {
        fold(word) for word in (*listed("is", "claims"), *listed("not", "claims"))
    }


@cache
def _first_names() -> frozenset[str]:
    return frozenset(
        name for (row,) in read_table("first_names.txt")["names"] for name in row.split()
    )


@cache
def _titles() -> frozenset[str]:
    return frozenset(fold(title) for title in listed("titles", "claims"))
