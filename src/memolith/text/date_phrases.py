"""Phrases that name days, from `date_phrases.txt`: the words they are made of, and how they are found in tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from memolith.text import calendar_days
from memolith.text.calendar_days import Days, Unit
from memolith.text.tables import read_rows

if TYPE_CHECKING:
    from memolith.text.dates import Token

SURE = 1.0  # the words name these days and no others
LIKELY = 0.7  # a year or a week had to be guessed
MAYBE = 0.4  # this may not be a date at all
_CONFIDENCE = {"sure": SURE, "likely": LIKELY, "maybe": MAYBE}
_AFTER = {
    "in": "in during of for by since until till before after from between to through early late",
    "en": "en durante de del desde hasta antes despues entre y a al and im seit bis vom",
    "in-year": "in during since until till before after en durante desde hasta seit bis",
    "on": "on since until till before after from between by to through",
}
_TERM = re.compile(r"(-?)\$(\d)(?:([+/%])(?:\$(\d)|(\d+)))?")


def _numbered(names: str, first: int) -> dict[str, int]:
    """Names in order; those between slashes are the same thing."""
    groups = enumerate(names.split(), start=first)
    return {name: number for number, group in groups for name in group.split("/")}


MONTHS = _numbered(
    "january/enero/janeiro/janvier/januar/gennaio february/febrero/fevereiro/fevrier/februar/febbraio "
    "march/marzo/marz april/abril/avril/aprile may/mayo/maio/maggio/mai "
    "june/junio/junho/juin/giugno/juni july/julio/julho/juillet/luglio/juli "
    "august/agosto/aout september/septiembre/setiembre/setembro/septembre/settembre "
    "october/octubre/outubro/octobre/oktober/ottobre "
    "november/noviembre/novembro/novembre december/diciembre/dezembro/decembre/dezember/dicembre",
    first=1,
)
# `ago` and `set` are left out: three days ago, a set of plates.
SHORT_MONTHS = _numbered(
    "jan/ene feb mar apr/abr may jun jul aug sep/sept oct nov dec/dic", first=1
)
WEEKDAYS = _numbered(
    "monday/lunes/montag tuesday/martes/dienstag wednesday/miercoles/mittwoch thursday/jueves/donnerstag "
    "friday/viernes/freitag saturday/sabado/samstag/sonnabend sunday/domingo/sonntag",
    first=0,
)
SHORT_WEEKDAYS = _numbered("mon tue/tues wed/weds thu/thur/thurs fri sat sun", first=0)

# Words of other use, which count as dates only with a reason: a capital, or a word before them.
SHY = frozenset({"march", "may", "mar"})
REASONS = frozenset(
    "in on during since until till before after from between by of early late mid last next".split()
)
# Names of people too, after words that go with people: the mail from April, la casa de Julio.
ALSO_NAMES = frozenset({"april", "june", "may", "julio", "abril"})
BEFORE_NAMES = frozenset({"from", "for", "by", "of", "to", "and", "de", "del", "a", "y"})
# A day is written small in Spanish; with a capital it is somebody, unless an article says otherwise.
SURNAMES = frozenset({"domingo"})
BEFORE_DAYS = frozenset("el al del este pasado proximo desde hasta sabado".split())
# … and these only with the capital: the sun is out, we sat, they wed.
NEEDS_CAPITAL = frozenset({"mon", "sun", "sat", "wed"})

UNITS = {
    "hour": Unit.HOUR, "hora": Unit.HOUR, "day": Unit.DAY, "dia": Unit.DAY,
    "night": Unit.DAY, "noche": Unit.DAY,
    "week": Unit.WEEK, "semana": Unit.WEEK, "month": Unit.MONTH, "mes": Unit.MONTH,
    "quarter": Unit.QUARTER, "trimestre": Unit.QUARTER, "year": Unit.YEAR, "ano": Unit.YEAR,
    "tag": Unit.DAY, "nacht": Unit.DAY, "woche": Unit.WEEK, "monat": Unit.MONTH, "quartal": Unit.QUARTER, "jahr": Unit.YEAR,
}  # fmt: skip
MANY_UNITS = {
    **{f"{name}s": unit for name, unit in UNITS.items() if name != "mes"},
    "meses": Unit.MONTH,
    **{f"tage{n}": Unit.DAY for n in ("", "n")},
    "wochen": Unit.WEEK,
    **{
        f"{name}e{n}": unit
        for name, unit in (("monat", Unit.MONTH), ("jahr", Unit.YEAR), ("quartal", Unit.QUARTER))
        for n in ("", "n")
    },
}

NUMBERS = _numbered(
    "a/an/one/un/una/uno/ein/eine/einem/einer two/dos/zwei three/tres/drei four/cuatro/vier five/cinco/funf "
    "six/seis/sechs seven/siete/sieben eight/ocho/acht nine/nueve/neun ten/diez/zehn eleven/once twelve/doce thirteen/trece fourteen/catorce "
    "fifteen/quince sixteen/dieciseis seventeen/diecisiete eighteen/dieciocho nineteen/diecinueve",
    first=1,
)
TENS = {
    name: 10 * tens
    for name, tens in _numbered(
        "twenty/veinte thirty/treinta forty/cuarenta fifty/cincuenta sixty/sesenta seventy/setenta "
        "eighty/ochenta ninety/noventa",
        first=2,
    ).items()
}
# Days of a month, said in words: the second of May, el dos de mayo.
DAY_NAMES = _numbered(
    "first/uno second/dos third/tres fourth/cuatro fifth/cinco sixth/seis seventh/siete eighth/ocho "
    "ninth/nueve tenth/diez eleventh/once twelfth/doce thirteenth/trece fourteenth/catorce "
    "fifteenth/quince sixteenth/dieciseis seventeenth/diecisiete eighteenth/dieciocho "
    "nineteenth/diecinueve twentieth/veinte veintiuno veintidos veintitres veinticuatro veinticinco "
    "veintiseis veintisiete veintiocho veintinueve thirtieth/treinta",
    first=1,
)
ORDINALS = _numbered("first/primero/primer/primera/1ro second/segundo/segunda third/tercero/tercer/tercera "
                     "fourth/cuarto/cuarta", first=1)  # fmt: skip

WORDS: Mapping[str, Mapping[str, int]] = {
    "n": {
        **NUMBERS,
        **TENS,
        **{name: DAY_NAMES[name] for name in DAY_NAMES if name[:6] == "veinti"},
    },
    "tens": TENS,
    "digit": {name: number for name, number in NUMBERS.items() if number < 10},
    "day-name": DAY_NAMES,
    "digit-name": {name: number for name, number in DAY_NAMES.items() if number < 10},
    "nth": ORDINALS,
    "unit": {**UNITS, **MANY_UNITS},
    "units": MANY_UNITS,
    "weekday": WEEKDAYS,
    "any-weekday": {**WEEKDAYS, **SHORT_WEEKDAYS},
    "month": MONTHS,
    "any-month": {**MONTHS, **SHORT_MONTHS},
    # A full stop after a month in full ends a sentence, and `may` is short for nothing.
    "dotted-month": {name: number for name, number in SHORT_MONTHS.items() if name != "may"},
    "clear-month": {name: number for name, number in MONTHS.items() if name not in SHY},
    "day": {"first": 1, "primero": 1},
}


_DAY = re.compile(r"([0-3]?\d)(?:st|nd|rd|th|º|o|a|°|er|ro)?")


def _day(text: str) -> int | None:
    if found := _DAY.fullmatch(text):
        return int(found[1]) if 1 <= int(found[1]) <= 31 else None
    return WORDS["day"].get(text)


def _two_days(text: str) -> int | None:
    first, _, last = text.partition("-")
    one, other = _day(first), _day(last)
    return one * 100 + other if one and other and one < other else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 5 else WORDS["n"].get(text)


def _between(low: int, high: int) -> Callable[[str], int | None]:
    def read(text: str) -> int | None:
        is_number = text.isdecimal() and len(text) == len(str(high))
        return int(text) if is_number and low <= int(text) <= high else None

    return read


# What the classes of a phrase read, and the value of each word; None if it is not one of them.
CLASSES: Mapping[str, Callable[[str], int | None]] = {
    **{name: words.get for name, words in WORDS.items()},
    "n": _number,
    "day": _day,
    "ordinal": lambda text: None if text.isdigit() else _day(text),
    "day-day": _two_days,
    "quarter": _between(1, 4),
    "year": _between(1900, 2099),
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

    steps: dict[str, list[Node]] = field(default_factory=dict)
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
    reached_by: dict[tuple[str, ...], list[Node]] = {(): [root]}
    for meaning, confidence, after, forms in read_rows("date_phrases.txt"):
        words = frozenset(
            word for name in after.split("+") for word in _AFTER.get(name, "").split()
        )
        phrase = Phrase(_resolver(meaning), _CONFIDENCE[confidence], words)
        for form in forms.split("|"):
            items = tuple(form.split())
            for end in range(1, len(items) + 1):
                if items[:end] not in reached_by:
                    reached_by[items[:end]] = _lead_on(reached_by[items[: end - 1]], items[end - 1])
            for node in reached_by[items]:
                node.ends.append(phrase)
    return root


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
    found = _TERM.fullmatch(term)
    if found is None:
        return Unit[term.upper()] if term.isalpha() else int(term)
    if int(found[2]) > len(values):
        return None  # the year, if none is given
    value = values[int(found[2]) - 1]
    if not found[3]:
        return -value if found[1] else value
    other = values[int(found[4]) - 1] if found[4] else int(found[5])
    return {"+": value + other, "/": value // other, "%": value % other}[found[3]]


def _lead_on(reached: list[Node], item: str) -> list[Node]:
    following = Node()
    for node in reached:
        for choice in item.removesuffix("?").split("/"):
            node.steps.setdefault(choice, []).append(following)
    return [*reached, following] if item.endswith("?") else [following]


def first_words(root: Node) -> frozenset[str]:
    """Every word a phrase can begin with; numbers come on top."""
    return frozenset(word for step in root.steps for word in WORDS.get(step.strip("<_>"), [step]))


def matches_at(root: Node, tokens: Sequence[Token], start: int) -> list[Match]:
    """Every phrase that begins at this token, the longest and surest first."""
    found = list[Match]()
    open_ends: list[tuple[Node, int, tuple[int, ...]]] = [(root, start, ())]
    while open_ends:
        node, at, values = open_ends.pop()
        found.extend(Match(phrase, start, at, values) for phrase in node.ends)
        if node.steps and at < len(tokens):
            for step, value in _steps_of(tokens[at].text):
                if after := node.steps.get(step):
                    open_ends += [(one, at + 1, values + value) for one in after]
    return sorted(found, key=_order)


@lru_cache(4096)
def _steps_of(text: str) -> Sequence[tuple[str, tuple[int, ...]]]:
    """The steps a token takes: itself, and each class it is a word of, with its value and without."""
    steps: list[tuple[str, tuple[int, ...]]] = [(text, ())]
    for name, read in CLASSES.items():
        value = read(text)
        if value is not None:
            steps += [(f"<{name}>", (value,)), (f"<_{name}>", ())]
    return steps


def _order(match: Match) -> tuple[int, float, int]:
    return -match.end, -match.phrase.confidence, len(match.values)
