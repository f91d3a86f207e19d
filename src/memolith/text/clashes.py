"""Can two sentences about one subject both hold? Judged by their values, their «not» and their words.

A sentence is taken apart into values (numbers, times, days, names) and its frame, the words around them.
Two sentences with the same frame and another value clash, or with the same values and one «not» more.
When in doubt they do not: what happened, what holds under a condition, what has two values that differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from memolith.text.amounts import plain_amounts
from memolith.text.claims import leaning_sentences, of_one_thing
from memolith.text.cues import listed, says_any
from memolith.text.folding import fold
from memolith.text.similarity import NEGATIONS
from memolith.text.stopwords import is_stop_word
from memolith.text.terms import stem

Alike = Callable[[str, str], bool]  # whether two words mean the same

_TOKEN = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.\w+|\d[\d.,:/]*\d|\w+(?:['’]\w+)?|:(?=\s)")
_MOST_CHARS = 240
_TABLE = "claims"


def _set(section: str) -> frozenset[str]:
    return frozenset(fold(word) for word in listed(section, _TABLE))


def _pairs(section: str) -> list[tuple[str, str]]:
    found = (fold(pair).split("/") for pair in listed(section, _TABLE))
    return [(one, other) for one, other in found]


DAYS, MONTHS = _set("days"), _set("months")
_ONE_NAME, _CONDITION = says_any("one name", _TABLE), says_any("condition", _TABLE)
_PAST, _NO_PAST = says_any("past", _TABLE), says_any("no past", _TABLE)
# With its accents: «pagó» was, «pago» is.
_ENDINGS = [ending for ending in listed("past endings", _TABLE) if not ending.startswith("-")]
_NO_ENDINGS = tuple(
    ending[1:] for ending in listed("past endings", _TABLE) if ending.startswith("-")
)
_ENDING = re.compile(rf"\b\w{{2,}}(?:{'|'.join(_ENDINGS)})\b")
_VERBS, _PREPOSITIONS = _set("links"), _set("preposition links")
_VERB_ENDINGS = tuple(_set("link endings"))
_OPPOSITES = {frozenset(pair) for pair in _pairs("opposites")}
_WAYS = _pairs("ways")
_ORDINALS, _INDEFINITE = _set("ordinals"), _set("indefinite")
_FILLERS, _ATTRIBUTES = _set("fillers"), _set("attributes")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_SAME = {"max": "maximum", "min": "minimum", "led": "lead", "cannot": "can"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """A sentence taken apart."""

    text: str  # the words around the values
    words: Mapping[str, str]  # the telling ones, by their stems
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by kind, in their order
    negated: bool = False
    one_name: bool = False  # a name in it is an answer
    said_of_subject: bool = False  # whether the last value stands behind a verb
    beside_name: frozenset[str] = frozenset()  # words that only say what is named: «the dog Cookie»
    of: frozenset[str] = (
        frozenset()
    )  # the names told before, where it leans on them: «the budget is 950»


def frames(text: str, is_name: Callable[[str], bool]) -> Iterator[Frame]:
    """The sentences of a text that say how something is; what happened is left out."""
    for written, of in leaning_sentences(text):
        sentence = plain_amounts(written)
        plain = fold(sentence)
        if len(sentence) <= _MOST_CHARS and not sentence.rstrip().endswith("?"):
            happened = _PAST.search(plain) or (
                _ends_as_past(sentence) and not _NO_PAST.search(plain)
            )
            if not happened and not _CONDITION.search(plain):
                yield replace(_frame(sentence, plain, is_name), of=of)


def _ends_as_past(sentence: str) -> bool:
    found = _ENDING.findall(sentence.lower())
    return any(not word.endswith(_NO_ENDINGS) for word in found)


def _frame(sentence: str, plain: str, is_name: Callable[[str], bool]) -> Frame:
    one_name = bool(_ONE_NAME.search(plain))
    values: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    around: list[str] = []
    last, beside = "", set[str]()
    negated = linked = behind = has_verb = False
    for token in _TOKEN.findall(sentence):
        word = _SAME.get(fold(token).replace("'", "").replace("’", ""), fold(token))
        kind = _kind(token, word, names=one_name and is_name(token))
        if not kind and word in _ORDINALS and fold(around[-1] if around else "") not in _INDEFINITE:
            kind = "number"  # «on the third floor»; «a third floor» is one more
        if kind:
            values.setdefault(kind, []).append(word.removesuffix("s") if kind == "day" else word)
            behind = linked and (kind != "number" or _may_have_value(around[-1]))
            continue
        around.append(token)
        bare = word.replace("'", "").replace("’", "")
        negated ^= bare in NEGATIONS or token.lower() == "cannot"
        has_verb = has_verb or bool(around[1:] and _is_verb(token, word))
        linked = linked or has_verb or bool(around[1:] and word in _PREPOSITIONS)
        if bare not in NEGATIONS and bare not in _FILLERS and not is_stop_word(bare):
            if last and is_name(token):
                beside.add(last)
            last = bare
            words[stem(bare.removesuffix("s"), "en")] = bare
        else:
            last = ""
    # A dinner is on many days; only of a verb a date is the value.
    behind = behind and (has_verb or not ("month" in values or _DATE.search(sentence)))
    return Frame(
        text=" ".join(around),
        words=words,
        values={kind: tuple(found) for kind, found in values.items()},
        negated=negated,
        one_name=one_name,
        said_of_subject=behind or (one_name and not values.get("number")),
        beside_name=frozenset(beside),
    )


def _may_have_value(word: str) -> bool:
    """Whether a number behind this word says how much; behind others it is a name: «letter 7»."""
    plain = fold(word)
    return (
        is_stop_word(plain)
        or plain in _FILLERS
        or plain in _ATTRIBUTES
        or _is_verb(word, plain)
        or plain in _PREPOSITIONS
        or plain in MONTHS
    )


def _is_verb(token: str, word: str) -> bool:
    """Whether what stands behind it is said of the subject."""
    ends = len(word) > 3 and token.islower() and word.isascii() and word.endswith(_VERB_ENDINGS)
    return word in _VERBS or ends


def _kind(token: str, word: str, *, names: bool) -> str:
    if any(letter.isdigit() for letter in token):
        return "time" if re.fullmatch(r"\d{1,2}:\d\d", token) else "number"
    if word in DAYS:
        return "day"
    if word in MONTHS:
        return "month"
    return "name" if names else ""


def clash(one: Frame, other: Frame, alike: Alike) -> bool:
    """Whether two sentences whose frames are near each other cannot both hold."""
    if not of_one_thing(one.of, other.of):
        return False
    differ = [
        kind
        for kind in {*one.values, *other.values}
        if one.values.get(kind, ()) != other.values.get(kind, ())
    ]
    if not differ:
        if one.words.keys().isdisjoint(other.words):
            return False
        if one.negated != other.negated:
            enough = len(one.words) + len(one.values) >= 2
            return enough and not any(_words_apart(one, other, alike))
        told = {*one.words.values(), *other.words.values()}
        return any(pair <= told for pair in _OPPOSITES) and (
            frozenset(_words_apart(one, other, alike)) in _OPPOSITES
        )
    if one.negated or other.negated or not _is_date_or_single(differ) or _other_way(one, other):
        return False
    return (
        bool(one.words)
        and one.said_of_subject
        and other.said_of_subject
        and all(_only_the_last_differs(one.values, other.values, kind) for kind in differ)
        and not any(_words_apart(one, other, alike))  # last: comparing meanings is what costs
    )


def _other_way(one: Frame, other: Frame) -> bool:
    mine, theirs = set(fold(one.text).split()), set(fold(other.text).split())
    only_mine, only_theirs = mine - theirs, theirs - mine
    return any(
        (there in only_mine and back in only_theirs) or (back in only_mine and there in only_theirs)
        for there, back in _WAYS
    )


def _words_apart(one: Frame, other: Frame, alike: Alike) -> Iterator[str]:
    """The telling words of either that have no partner in the other."""
    named = one.beside_name | other.beside_name
    left = [one.words[key] for key in one.words.keys() - other.words.keys()]
    right = [other.words[key] for key in other.words.keys() - one.words.keys()]
    for mine, theirs in ((left, right), (right, left)):
        for word in mine:
            only_tells_what = not theirs and word in named
            if not only_tells_what and not any(alike(word, found) for found in theirs):
                yield word


def _is_date_or_single(differ: list[str]) -> bool:
    """One value differs, or a date does, which is a number and a month."""
    return len(differ) == 1 or sorted(differ) == ["month", "number"]


def _only_the_last_differs(
    one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]], kind: str
) -> bool:
    mine, theirs = one.get(kind, ()), other.get(kind, ())
    return len(mine) == len(theirs) > 0 and mine[:-1] == theirs[:-1]
