"""Which sentences cannot both hold: those with the same words around another value, or with one «not» more.

A sentence is taken apart into values (numbers, times, days, names) and its frame, the words around them. When in
doubt two sentences do not contradict each other: what happened, what holds under a condition, what is counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from memolith.text.cues import entries, expression
from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.names import entities, small_words
from memolith.text.sentences import sentences
from memolith.text.similarity import NEGATIONS
from memolith.text.terms import is_stop_word, stem
from memolith.text.tokens import fold

_MAX_CHARS = 240
_MAX_VALUES = 3  # what has more is counted or measured again and again
_MAX_COMPARED = 50  # of one frame, the newest
_TOKEN = re.compile(
    r"https?://\S+|[\w.+-]+@[\w-]+\.\w+|\d[\d.,:/]*\d|\w+(?:['’]\w+)?|:(?=\s)|[€$£]"
)
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_SAME = {
    "max": "maximum", "min": "minimum", "led": "lead", "cannot": "can",
    "€": "euro", "eur": "euro", "$": "dollar", "usd": "dollar", "£": "pound", "gbp": "pound",
}  # fmt: skip
_THOUSANDS = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?![\w:/]*\d)(?:[.,]00?(?!\d))?"
)
_TITLE = re.compile(r"\b(?:Mrs?|Ms|Drs?|Dra|Prof|Sra?|Herr|Frau)\.? (?=[A-ZÁÉÍÓÚÑÄÖÜ])")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """A sentence taken apart."""

    words: frozenset[str]  # the stems of the telling ones
    around: frozenset[str]  # all words but the values, folded
    sides: frozenset[tuple[str, str]]  # of pairs of opposites, and what is of none
    values: Mapping[str, tuple[str, ...]]  # by kind, in their order
    negated: bool
    said_of_subject: bool  # whether the last value is behind a verb
    of: frozenset[str]  # the names told before, where it leans on them: «the budget is 950»

    @property
    def key(self) -> tuple[str, ...]:
        """What two sentences that contradict each other have in common."""
        return tuple(sorted({_side(one)[0] or one for one in self.words}))


def contradicting(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of texts that cannot both hold, the older first; `texts` are in order of age.

    An older text that several newer ones contradict comes once, with the newest of them.

    >>> list(contradicting(["The rent is 950 euros", "Tea at four", "The rent is €990"]))
    [(0, 2)]
    """
    small = small_words(texts)
    by_key: dict[tuple[str, ...], list[tuple[int, _Frame]]] = {}
    for number, text in enumerate(texts):
        for frame in _frames(text, lambda word: bool(entities(word, small))):
            if frame.words:
                by_key.setdefault(frame.key, []).append((number, frame))
    newest: dict[int, int] = {}
    for some in by_key.values():
        last = some[-_MAX_COMPARED:]
        pairs = [
            (mine, theirs)
            for at, (mine, one) in enumerate(last)
            for theirs, other in last[at + 1 :]
            if mine != theirs and _clash(one, other)
        ]
        often = Counter(place for pair in pairs for place in pair)
        for mine, theirs in pairs:
            if max(often[mine], often[theirs]) <= _MAX_VALUES:
                newest[mine] = max(theirs, newest.get(mine, 0))
    yield from sorted(newest.items())


def _frames(text: str, is_name: Callable[[str], bool]) -> Iterator[_Frame]:
    """The sentences of a text that say how something is; what happened is left out."""
    before = ""
    for part in (one for sentence in sentences(text[:2000]) for one in sentence.split("; ")):
        written = _plain_amounts(part)
        plain = fold(written)
        ends_so = _past_ending().search(written.lower()) and not _says("no past", plain)
        happened = _says("past", plain) or ends_so
        is_said = len(written) <= _MAX_CHARS and not written.rstrip().endswith("?")
        if is_said and not happened and not _says("condition", plain):
            leans = before and _the_thing().match(plain)
            names = frozenset(entities(before)) if leans else frozenset[str]()
            yield _frame(written, plain, is_name, names)
        before += f"{part}; "


