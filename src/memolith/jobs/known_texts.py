"""Texts that are known already: what says them too, says the same, or only sums them up. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from memolith.text.cues import one_of
from memolith.text.folding import fold
from memolith.text.leaning import takes_back
from memolith.text.sentence_ends import split_sentences
from memolith.text.similarity import NEGATIONS, SMALL, is_near_copy, signs
from memolith.text.tokens import words

# «Staging runs on Postgres 15» leaves little out of «The staging database runs on Postgres 15».
_MOST_LEFT_OUT = 3
_FEWEST_OF_A_PART = 2  # words that are not small
_MOST_PARTS = 12


@dataclass(frozen=True, slots=True)
class Past:
    """Until when a text held that does so no more, and in which session it was said."""

    until: datetime
    session: str

    def covers(self, said: datetime | None, session: str) -> bool:
        """Whether what is said again was said while it held, so that it is nothing new.

        Without a moment the session tells: a chat that is handed over again says nothing anew.
        """
        return said < self.until if said is not None else session == self.session


class Known:
    """Texts that are there already."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Take what is known; more can be added."""
        self._texts: list[str] = []
        self._past: dict[int, Past] = {}
        self._by_word: dict[str, list[int]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str, past: Past | None = None) -> None:
        """One more, which may hold no longer."""
        if past is not None:
            self._past[len(self._texts)] = past
        for word in set(words(text)):
            self._by_word.setdefault(word, []).append(len(self._texts))
        self._texts.append(text)

    def has(self, text: str, said: datetime | None = None, session: str = "") -> bool:
        """Whether a known text has this one among its own or says the same, or known texts say all its parts.

        >>> known = Known(["The staging database runs on Postgres 15", "Deploys go out on Tuesdays"])
        >>> known.has("So to recap: staging runs on Postgres 15, and deploys go out on Tuesdays.")
        True
        >>> known.has("So to recap: staging runs on Postgres 16, and deploys go out on Tuesdays.")
        False
        """
        past = {
            place for place, past in self._past.items() if not past.covers(said, session)
        }  # said anew
        if self._has_one(text, past):
            return True
        bare = _recap().sub(" ", f" {' '.join(text.split())} ").strip(" ,.;:!")
        if self._has_one(bare, past):
            return True
        parts = [part for part in _between_parts().split(bare) if words(part)]
        return len(parts) <= _MOST_PARTS and all(self._has_part(part, past) for part in parts)

    def _has_one(self, text: str, past: set[int]) -> bool:
        said = set(words(text))
        if not said:
            return True
        # Whoever contains it has all of its words, also the rarest.
        by_rarity = sorted((self._by_word.get(word, []) for word in said), key=len)
        if any(_says(self._texts[place], text, 0) for place in by_rarity[0] if place not in past):
            return True
        near = {place for found in by_rarity[:3] for place in found} - past
        return any(_is_copy(text, self._texts[place]) for place in near)

    def _has_part(self, text: str, past: set[int]) -> bool:
        said = _telling(text)
        if len(said) < _FEWEST_OF_A_PART:
            return False
        places = min((self._by_word.get(word, []) for word in said), key=len)
        return any(
            _says(self._texts[place], text, _MOST_LEFT_OUT) for place in places if place not in past
        )


def _is_copy(text: str, known: str) -> bool:
    return is_near_copy(text, known) and (_is_question(text) or not _is_question(known))


def _says(known: str, text: str, most_left_out: int) -> bool:
    """Whether a text that is known says this one too, in a sentence or a part of one, and means it.

    «We use Kotlin» is not said by «If Ben agrees, we use Kotlin», «Ben doubts that we use Kotlin» or «Do we use
    Kotlin?», nor where the next sentence takes it back. 45 is not in 450.
    """
    wanted = _telling(text)
    if not wanted or not _in_order(wanted, _telling(known)):
        return False
    if not Counter(signs(text)) <= Counter(signs(known)):
        return False
    told = [one for line in known.split("\n") for one in split_sentences(line)]
    for sentence, after in zip(told, [*told[1:], ""], strict=True):
        if _is_question(sentence) and not _is_question(text):
            continue
        if _states(sentence, text, most_left_out) and not (after and takes_back(after)):
            return True
    return False


def _states(sentence: str, text: str, most_left_out: int) -> bool:
    """Whether whole parts of a sentence are this text, but for a few words, and none of the others turns it round."""
    others = Counter(words(fold(sentence))) - Counter(words(fold(text)))
    if any(word in NEGATIONS or _conditional().fullmatch(word) for word in others):
        return False
    wanted = [word for part in _between_parts().split(text) for word in _telling(part)]
    parts = [told for part in _between_parts().split(sentence) if (told := _telling(part))]
    for at, part in enumerate(parts):
        run: list[str] = []
        for more in parts[at:] if part[0] == wanted[0] else ():
            run += more
            if len(run) > len(wanted) + most_left_out:
                break
            if run[-1] == wanted[-1] and _follows(wanted, run, most_left_out):
                return True
    return False


def _in_order(wanted: Sequence[str], there: Sequence[str]) -> bool:
    rest = iter(there)
    return all(word in rest for word in wanted)


def _follows(said: Sequence[str], there: Sequence[str], most_left_out: int) -> bool:
    left_out: list[str] = []
    rest = iter(there)
    for word in said:
        for found in rest:
            if found == word:
                break
            left_out.append(found)
        else:
            return False
    return len([*left_out, *rest]) <= most_left_out and not any(map(_turns, left_out))


def _is_question(text: str) -> bool:
    return text.rstrip(" \"'»”)").endswith("?")


def _turns(word: str) -> bool:
    """Whether what is said without this word is something else."""
    return (
        word in NEGATIONS
        or _turning().fullmatch(word) is not None
        or any(char.isdigit() for char in word)
    )


def _telling(text: str) -> list[str]:
    return [word for word in words(fold(text)) if word not in SMALL]


@cache
def _recap() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{one_of('recap', 'cues')})(?!\w)[\s,:;.–—-]*", re.IGNORECASE)


@cache
def _between_parts() -> re.Pattern[str]:
    return re.compile(rf"[,;](?!\d)|(?<!\w)(?:{one_of('joins', 'cues')})(?!\w)", re.IGNORECASE)


@cache
def _turning() -> re.Pattern[str]:
    sections = ("joins", "turns round", "holds not")
    return re.compile("|".join(f"(?:{one_of(section, 'cues')})" for section in sections))


@cache
def _conditional() -> re.Pattern[str]:
    return re.compile(one_of("holds not", "cues"))
