"""Before turns are lost: what of them is worth keeping, and is not known yet. Pure functions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.jobs.worth_saving import category_of, is_about_me
from memolith.text.budget import cut
from memolith.text.cues import Sentence, without_filler
from memolith.text.folding import fold
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence worth keeping, and the category it belongs to."""

    text: str
    category: str


def extract(messages: Iterable[Said]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    for said in messages:
        before = ""
        for sentence in sentences(without_recalled(said.text)):
            category = category_of(sentence, by_user=said.by_user)
            text = _understandable(sentence, before)
            before = sentence
            if category and not surely_holds_secret(text):
                yield Finding(
                    text=f"User: {text}" if said.by_user and is_about_me(sentence) else text,
                    category=category,
                )


def _understandable(sentence: str, before: str) -> str:
    """The sentence in one line; together with the one before if it leans on it: «It should be blue.»"""
    bare = without_filler(sentence)
    if before and Sentence(bare).begins("leans") and len(before) + len(bare) < _LONGEST_PAIR:
        ended = before if before[-1] in ".!?…:;" else f"{before}."
        bare = f"{without_filler(ended)} {bare}"
    return " ".join(cut(bare, _LONGEST).text.split())


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
        said = set(words(text.removeprefix("User: ")))
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
    return " ".join(words(fold(text).removeprefix("user: ")))
