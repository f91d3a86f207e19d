"""Do two texts say the same in other words or another order? Carefully: when in doubt they do not.

Words may stand for words that mean the same, a clause may move to the other end, and days, times, amounts and
words such as «usually» may stand anywhere; whatever else differs makes another fact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from memolith.text.amounts import plain_amounts
from memolith.text.clashes import DAYS, MONTHS
from memolith.text.similarity import SMALL, is_near_copy, signs
from memolith.text.synonyms import knows, synonyms_of
from memolith.text.terms import stems
from memolith.text.tokens import words

# Small words that stand for each other and are in no list of synonyms.
_SAME = {"each": "every", "todos": "cada", "todas": "cada", "jeder": "jede", "jeden": "jede", "jedes": "jede"}  # fmt: skip
# Words that tell when or how often. They may stand anywhere, but keep their order among themselves.
_WHEN = frozenset(
    "every night nights evening evenings morning mornings afternoon day days week weeks weekend month year daily "
    "always often usually sometimes now currently cada noche noches manana mananas tarde tardes dia dias semana mes "
    "ano siempre normalmente ahora jede nacht abend abends morgen morgens tag woche wochenende monat jahr uhr am um im "
    "immer oft meist meistens normalerweise jetzt manchmal".split()
)


def bag_of(text: str) -> tuple[str, ...]:
    """What texts that say the same have in common: their telling words, in no order.

    >>> bag_of("Backups run every night") == bag_of("Each night, the backups run.")
    True
    """
    return tuple(sorted(_telling(text).values()))


def say_the_same(one: str, other: str) -> bool:
    """Whether one of two texts is enough.

    >>> say_the_same("Backups run every night", "Each night, the backups run.")
    True
    >>> say_the_same("Ana moved to Lima before Ben", "Ben moved to Lima before Ana")
    False
    """
    if is_near_copy(one, other):
        return True
    mine, theirs = _telling(one), _telling(other)
    if sorted(mine.values()) != sorted(theirs.values()):
        return False
    if signs(plain_amounts(one)) != signs(plain_amounts(other)):
        return False
    kinds = (_is_number, _is_dated, _is_when)
    if any(_only(mine, kind) != _only(theirs, kind) for kind in kinds):
        return False
    return _moved(*(_only(found, _is_bound) for found in (mine, theirs)))


def _moved(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether words follow each other in the same order, but for a clause that moved to the other end."""
    return any([*one[at:], *one[:at]] == other for at in range(len(one) or 1))


def _only(found: Mapping[tuple[int, str], str], kind: Callable[[str], bool]) -> list[str]:
    return [same for (_, word), same in found.items() if kind(word)]


def _is_number(word: str) -> bool:
    return any(letter.isdigit() for letter in word)


def _is_dated(word: str) -> bool:
    return word in MONTHS or word in DAYS


def _is_when(word: str) -> bool:
    return _SAME.get(word, word) in _WHEN or word.endswith(("ly", "mente"))


def _is_bound(word: str) -> bool:
    """Whether its place tells who does what."""
    return not (_is_number(word) or _is_dated(word) or _is_when(word))


@lru_cache(10_000)
def _telling(text: str) -> Mapping[tuple[int, str], str]:
    """The words that are not small, by their place and as written, each as the one that stands for it."""
    found = words(plain_amounts(text))
    told = [one for one in found if one not in SMALL] or found
    return {(at, word): _one_for_all(word) for at, word in enumerate(told)}


@lru_cache(50_000)
def _one_for_all(word: str) -> str:
    """The stem of the word that stands for all English ones of its meaning."""
    word = _SAME.get(word, word)
    others = synonyms_of(word, language="en") if knows(word, "en") else []
    plain = [one.text for one in others if one.language == "en" and one.text.isalpha()]
    return stems(min([word, *plain]))[0]
