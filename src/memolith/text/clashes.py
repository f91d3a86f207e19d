"""Can two sentences about one subject both hold? Judged by their values, their «not» and their words.

A sentence is taken apart into values (numbers, times, days, names) and its frame, the words around them.
Two sentences with the same frame and another value clash, or with the same values and one «not» more.
When in doubt they do not: what happened, what holds under a condition, what has two values that differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from memolith.text.amounts import plain_amounts
from memolith.text.claims import SENTENCE_ENDS
from memolith.text.folding import fold
from memolith.text.similarity import NEGATIONS
from memolith.text.stopwords import is_stop_word
from memolith.text.terms import stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Alike = Callable[[str, str], bool]  # whether two words mean the same

_TOKEN = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.\w+|\d[\d.,:/]*\d|\w+(?:['’]\w+)?|:(?=\s)")
_MOST_CHARS = 240
# Which day or time of year something holds for.
DAYS = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekdays?|weekends?|mornings?|evenings?|nights?|noon|"
    r"summer|winter|spring|autumn|lunes|martes|miercoles|jueves|viernes|sabados?|domingos?|mananas?|tardes?|"
    r"noches?|verano|invierno|primavera|otono|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|sonnabends?|"
    r"wochenenden?|werktags|morgens|vormittags|mittags|nachmittags|abends|nachts|sommer|fruhling|herbst"
)
MONTHS = frozenset(
    "january february march april may june july august september october november december enero febrero "
    "marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "januar februar marz mai juni juli oktober dezember".split()
)
# One at a time can be the answer, so that another name is another answer.
_ONE_NAME = re.compile(
    r"\b(?:leads?|led|owns?|owned|manages?|managed|head|boss|manager|responsible|in charge|lives?|born|married|"
    r"hosted|located|based|capital|named?|called|reports? to|works? (?:at|for)|lead|owner|"
    r"dirige\w*|vive|nacio|casad[oa]|duen[oa]|responsable|jef[ea]|se llama|trabaja en|alojad[oa]|"
    r"leitet|geleitet|gehort|besitzt|wohnt|lebt|liegt|geboren|verheiratet|heisst|chef(?:in)?|verantwortlich|"
    r"zustandig|arbeitet (?:bei|fur))\b"
)
_CONDITION = re.compile(
    r"\b(?:if|when|unless|except|only|until|while|si|cuando|salvo|excepto|solo|mientras|hasta que|"
    r"wenn|falls|sofern|sobald|nur|ausser|wahrend)\b"
)
_PAST = re.compile(
    r"\b(?:was|were|had|did|bought|went|met|paid|spent|saw|got|came|took|gave|ran|sent|won|lost|wrote|ate|"
    r"drank|slept|flew|drove|made|said|told|found|became|yesterday|last|ago|fue|fueron|era|eran|hizo|tuvo|"
    r"estuvo|ayer|hace|war|waren|hatte|hatten|wurde|wurden|gestern|kostete|kosteten|gekauft|bezahlt|getroffen|"
    r"gelaufen|gefahren|gegessen|(?:hat|habe|haben) (?:[\w.,:-]{1,30} ){1,12}?ge\w{2,20}(?:t|en))\b"
)
_ENDING = re.compile(r"\b\w{2,}(?:[^e]ed|ó|aron|ieron)\b")
_NO_PAST = re.compile(  # participles of what is, and changes that leave a new value behind
    r"\b(?:(?:is|are|be|been|gets?|esta|estan)\s+(?:\w+\s+)?\w+ed|(?:limited|based|married|named|"
    r"called(?! (?:about|to|in|me|us|him|her|them|back|and|again|for|from|the|because)\b)|led|"
    r"located|hosted|shared|need\w*|required|(?:moved|changed|raised|increased|lowered|reduced|switched|set|"
    r"subio|bajo|cambio|paso)\s+(?:\w+\s+){0,2}?(?:to|from|a)))\b"
)
_LINKS = re.compile(  # behind one of these stands what is said of the subject
    r"^(?:is|are|has|have|=|:|at|on|in|to|costs?|es|son|esta|estan|tiene|tienen|cuesta|a|en|de|el|[a-z]{3,}s|"
    r"ist|sind|hat|haben|kostet|kosten|betragt|heisst|lautet|wohnt|lebt|liegt|endet|beginnt|startet|offnet|schliesst|"
    r"wiegt|dauert|braucht|fahrt|um|am|auf|bei|bis|zu)$"
)
_OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in (
        "enabled/disabled on/off open/closed allowed/forbidden allowed/banned likes/dislikes likes/hates "
        "love/hate encrypted/unencrypted protected/unprotected required/optional public/private can/cannot "
        "married/single activado/desactivado abierto/cerrado permitido/prohibido activada/desactivada "
        "abierta/cerrada permitida/prohibida encima/debajo left/right offen/geschlossen erlaubt/verboten "
        "aktiviert/deaktiviert verschlusselt/unverschlusselt offentlich/privat"
    ).split()
}
# Small words that make it another thing: the train to a place is not the one from there.
_WAYS = (("to", "from"), ("before", "after"), ("desde", "hasta"), ("antes", "despues"), ("nach", "aus"),
         ("vor", "nach"), ("ab", "bis"))  # fmt: skip
# These say little about what a sentence is about.
_FILLERS = frozenset(
    "now currently new about around approximately roughly always every each daily monthly weekly total still "
    "again actually changed moved raised set ahora nuevo nueva siempre cada unos unas aproximadamente "
    "amount amounts run runs start starts begin begins listen listens cost costs price take takes get gets "
    "empieza cuesta precio importe sale is are be not no longer anymore ya month year mes ano : asciende "
    "jetzt aktuell derzeit neu neue neuer etwa rund ungefahr circa ca immer jede jeden jedes pro monatlich taglich "
    "kostet kosten betragt preis beginnt startet lauft uhr monat jahr der die das den dem des ein eine einen im am um "
    "von zu zum zur mit fur und ist sind hat haben wird unser unsere mein meine auf bei".split()
)
# A number behind one of these is its value.
_ATTRIBUTES = frozenset(
    "port puerto version size level limit age number code need needs weigh weighs pesa mide dura width "
    "wiegt misst dauert braucht benotigt grosse".split()
)
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


def frames(text: str, is_name: Callable[[str], bool]) -> Iterator[Frame]:
    """The sentences of a text that say how something is; what happened is left out."""
    for written in SENTENCE_ENDS.split(text[:2000]):
        sentence = plain_amounts(written)
        plain = fold(sentence)
        if len(sentence) <= _MOST_CHARS and not sentence.rstrip().endswith("?"):
            happened = _PAST.search(plain) or (
                _ENDING.search(sentence.lower()) and not _NO_PAST.search(plain)
            )
            if not happened and not _CONDITION.search(plain):
                yield _frame(sentence, plain, is_name)


def _frame(sentence: str, plain: str, is_name: Callable[[str], bool]) -> Frame:
    one_name = bool(_ONE_NAME.search(plain))
    values: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    around: list[str] = []
    negated = linked = behind = False
    for token in _TOKEN.findall(sentence):
        word = _SAME.get(fold(token).replace("'", "").replace("’", ""), fold(token))
        kind = _kind(token, word, names=one_name and is_name(token))
        if kind:
            values.setdefault(kind, []).append(word.removesuffix("s") if kind == "day" else word)
            behind = linked and (kind != "number" or _may_have_value(around[-1]))
            continue
        around.append(token)
        bare = word.replace("'", "").replace("’", "")
        negated ^= bare in NEGATIONS or token.lower() == "cannot"
        linked = linked or bool(around[1:] and _LINKS.match(word))
        if bare not in NEGATIONS and bare not in _FILLERS and not is_stop_word(bare):
            words[stem(bare.removesuffix("s"), "en")] = bare
    return Frame(
        text=" ".join(around),
        words=words,
        values={kind: tuple(found) for kind, found in values.items()},
        negated=negated,
        one_name=one_name,
        said_of_subject=behind or (one_name and not values.get("number")),
    )


def _may_have_value(word: str) -> bool:
    """Whether a number behind this word says how much; behind others it is a name: «letter 7»."""
    plain = fold(word)
    return (
        is_stop_word(plain)
        or plain in _FILLERS
        or plain in _ATTRIBUTES
        or bool(_LINKS.match(plain))
        or plain in MONTHS
    )


def _kind(token: str, word: str, *, names: bool) -> str:
    if any(letter.isdigit() for letter in token):
        return "time" if re.fullmatch(r"\d{1,2}:\d\d", token) else "number"
    if DAYS.fullmatch(word):
        return "day"
    if word in MONTHS:
        return "month"
    return "name" if names else ""


def clash(one: Frame, other: Frame, alike: Alike) -> bool:
    """Whether two sentences whose frames are near each other cannot both hold."""
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
    left = [one.words[key] for key in one.words.keys() - other.words.keys()]
    right = [other.words[key] for key in other.words.keys() - one.words.keys()]
    for mine, theirs in ((left, right), (right, left)):
        for word in mine:
            if not any(alike(word, found) for found in theirs):
                yield word


def _is_date_or_single(differ: list[str]) -> bool:
    """One value differs, or a date does, which is a number and a month."""
    return len(differ) == 1 or sorted(differ) == ["month", "number"]


def _only_the_last_differs(
    one: Mapping[str, tuple[str, ...]], other: Mapping[str, tuple[str, ...]], kind: str
) -> bool:
    mine, theirs = one.get(kind, ()), other.get(kind, ())
    return len(mine) == len(theirs) > 0 and mine[:-1] == theirs[:-1]
