"""The days a question speaks of: «ayer», «last week», «between March 3 and 10», «2026-04-11»."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Days
from memolith.text.date_phrases import (
    LIKELY,
    MAYBE,
    MONTHS,
    SURE,
    Match,
    beginnings,
    listed,
    matches_at,
    phrases,
)
from memolith.text.terms import language_of
from memolith.text.tokens import fold

__all__ = ["LIKELY", "MAYBE", "SURE", "DayRange", "Token", "find_days", "without_days"]

# A pasted document does not ask for the days in it.
MOST_CHARS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange(Days):
    """Calendar days, both ends included, and the part of the text that names them.

    `confidence` is SURE if the words name these days and no others, LIKELY if a year or a week had
    to be guessed (the past is preferred), and MAYBE if this may not be a date at all.
    """

    start: int
    end: int
    confidence: float


def find_days(text: str, today: date) -> tuple[DayRange, ...]:
    """The days named in a text, in order; empty if it names none.

    What 3/4/2026 is goes by the language: 3 April in a Spanish text, and nothing at all elsewhere.

    >>> from datetime import date
    >>> [str(day.first) for day in find_days("¿qué hablamos ayer?", date(2026, 4, 12))]
    ['2026-04-11']
    >>> find_days("May I ask what Sun did?", date(2026, 4, 12))
    ()
    """
    found = tokens(text[:MOST_CHARS])
    day_first = language_of([token.text for token in found]) == "es"
    return tuple(
        replace(item, start=found[item.start].start, end=found[item.end - 1].end)
        for item in joined(_scan(found, today, day_first=day_first), found, today)
    )


def without_days(text: str, ranges: Iterable[DayRange]) -> str:
    """The text without the words that name days, as far as they are likely to be dates.

    >>> from datetime import date
    >>> question = "what did we say last week about tea?"
    >>> without_days(question, find_days(question, date(2026, 4, 12)))
    'what did we say  about tea?'
    """
    for item in sorted(ranges, key=lambda item: -item.start):
        if item.confidence >= LIKELY:
            text = text[: item.start] + text[item.end :]
    return text


def _scan(found: Sequence[Token], today: date, *, day_first: bool) -> list[DayRange]:
    """The days that tokens name; `start` and `end` count tokens."""
    result = list[DayRange]()
    at = 0
    while at < len(found):
        text = found[at].text
        end = at + 1
        if text in beginnings() or text[:1].isdigit():
            item, end = _phrase_at(found, at, today)
            item = item or _digits_at(found, at, today, day_first=day_first)
            if item:
                result.append(item)
        at = end
    return result


def _phrase_at(found: Sequence[Token], at: int, today: date) -> tuple[DayRange | None, int]:
    """The longest phrase that begins at a token, and where to go on."""
    before = found[at - 1].text if at else ""
    for match in matches_at(phrases(), found, at):
        phrase = match.phrase
        if phrase.after and before not in phrase.after:
            continue
        if phrase.resolve is None:
            return None, match.end
        confidence = _confidence(match, found)
        named = phrase.resolve(today, *match.values) if confidence else None
        if named:
            return _named(named, at, match.end, confidence), match.end
    return None, at + 1


def _confidence(match: Match, found: Sequence[Token]) -> float:
    """How sure a match is, judged by a year in it and by its words that have other uses too."""
    inside = found[match.start : match.end]
    before = found[match.start - 1].text if match.start else ""
    said = {token.text for token in inside}
    small = {token.text for token in inside if not token.is_capital}
    if _is_a_name(match, found) or small & listed("needs capital"):
        return 0
    if any(len(text) == 4 and text.isdecimal() for text in said):
        return match.phrase.confidence if len(inside) == 1 else SURE
    if len(inside) == 1 and said <= listed("also names") and not small:
        among_months = match.start > 1 and found[match.start - 2].text in MONTHS
        is_name = before in listed("before names") and not among_months
        return MAYBE if is_name else match.phrase.confidence
    if not small & listed("shy") or {before, *said} & listed("reasons"):
        return match.phrase.confidence
    return MAYBE if any(text[0].isdigit() for text in said) else 0


def _is_a_name(match: Match, found: Sequence[Token]) -> bool:
    """Whether a word that is written small as a day has the capital of a name: Plácido Domingo."""
    word = found[match.start]
    if match.end - match.start > 1 or word.text not in listed("surnames") or not word.is_capital:
        return False
    before = found[match.start - 1].text if match.start else ""
    if before[:1].isalpha():  # inside a sentence
        return before not in listed("before days")
    return match.end < len(found) and found[match.end].is_capital


def _digits_at(found: Sequence[Token], at: int, today: date, *, day_first: bool) -> DayRange | None:
    text = found[at].text
    if len(text) < 3 or not text[:1].isdigit():
        return None
    before = found[at - 1].text if at else ""
    # In German 5.11. is a date; elsewhere it may be a version.
    expecting = listed("before german" if "." in text else "before digits")
    named = days_in_digits(text, today, day_first=day_first, is_expected=before in expecting)
    if named is None:
        return None
    return _named(named, at, at + 1, LIKELY if named.guess else SURE)


def _named(days: Days, start: int, end: int, confidence: float) -> DayRange:
    return DayRange(
        first=days.first,
        last=days.last,
        guess=days.guess,
        start=start,
        end=end,
        confidence=confidence,
    )


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number or mark of a text, folded, and where it is."""

    text: str
    start: int
    end: int
    is_capital: bool


