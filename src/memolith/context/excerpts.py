"""The part of a text that a question is about."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

from memolith.text.choices import choices
from memolith.text.stopwords import keywords, language_of
from memolith.text.terms import terms_of
from memolith.text.tokens import words

_BULLET = re.compile(r"[-*+•]\s+\S")
_SHARE_OF_BEST = 0.5  # items that share half as much with the question as the best one stay
# Shown before the first word that was asked for.
_BEFORE = 60
# Beyond this, places are not looked for: nobody's text repeats a word more often to say something.
_MOST_PLACES = 200
_SHORTEST = 3


def excerpt(text: str, asked: Iterable[str], most_chars: int) -> str:
    """The text from where most of the asked words stand within so many characters, to its end.

    >>> excerpt("Many words came first. " * 9 + "The port is 5433.", ["port"], 60)
    '… came first. Many words came first. The port is 5433.'
    """
    if len(text) <= most_chars:
        return text
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have no small form of the same length
        lower = text
    places = sorted(
        (at, number)
        for number, word in enumerate(asked)
        if len(word) >= _SHORTEST
        for at in _places(lower, word)
    )
    before = min(_BEFORE, most_chars // 3)
    start = _fullest(places, most_chars - before)
    start = max(0, min(start - before, len(text) - most_chars + 2))
    if not start:
        return text
    space = text.find(" ", start, start + before)
    return f"… {text[space + 1 if space >= 0 else start :]}"


class Asked:
    """What a question asks for, by the words, stems and synonyms that a search goes by."""

    def __init__(self, question: str) -> None:
        self.words = keywords(question)
        self._terms: Sequence[Mapping[str, float]] = choices(
            self.words, language=language_of(words(question))
        )

    def share(self, text: str) -> float:
        """How many of its words a text has; one in other words counts for less."""
        found = set(chain.from_iterable(terms_of(stretch)[1] for stretch in text.split()))
        return sum(
            max((word[term] for term in found & word.keys()), default=0.0) for word in self._terms
        )

    def answering(self, text: str, heading: str = "") -> str:
        """Of a list the items that answer best, with what stands around it; any other text as it is.

        If the words of the question are in the headings, all of it is asked for.

        >>> Asked("who waters the plants?").answering("# House\\n- Bins: Tuesday\\n- Ana waters the plants")
        '# House\\n- Ana waters the plants'
        """
        blocks: list[list[str]] = []
        for line in text.split("\n"):
            if not blocks or not line.strip() or _BULLET.match(line) or line.startswith("#"):
                blocks.append([])
            blocks[-1].append(line)
        shares = [self.share("\n".join(block)) for block in blocks]
        is_item = [bool(_BULLET.match(block[0])) for block in blocks]
        best = max((share for share, item in zip(shares, is_item, strict=True) if item), default=0)
        titles = " ".join(block[0] for block in blocks if block[0].startswith("#"))
        if sum(is_item) < 2 or best <= self.share(f"{heading} {titles}"):
            return text
        return "\n".join(
            line
            for block, share, item in zip(blocks, shares, is_item, strict=True)
            if not item or share >= best * _SHARE_OF_BEST
            for line in block
        )


def _fullest(places: Sequence[tuple[int, int]], reach: int) -> int:
    """Where the most different words stand within so many characters, the first such place."""
    start, best, end = 0, 0, 0
    inside: dict[int, int] = {}  # how often each word stands there
    for at, number in places:
        while end < len(places) and places[end][0] < at + reach:
            inside[places[end][1]] = inside.get(places[end][1], 0) + 1
            end += 1
        if len(inside) > best:
            start, best = at, len(inside)
        inside[number] -= 1
        if not inside[number]:
            del inside[number]
    return start


def _places(text: str, word: str) -> list[int]:
    found = list[int]()
    at = text.find(word)
    while at >= 0 and len(found) < _MOST_PLACES:
        found.append(at)
        at = text.find(word, at + 1)
    return found
