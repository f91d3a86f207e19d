"""Phrases that name days, from `date_phrases.txt`: the words they are made of, and how they are found in tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from itertools import chain, product
from typing import TYPE_CHECKING

from memolith.text import calendar_days
from memolith.text.calendar_days import Days, Unit
from memolith.text.tables import read_lists, read_rows

if TYPE_CHECKING:
    from memolith.text.dates import Token

SURE = 1.0  # the words name these days and no others
LIKELY = 0.7  # a year or a week had to be guessed
MAYBE = 0.4  # this may not be a date at all
_CONFIDENCE = {"sure": SURE, "likely": LIKELY, "maybe": MAYBE}

_LISTS = read_lists("date_words.txt")


@cache
def listed(section: str) -> frozenset[str]:
    """The words of a section of `date_words.txt`."""
    return frozenset(_LISTS[section])


def _numbered(section: str) -> dict[str, int]:
    """Names in order, from the number of the section on; those between slashes are the same thing."""
    groups = enumerate(_LISTS[section], start=int(section.split()[1]))
    return {name: number for number, group in groups for name in group.split("/")}


MONTHS, WEEKDAYS = _numbered("month 1"), _numbered("weekday 0")
ANY_MONTH = MONTHS | _numbered("short-month 1")
_UNITS = {name: Unit(number) for name, number in _numbered("units 0").items()}
_ONE_UNIT = {name: Unit(number) for name, number in _numbered("one-unit 0").items()}
_NUMBERS, _DAY_NAMES = _numbered("number 1"), _numbered("day-name 1")
_TENS = {name: 10 * number for name, number in _numbered("ten 2").items()}
WORDS: Mapping[str, Mapping[str, int]] = {
    "n": _NUMBERS | _TENS,
    "tens": _TENS,
    "digit": {name: number for name, number in _NUMBERS.items() if number < 10},
    "day-name": _DAY_NAMES,
    "digit-name": {name: number for name, number in _DAY_NAMES.items() if number < 10},
    "nth": _numbered("nth 1"),
    "unit": _ONE_UNIT | _UNITS,
    "units": _UNITS,
    "weekday": WEEKDAYS,
    "any-weekday": WEEKDAYS | _numbered("short-weekday 0"),
    "month": MONTHS,
    "any-month": ANY_MONTH,
    # A full stop after a month in full ends a sentence, and `may` is short for nothing.
    "dotted-month": {name: ANY_MONTH[name] for name in ANY_MONTH.keys() - MONTHS.keys()},
    "clear-month": {name: number for name, number in MONTHS.items() if name not in listed("shy")},
    "day": {"first": 1, "primero": 1},
}


_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th|º|o|a|°|er|ro)?")


def _day(text: str) -> int | None:
    if found := _DAY.fullmatch(text):
        return int(found[1]) if 1 <= int(found[1]) <= 31 else None
    return WORDS["day"].get(text)


def _two_days(text: str) -> tuple[int, int] | None:
    first, _, last = text.partition("-")
    one, other = _day(first), _day(last)
    return (one, other) if one and other and one < other else None


def _number(digits: str, words: Mapping[str, int]) -> Callable[[str], int | None]:
    """What reads a number of this many digits, or one of these words."""
    form = re.compile(digits)
    return lambda text: int(text) if form.fullmatch(text) else words.get(text)


# What the classes of a phrase read, and the value of each word; None if it is not one of them.
CLASSES: Mapping[str, Callable[[str], int | tuple[int, int] | None]] = {
    **{name: words.get for name, words in WORDS.items()},
    "n": _number("[0-9]{1,4}", WORDS["n"]),
    "day": _day,
    "ordinal": lambda text: None if text.isdigit() else _day(text),
    "day-day": _two_days,
    "quarter": _number("[1-4]", {}),
    "year": _number("(?:19|20)[0-9]{2}", {}),
}


@dataclass(frozen=True, slots=True)
class Phrase:
    """What words mean: `resolve` gets today's date and the values of their classes.

    Some count only after one of the words in `after`. Without `resolve` it only looks like a date.
    """

    resolve: Callable[..., Days | None] | None
    confidence: float = SURE
    after: frozenset[str] = frozenset()


@dataclass(slots=True)
class Node:
    """A place reached inside phrases: the words and <classes> that lead on, and what ends here."""

    steps: dict[str, Node] = field(default_factory=dict)
    ends: list[Phrase] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found in the tokens from `start` to before `end`."""

    phrase: Phrase
    start: int
    end: int
    values: tuple[int, ...]