# \u0301 and its like: letters may be written with their accents apart.
_TOKEN = re.compile(
    "|".join(sorted(listed("unspaced"), key=len, reverse=True))
    + r"|\d+(?:[-/.]\d+)+|\d+(?:st|nd|rd|th|[ºª°]|er|ro)?(?!\w)|\d\w*"
    + r"|[぀-鿿가-힯]|(?:[^\W\d_]|[\u0300-\u036f])+|[^\w\s]"
)


def tokens(text: str) -> list[Token]:
    """The tokens of a text, in order."""
    folded = str.casefold if text.isascii() else fold
    return [
        Token(folded(found[0]), found.start(), found.end(), found[0][0].isupper())
        for found in _TOKEN.finditer(text)
    ]


def joined(found: Sequence[DayRange], tokens: Sequence[Token], today: date) -> list[DayRange]:
    """The same days, pairs made into one range and open ends closed by today or by the beginning."""
    result = list[DayRange]()
    rest = list(reversed(found))
    while rest:
        one = rest.pop()
        if rest and (pair := _pair(one, rest[-1], tokens, today)):
            rest.pop()
            result.append(pair)
        else:
            result.append(_open_ended(one, tokens, today))
    return result


def _pair(one: DayRange, other: DayRange, tokens: Sequence[Token], today: date) -> DayRange | None:
    between = [token.text for token in tokens[one.end : other.start]]
    link = [word for word in between if word not in listed("articles")]
    if len(link) != 1 or len(between) > 3:
        return None
    begin = _word_before(one, tokens)
    word = tokens[begin].text if begin >= 0 else ""
    if link[0] in listed("and") and word in listed("between"):
        start = begin
    elif link[0] in listed("to"):
        start = begin if word in listed("from") else one.start
    else:
        return None
    # Two dates so linked are dates; and a year given to one is meant for both.
    confidence = SURE if other.confidence == SURE and one.guess != "week" else LIKELY
    return _named(_from_to(one, other, today), start, other.end, confidence)


def _word_before(found: DayRange, tokens: Sequence[Token]) -> int:
    """The index of the word before, beyond an article; -1 if there is none."""
    before = found.start - 1
    if before > 0 and tokens[before].text in listed("articles") - listed("from"):
        return before - 1
    if before > 0 and tokens[before].text in listed("from"):  # antes del, después de
        is_opening = tokens[before - 1].text in listed("before") | listed("after")
        return before - 1 if is_opening else before
    return before


def _from_to(one: Days, other: Days, today: date) -> Days:
    first, last = one.first, other.last
    if one.guess == "year" and not other.guess:  # between March and May 2025
        first = days.with_year(first, last.year)
        if first > last:
            first = days.with_year(first, last.year - 1)
    elif first > last and one.guess == other.guess == "week":
        first = days.shift(first, -7)
    elif first > last and other.guess == "year" and first <= today:
        last = days.with_year(last, last.year + 1)
    return Days(first=min(first, last), last=max(first, last))


def _open_ended(found: DayRange, tokens: Sequence[Token], today: date) -> DayRange:
    begin = _word_before(found, tokens)
    word = tokens[begin].text if begin >= 0 else ""
    first, last = found.first, found.last
    if word in listed("since") and first <= today:
        last = today
    elif word in listed("until"):
        first = date.min
    elif word in listed("before"):
        first, last = date.min, days.shift(first, -1)
    elif word in listed("after") and last < today:
        first, last = days.shift(last, 1), today
    else:
        return found
    return replace(found, start=begin, first=first, last=last)


_YEAR = r"(?P<year>(?:19|20)\d\d)"
_IN_DIGITS = [
    re.compile(form)
    for form in (
        _YEAR + r"(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?:\D.*)?",
        _YEAR + r"(?P<month>\d\d)(?P<day>\d\d)",
        r"(?P<one>\d\d?)(?P<mark>[-/.])(?P<other>\d\d?)(?P=mark)" + _YEAR,
        r"(?P<one>\d\d?)(?P<mark>/)(?P<other>\d\d?)/(?P<year>\d\d)",
        _YEAR + r"[-/](?P<month>0[1-9]|1[0-2])",
        _YEAR + r"-(?P<last>(?:19|20)\d\d)",
        r"(?P<one>\d\d?)(?P<mark>[/.])(?P<other>\d\d?)",  # where a date is due
    )
]


def days_in_digits(text: str, today: date, *, day_first: bool, is_expected: bool) -> Days | None:
    """The days a number with separators names; None for any other number.

    Day and month are told apart by the one above 12; otherwise `day_first` says which it is; without it
    the number is left alone. `is_expected` says that a date is due, which `3/4` needs.

    >>> from datetime import date
    >>> days_in_digits("2026-04-11", date(2026, 4, 12), day_first=False, is_expected=False).first
    datetime.date(2026, 4, 11)
    """
    read = (form.fullmatch(text) for form in (_IN_DIGITS if is_expected else _IN_DIGITS[:-1]))
    parts = next((found.groupdict() for found in read if found), {})
    day_first = parts.pop("mark", "") == "." or day_first
    numbers = {name: int(number) for name, number in parts.items()}
    year = numbers.get("year")
    if "one" in numbers:
        one, other = numbers["one"], numbers["other"]
        if one <= 12 and other <= 12 and one != other and not day_first:
            return None
        numbers["day"], numbers["month"] = (other, one) if other > 12 else (one, other)
        year = year + 2000 if year is not None and year < 100 else year
    if "day" in numbers:
        return days.day_of_month(today, numbers["month"], numbers["day"], year)
    if "month" in numbers:
        return days.month(today, numbers["month"], year)
    if year is not None and year < numbers["last"]:
        return Days(first=date(year, 1, 1), last=date(numbers["last"], 12, 31))
    return None
