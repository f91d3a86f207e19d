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
_TITLE = re.compile(r"\b(?:Mrs?|Ms|Drs?|Dra|Prof|Sra?|Herr|Frau)\.? (?=[A-ZÁÉÍÓÚÑÄÖÜ])")
_THOUSANDS = re.compile(
    r"(?<![\w.,:/-])\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?![\w:/]*\d)(?:[.,]00?(?!\d))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frame:
    """A sentence taken apart."""

    words: frozenset[str]  # the stems of the telling ones
    around: frozenset[str]  # all words but the values, folded
    values: Mapping[str, Sequence[str]]  # by kind, in their order
    negated: bool
    said_of_subject: bool  # whether the last value is behind a verb
    before: frozenset[str]  # the names in the sentences before: a budget may be that of Orchid

    @property
    def key(self) -> frozenset[str]:
        """What two sentences that contradict each other have in common."""
        return frozenset(_opposites().get(word, word) for word in self.words)


def contradicting(texts: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The places of texts that cannot both hold, the older first; `texts` are in order of age.

    An older text that several newer ones contradict comes once, with the newest of them.

    >>> list(contradicting(["The rent is 950 euros", "Tea at four", "The rent is €990"]))
    [(0, 2)]
    """
    small = small_words(texts)
    by_key: dict[frozenset[str], list[tuple[int, _Frame]]] = {}
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
            yield _frame(written, is_name, before)
        before += f"{part}; "


def _frame(sentence: str, is_name: Callable[[str], bool], before: str) -> _Frame:
    one_name = _says("one name", fold(sentence))
    values: dict[str, list[str]] = {}
    words: set[str] = set()
    around: list[str] = []
    negated = has_verb = linked = behind = False
    for token in _TOKEN.findall(sentence):
        word = _SAME.get(fold(token).replace("'", ""), fold(token))
        if kind := _kind(word) or ("name" if one_name and is_name(token) else ""):
            values.setdefault(kind, []).append(word.removesuffix("s") if kind == "day" else word)
            behind = linked
            continue
        around.append(fold(token))
        bare = word.replace("'", "")
        is_not = bare in NEGATIONS
        negated ^= is_not or token.lower() == "cannot"
        has_verb = has_verb or bool(around[1:] and _is_verb(token, word))
        linked = linked or has_verb or bool(around[1:] and word in _set("preposition links"))
        if not (is_not or bare in _set("fillers") or is_stop_word(bare)):
            words.add(_stem(bare))
    # A dinner is on many days; only of a verb a date is the value.
    is_date = "month" in values or _DATE.search(sentence)
    said_of_subject = behind and (has_verb or not is_date)
    return _Frame(
        words=frozenset(words),
        around=frozenset(around),
        values=values,
        negated=negated,
        said_of_subject=said_of_subject or (one_name and not values.get("number")),
        before=frozenset(entities(before)),
    )


def _clash(one: _Frame, other: _Frame) -> bool:
    """Whether two sentences with one key cannot both hold."""
    if not (one.before <= other.before or other.before <= one.before):
        return False
    turned = len(one.words ^ other.words) == 2  # a word and its opposite
    differ = sorted(
        kind
        for kind in {*one.values, *other.values}
        if one.values.get(kind) != other.values.get(kind)
    )
    if not differ and not turned:
        is_claim = len(one.words) + len(one.values) >= 2
        return is_claim and one.negated != other.negated
    if one.negated or other.negated or (differ and turned):
        return False
    return turned or (
        (len(differ) == 1 or differ == ["month", "number"])
        and (one.said_of_subject and other.said_of_subject)
        and all(_only_last_differs(one, other, kind) for kind in differ)
        and not _other_way(one, other)
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


def _kind(word: str) -> str:
    """What kind of value a word is, names aside; "" for none."""
    if any(map(str.isdigit, word)):
        return "time" if re.fullmatch(r"\d{1,2}:\d\d", word) else "number"
    if word in WEEKDAYS or word.removesuffix("s") in WEEKDAYS:
        return "day"
    return "month" if word in MONTHS else ""


def _is_verb(token: str, word: str) -> bool:
    """Whether what is behind it is said of the subject."""
    may_end_so = len(word) > 3 and token.islower() and word.isascii()
    return word in _set("links") or (may_end_so and word.endswith(tuple(_set("link endings"))))


def _plain_amounts(text: str) -> str:
    """The text without titles and with its amounts in one form: 1.200 and 1,200.00 are 1200."""
    text = _TITLE.sub("", text)
    return _THOUSANDS.sub(lambda found: re.sub(r"[.,]00?$|[.,]", "", found[0]), text)


@cache
def _opposites() -> Mapping[str, str]:
    """The stem of a word by that of its opposite."""
    return {_stem(other): _stem(one) for one, other in _pairs("opposites")}


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
