"""The part of a long text that a question is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

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