def _frame(sentence: str, plain: str, is_name: Callable[[str], bool], of: frozenset[str]) -> _Frame:
    one_name = _says("one name", plain)
    values: dict[str, list[str]] = {}
    words: set[str] = set()
    around: list[str] = []
    negated = linked = behind = has_verb = False
    for token in _TOKEN.findall(sentence):
        word = _SAME.get(fold(token).replace("'", ""), fold(token))
        kind = _kind(token, word, around, names=one_name and is_name(token))
        if kind:
            values.setdefault(kind, []).append(word.removesuffix("s") if kind == "day" else word)
            behind = linked
            continue
        around.append(token)
        bare = word.replace("'", "")
        negated ^= bare in NEGATIONS or token.lower() == "cannot"
        has_verb = has_verb or bool(around[1:] and _is_verb(token, word))
        linked = linked or has_verb or bool(around[1:] and word in _set("preposition links"))
        if bare in NEGATIONS or bare in _set("fillers") or is_stop_word(bare):
            continue
        words.add(_stem(bare))
    # A dinner is on many days; only of a verb a date is the value.
    behind = behind and (has_verb or not ("month" in values or _DATE.search(sentence)))
    return _Frame(
        words=frozenset(words),
        around=frozenset(fold(" ".join(around)).split()),
        sides=frozenset(map(_side, words)),
        values={kind: tuple(found) for kind, found in values.items()},
        negated=negated,
        said_of_subject=behind or (one_name and not values.get("number")),
        of=of,
    )


def _clash(one: _Frame, other: _Frame) -> bool:
    """Whether two sentences with one key cannot both hold."""
    if not (one.of <= other.of or other.of <= one.of):
        return False
    differ = [
        kind
        for kind in {*one.values, *other.values}
        if one.values.get(kind) != other.values.get(kind)
    ]
    turned = sum(side != "" for side, _ in one.sides ^ other.sides) == 2
    if not differ:
        enough = len(one.words) + len(one.values) >= 2
        return turned != (one.negated or other.negated) and (
            turned or (one.negated != other.negated and enough)
        )
    if turned or one.negated or other.negated or _other_way(one, other):
        return False
    is_date_or_single = len(differ) == 1 or sorted(differ) == ["month", "number"]
    is_said = one.said_of_subject and other.said_of_subject
    return (
        is_date_or_single
        and is_said
        and all(_only_last_differs(one, other, kind) for kind in differ)
    )


def _only_last_differs(one: _Frame, other: _Frame, kind: str) -> bool:
    mine, theirs = one.values.get(kind, ()), other.values.get(kind, ())
    return len(mine) == len(theirs) > 0 and mine[:-1] == theirs[:-1]


def _other_way(one: _Frame, other: _Frame) -> bool:
    """Whether one is there and the other back: «to Porto», «from Porto»."""
    mine, theirs = one.around - other.around, other.around - one.around
    return any(
        (there in mine and back in theirs) or (back in mine and there in theirs)
        for there, back in _pairs("ways")
    )


def _kind(token: str, word: str, around: Sequence[str], *, names: bool) -> str:
    if any(letter.isdigit() for letter in token):
        return "time" if re.fullmatch(r"\d{1,2}:\d\d", token) else "number"
    if word in WEEKDAYS or word.removesuffix("s") in WEEKDAYS or word in _set("days"):
        return "day"
    if word in MONTHS:
        return "month"
    if word in _set("ordinals") and fold(around[-1] if around else "") not in _set("indefinite"):
        return "number"  # «on the third floor»; «a third floor» is one more
    return "name" if names else ""


def _is_verb(token: str, word: str) -> bool:
    """Whether what is behind it is said of the subject."""
    ends = (
        len(word) > 3
        and token.islower()
        and word.isascii()
        and word.endswith(tuple(_set("link endings")))
    )
    return word in _set("links") or ends


def _plain_amounts(text: str) -> str:
    """The text with its amounts in one form: 1.200 and 1,200.00 are 1200."""
    text = _TITLE.sub("", text)
    return _THOUSANDS.sub(lambda found: re.sub(r"[.,]00?$|[.,]", "", found[0]), text)


@cache
def _side(word: str) -> tuple[str, str]:
    """The pair of opposites that a stem is of, and the stem."""
    for one, other in _pairs("opposites"):
        if word in (_stem(one), _stem(other)):
            return one, word
    return "", ""


def _stem(word: str) -> str:
    return stem(word.removesuffix("s"), "en")


@cache
def _set(section: str) -> frozenset[str]:
    return frozenset(fold(word) for word in entries(section, "frames"))


@cache
def _pairs(section: str) -> tuple[tuple[str, str], ...]:
    pairs = (fold(pair).partition("/") for pair in entries(section, "frames"))
    return tuple((one, other) for one, _, other in pairs)


def _says(section: str, plain: str) -> bool:
    return expression(section, "frames").search(plain) is not None


@cache
def _past_ending() -> re.Pattern[str]:
    # With its accents: «pagó» was, «pago» is.
    return re.compile(rf"\b\w{{2,}}(?:{'|'.join(entries('past endings', 'frames'))})\b")


@cache
def _the_thing() -> re.Pattern[str]:
    """«The budget is», and no word that says of what."""
    verbs = "|".join(map(re.escape, _set("links")))
    return re.compile(
        rf"(?:{'|'.join(_set('definite'))})\s+[\w-]+\s+(?:{verbs}|\w+(?:{'|'.join(_set('link endings'))})\b)"
    )