@cache
def phrases() -> Node:
    """All forms of all phrases behind one node; forms that begin alike share their first nodes."""
    root = Node()
    for meaning, confidence, after, forms in read_rows("date_phrases.txt"):
        words = frozenset(
            word for name in after.split("+") for word in _LISTS.get(f"after {name}", ())
        )
        phrase = Phrase(_resolver(meaning), _CONFIDENCE[confidence], words)
        for path in chain.from_iterable(map(_paths, forms.split("|"))):
            node = root
            for step in path:
                node = node.steps.setdefault(step, Node())
            node.ends.append(phrase)
    return root


def _paths(form: str) -> Iterator[Iterable[str]]:
    """The steps of each way to say a form: `in/over the? <unit>` can be said in four ways."""
    items = [item.removesuffix("?").split("/") + [""] * item.endswith("?") for item in form.split()]
    return (filter(None, path) for path in product(*items))


def _resolver(meaning: str) -> Callable[..., Days | None] | None:
    """The function for «period $1 -1»: of `calendar_days`, with today, and values of classes for $1, $2."""
    if meaning == "-":
        return None
    name, *terms = meaning.split()
    function = getattr(calendar_days, name)

    def resolve(today: date, *values: int) -> Days | None:
        arguments = [_argument(term, values) for term in terms]
        found: Days | None = function(today, *(one for one in arguments if one is not None))
        return found

    return resolve


def _argument(term: str, values: Sequence[int]) -> int | None:
    if not term.startswith("$"):
        return Unit[term.upper()] if term.isalpha() else int(term)
    places = [int(place) - 1 for place in term[1:].split("+$")]
    if places[-1] >= len(values):
        return None  # the year, if none is given
    first, *more = (values[place] for place in places)
    return sum(more, first) if more else first  # a unit stays a unit


@cache
def beginnings() -> frozenset[str]:
    """Every word a phrase can begin with, and the digits."""
    steps = (WORDS.get(step.strip("<_>"), [step]) for step in phrases().steps)
    return frozenset(chain("0123456789", *steps))


def matches_at(root: Node, tokens: Sequence[Token], start: int) -> list[Match]:
    """Every phrase that begins at this token, the longest and surest first."""
    found = list[Match]()
    open_ends: list[tuple[Node, int, tuple[int, ...]]] = [(root, start, ())]
    while open_ends:
        node, at, values = open_ends.pop()
        found.extend(Match(phrase, start, at, values) for phrase in node.ends)
        if node.steps and at < len(tokens):
            for step, value in _steps_of(tokens[at].text):
                if step in node.steps:
                    open_ends.append((node.steps[step], at + 1, values + value))
    return sorted(found, key=lambda one: (-one.end, -one.phrase.confidence, len(one.values)))


@lru_cache(4096)
def _steps_of(text: str) -> Sequence[tuple[str, tuple[int, ...]]]:
    """The steps a token takes: itself, and each class it is a word of, with its value and without."""
    steps: list[tuple[str, tuple[int, ...]]] = [(text, ())]
    for name, read in CLASSES.items():
        value = read(text)
        if value is not None:
            values = value if isinstance(value, tuple) else (value,)
            steps += [(f"<{name}>", values), (f"<_{name}>", ())]
    return steps
