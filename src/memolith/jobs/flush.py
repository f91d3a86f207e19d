"""Before turns are lost: what of them is worth keeping, and is not known yet. Pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.jobs.worth_saving import CATEGORIES, category_of
from memolith.text.cut import cut
from memolith.text.folding import fold
from memolith.text.host_text import own_text
from memolith.text.leaning import corrects, leans
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.quotation import without_recalled
from memolith.text.sentences import sentences
from memolith.text.similarity import is_near_copy, signs
from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memolith.jobs.chat import Said

_LONGEST = 500
_LONGEST_PAIR = 300
_LONGEST_CORRECTION = 12  # words, in the next message


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence worth keeping, with those that belong to it; the category, and who said it."""

    text: str
    category: str
    by_user: bool


@dataclass(slots=True, kw_only=True)
class _Unit:
    """Sentences of one message that are saved together, or not at all (without a category)."""

    text: str
    category: str
    by_user: bool
    message: int

    def add(self, sentence: str, category: str) -> None:
        """One more, which leans on the others or corrects them."""
        ended = self.text if self.text[-1] in ".!?…:;\"'”»)" else f"{self.text}."
        self.text = f"{ended} {sentence}"
        known = [one for one in CATEGORIES if one in (self.category, category)]
        self.category = known[0] if known else ""


def extract(messages: Iterable[Said]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    for unit in _units(messages):
        if unit.category:
            text = " ".join(cut(unit.text, _LONGEST).text.split())
            yield Finding(text=text, category=unit.category, by_user=unit.by_user)


def _units(messages: Iterable[Said]) -> list[_Unit]:
    units: list[_Unit] = []
    last_message = -1  # of the user
    for number, said in enumerate(messages):
        is_secret = False
        for sentence in sentences(own_text(without_recalled(said.text))):
            follows = corrects(sentence) or leans(sentence)
            is_secret = surely_holds_secret(sentence) or (is_secret and follows)
            if is_secret:  # and what leans on it
                continue
            category = category_of(sentence, by_user=said.by_user)
            earlier = last_message if said.by_user else number
            if corrects(sentence) and _corrected(units, sentence, category, number, earlier):
                continue
            before = units[-1] if units and units[-1].message == number else None
            fits = before is not None and len(before.text) + len(sentence) < _LONGEST_PAIR
            if before is not None and category and fits and leans(sentence):
                before.add(sentence, category)
                continue
            units.append(
                _Unit(text=sentence, category=category, by_user=said.by_user, message=number)
            )
        last_message = number if said.by_user else last_message
    return units


def _corrected(
    units: list[_Unit], sentence: str, category: str, message: int, earlier: int
) -> bool:
    """Put a correction to what it corrects: in the same message, or in the one of the user before.

    What stands between goes with it, if there is room; what an agent repeated meanwhile is not saved.
    """
    here = [unit for unit in units[-_LONGEST_CORRECTION:] if unit.message == message]
    is_next = not here and len(sentence.split()) <= _LONGEST_CORRECTION
    found = here or [unit for unit in units if is_next and unit.message == earlier]
    if not found:
        return False
    kept = [unit for unit in found if unit.category] or found
    first, between = kept[-1], found[found.index(kept[-1]) + 1 :]
    if len(first.text) + len(sentence) >= _LONGEST:
        return False
    retracted = set(_numbers(first.text))
    for unit in between:
        if len(first.text) + len(unit.text) + len(sentence) < _LONGEST_PAIR:
            first.add(unit.text, "")
            unit.category = ""
            units.remove(unit)
    first.add(sentence, category)
    for unit in units:
        if (
            unit.message > first.message
            and not unit.by_user
            and retracted & set(_numbers(unit.text))
        ):
            unit.category = ""
    return True


def _numbers(text: str) -> list[str]:
    return [word for word in words(text) if any(char.isdigit() for char in word)]


class Known:
    """Texts that are there already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take what is known; more can be added."""
        self._texts: list[str] = []
        self._by_word: dict[str, list[int]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """One more."""
        for word in set(words(text)):
            self._by_word.setdefault(word, []).append(len(self._texts))
        self._texts.append(text)

    def has(self, text: str) -> bool:
        """Whether a known text contains this one, or says the same in nearly the same words."""
        said = set(words(text))
        if not said:
            return True
        # Whoever contains it has all of its words, also the rarest.
        places = min((self._by_word.get(word, []) for word in said), key=len)
        if any(_contains(self._texts[place], text) for place in places):
            return True
        rarest = sorted((self._by_word.get(word, []) for word in said), key=len)[:3]
        near = {place for found in rarest for place in found}
        return any(is_near_copy(text, self._texts[place]) for place in near)


def _contains(known: str, text: str) -> bool:
    """Whether a text has all words of another one after the other, and its signs: 45 is not in 450."""
    if not Counter(signs(text)) <= Counter(signs(known)):
        return False
    return f" {_plain(text)} " in f" {_plain(known)} "


def _plain(text: str) -> str:
    return " ".join(words(fold(text)))
