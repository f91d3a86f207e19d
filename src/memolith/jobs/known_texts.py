"""Texts that are known already: what contains them, says the same, or only sums them up. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from memolith.text.cues import one_of
from memolith.text.folding import fold
from memolith.text.similarity import NEGATIONS, SMALL, is_near_copy, signs
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# «Staging runs on Postgres 15» leaves little out of «The staging database runs on Postgres 15».
_MOST_LEFT_OUT = 3
_FEWEST_OF_A_PART = 2  # words that are not small
_MOST_PARTS = 12


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
        """Whether a known text contains this one or says the same, or known texts say all its parts.

        >>> known = Known(["The staging database runs on Postgres 15", "Deploys go out on Tuesdays"])
        >>> known.has("So to recap: staging runs on Postgres 15, and deploys go out on Tuesdays.")
        True
        >>> known.has("So to recap: staging runs on Postgres 16, and deploys go out on Tuesdays.")
        False
        """
        if self._has_one(text):
            return True
        bare = _recap().sub(" ", f" {' '.join(text.split())} ").strip(" ,.;:!")
        if self._has_one(bare):
            return True
        parts = [part for part in _between_parts().split(bare) if words(part)]
        return len(parts) <= _MOST_PARTS and all(self._has_part(part) for part in parts)

    def _has_one(self, text: str) -> bool:
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

    def _has_part(self, text: str) -> bool:
        said = _telling(text)
        if len(said) < _FEWEST_OF_A_PART:
            return False
        places = min((self._by_word.get(word, []) for word in said), key=len)
        return any(_leaves_little_out(text, self._texts[place]) for place in places)


def _contains(known: str, text: str) -> bool:
    """Whether a text has all words of another one after the other, and its signs: 45 is not in 450."""
    if not Counter(signs(text)) <= Counter(signs(known)):
        return False
    return f" {_plain(text)} " in f" {_plain(known)} "


def _leaves_little_out(text: str, known: str) -> bool:
    """Whether a text has the words of a known one in their order, but for a few that turn nothing round."""
    if not Counter(signs(text)) <= Counter(signs(known)):
        return False
    said, there = _telling(text), _telling(known)
    at = [place for place, word in enumerate(there) if word == said[0]]
    return any(_follows(said, there[place:]) for place in at)


def _follows(said: Sequence[str], there: Sequence[str]) -> bool:
    left_out: list[str] = []
    rest = iter(there)
    for word in said:
        for found in rest:
            if found == word:
                break
            left_out.append(found)
        else:
            return False
    return len(left_out) <= _MOST_LEFT_OUT and not any(_turns(word) for word in left_out)


def _turns(word: str) -> bool:
    """Whether what is said without this word is something else."""
    return (
        word in NEGATIONS
        or _turning().fullmatch(word) is not None
        or any(char.isdigit() for char in word)
    )


def _telling(text: str) -> list[str]:
    return [word for word in words(fold(text)) if word not in SMALL]


def _plain(text: str) -> str:
    return " ".join(words(fold(text)))


@cache
def _recap() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of('recap', 'cues')})(?!\w)[\s,:;.–—-]*", re.IGNORECASE)


@cache
def _between_parts() -> re.Pattern[str]:
    return re.compile(rf"[,;](?!\d)|(?<!\w)(?:{one_of('joins', 'cues')})(?!\w)", re.IGNORECASE)


@cache
def _turning() -> re.Pattern[str]:
    return re.compile(f"(?:{one_of('joins', 'cues')}|{one_of('turns round', 'cues')})")
