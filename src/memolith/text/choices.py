"""For every word of a question the terms it may stand under in the index, and how much each counts."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import pairwise

from memolith.text.stopwords import Language
from memolith.text.synonyms import (
    Synonym,
    Synonyms,
    in_english,
    phrases,
    synonyms_of,
    without_stop_words,
)
from memolith.text.terms import stem, stems

# A word itself counts fully. What only means the same counts less, so that it never beats the word.
OWN = 0.9  # the user says it is the same
JOINED = 0.9  # with the word beside it, as one
TRANSLATION = 0.8
SAME_LANGUAGE = 0.5
# A word we can translate that also exists in the other language means something else there.
FALSE_FRIEND = 0.3


def choices(
    keywords: Sequence[str],
    *,
    language: Language | None = None,
    extra: Synonyms | None = None,
    names: Collection[str] = (),
    with_synonyms: bool = True,
) -> list[dict[str, float]]:
    """For each keyword its terms with their weights, of which the best that is found should count.

    Names are only themselves: they have no synonyms, and no stem that they share with other words.

    >>> choices(["perro"], language="es")[0]["dog"]
    0.8
    """
    result = [
        dict.fromkeys(stems(word)[:1] if word in names else stems(word), 1.0) for word in keywords
    ]
    for word, terms in zip(keywords, result, strict=True):
        if word[:1].isdigit():
            terms.update(dict.fromkeys([*_otherwise_written(word), *same_times(word)], 1.0))
    for phrase in dict.fromkeys(phrases(keywords)) if with_synonyms else ():
        if phrase in names:
            continue
        synonyms = synonyms_of(phrase, language=language, extra=extra)
        parts = phrase.split(" ")
        for at in range(len(keywords) - len(parts) + 1):
            if synonyms and list(keywords[at : at + len(parts)]) == parts:
                for terms in result[at : at + len(parts)]:
                    _add(terms, synonyms)
                if language and len(parts) == 1:
                    _doubt_false_friend(result[at], phrase, language, synonyms)
    return result


def add_joined(
    terms: Sequence[dict[str, float]], keywords: Sequence[str], said: Sequence[str]
) -> None:
    """Give each keyword the terms of what it makes with its neighbour: `on call` is also `on-call`.

    `said` are all words of the question, in order; stop words stand among them.

    >>> terms = choices(["call"])
    >>> add_joined(terms, ["call"], ["who", "is", "on", "call"])
    >>> terms[0]["oncal"]
    0.9
    """
    at = {word: number for number, word in enumerate(keywords)}
    for first, second in pairwise(said):
        if len(first) > 1 and len(second) > 1 and first.isalpha() and second.isalpha():
            for word in (first, second):
                if word in at:
                    terms[at[word]].update(dict.fromkeys(stems(first + second), JOINED))


def own_words(
    keywords: Sequence[str], language: Language | None, extra: Synonyms | None
) -> dict[str, str]:
    """What else the user's own synonyms say, word by word, each with a keyword it stands for.

    Spanish ones are there in English too: so the default model reads what is written in Spanish.

    >>> from memolith.text.synonyms import load_synonyms
    >>> own_words(["zorro"], None, load_synonyms("zorro, the old server\\t"))
    {'old': 'zorro', 'server': 'zorro'}
    """
    result = dict[str, str]()
    for phrase in phrases(keywords) if extra else ():
        for synonym in synonyms_of(phrase, language=language, extra=extra):
            said = without_stop_words(synonym.text).split(" ") if synonym.is_own else []
            if synonym.language == "es":
                said += in_english(said)
            for word in said:
                if word and word not in keywords:
                    result.setdefault(word, phrase.partition(" ")[0])
    return result


def _otherwise_written(number: str) -> list[str]:
    """A whole number with points between its thousands, or without if it has them.

    Commas need no such care: words are the same with them and without.
    """
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+", number, re.ASCII):
        return [number.replace(".", "")]
    is_large = re.fullmatch(r"[1-9]\d{3,8}", number, re.ASCII)
    return [f"{int(number):,}".replace(",", ".")] if is_large else []


def _add(terms: dict[str, float], synonyms: Sequence[Synonym]) -> None:
    for synonym in synonyms:
        weight = TRANSLATION if synonym.is_translation else SAME_LANGUAGE
        weight = OWN if synonym.is_own else weight
        parts = without_stop_words(synonym.text).split(" ")
        for part in parts:
            term = stem(part, synonym.language)
            terms[term] = max(terms.get(term, 0.0), weight / len(parts))


def _doubt_false_friend(
    terms: dict[str, float], word: str, language: Language, synonyms: Sequence[Synonym]
) -> None:
    if not any(synonym.is_translation and synonym.text == word for synonym in synonyms):
        others = [term for term in stems(word) if term != stem(word, language)]
        terms.update(dict.fromkeys(others, FALSE_FRIEND))


_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?")
_NOON = 12
_HOURS = 24
_MINUTES = 60
_HALF = re.compile(r"(?<![\d.])(\d{1,2}(?:[:.]\d{2})?) ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)


def same_times(word: str) -> list[str]:
    """The other ways to write a time, in words of an index; none for what is no time.

    Which half of the day 4:30 is in stays open; 16:30 and 4:30pm say it.

    >>> same_times("16:30"), same_times("4pm")
    (['4:30', '4:30pm'], ['16:00', '4:00', '4:00pm'])
    >>> same_times("4:30")
    ['04:30', '4:30am', '16:30', '4:30pm']
    >>> same_times("430"), same_times("25:00")
    ([], [])
    """
    found = _TIME.fullmatch(word)
    if not found or not (found[2] or found[3]):
        return []
    hour, minute = int(found[1]), int(found[2] or 0)
    if hour >= _HOURS or minute >= _MINUTES:
        return []
    if found[3]:
        hours = [hour % _NOON + _NOON * (found[3] == "pm")]
    else:
        hours = [hour] if hour > _NOON or hour == 0 else [hour % _NOON, hour % _NOON + _NOON]
    written = (way for one in hours for way in _ways(one, minute))
    return [way for way in dict.fromkeys(written) if way != word]


def _ways(hour: int, minute: int) -> list[str]:
    small, half = hour % _NOON or _NOON, "pm" if hour >= _NOON else "am"
    ways = [f"{hour:02}:{minute:02}", f"{small}:{minute:02}", f"{small}:{minute:02}{half}"]
    return ways if minute else [*ways, f"{small}{half}"]


def with_halves(text: str) -> str:
    """The text with the half of the day as part of the time.

    >>> with_halves("the 4:30 p.m. train, 5 of them; I am 7 pm")
    'the 4:30pm train, 5 of them; I am 7pm'
    """
    return _HALF.sub(r"\1\2m", text)
