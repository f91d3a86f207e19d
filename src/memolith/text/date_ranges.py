"""Days put together: between Monday and Friday, since March, hasta ayer, before 2025."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Days, Unit
from memolith.text.date_grammar import LIKELY, SURE
from memolith.text.date_tokens import Token
from memolith.text.date_words import CLASSES


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Days named by the tokens from `start` to before `end`."""

    start: int
    end: int
    days: Days
    confidence: float


_ARTICLES = frozenset("the el la los las de del".split())
_BETWEEN = frozenset("between entre".split())
_AND = frozenset("and y e &".split())
_FROM = frozenset("from desde de del".split())
_TO = frozenset("to until till through thru hasta al a -".split())
_SINCE = frozenset("since desde".split())
_UNTIL = frozenset("until till hasta".split())
_BEFORE = frozenset("before antes".split())
_AFTER = frozenset("after despues tras".split())


def joined(found: Sequence[Found], tokens: Sequence[Token], today: date) -> list[Found]:
    """The same days, pairs made into one range and open ends closed by today or by the beginning."""
    result = list[Found]()
    rest = list(reversed(found))
    while rest:
        one = rest.pop()
        if rest and (pair := _pair(one, rest[-1], tokens, today)):
            rest.pop()
            result.append(pair)
        else:
            result.append(_open_ended(one, tokens, today))
    return result


def _pair(one: Found, other: Found, tokens: Sequence[Token], today: date) -> Found | None:
    between = [token.text for token in tokens[one.end : other.start]]
    link = [word for word in between if word not in _ARTICLES]
    if len(link) != 1 or len(between) > 3:
        return None
    begin = _word_before(one, tokens)
    word = tokens[begin].text if begin >= 0 else ""
    if link[0] in _AND and word in _BETWEEN:
        start = begin
    elif link[0] in _TO:
        start = begin if word in _FROM else one.start
    else:
        return None
    return Found(
        start=start,
        end=other.end,
        days=_from_to(one.days, other.days, today),
        # Two dates so linked are dates; and a year given to one is meant for both.
        confidence=SURE if other.confidence == SURE and one.days.guess != "week" else LIKELY,
    )


def _word_before(found: Found, tokens: Sequence[Token]) -> int:
    """The index of the word before, beyond an article; -1 if there is none."""
    before = found.start - 1
    if before > 0 and tokens[before].text in _ARTICLES - _FROM:
        return before - 1
    if before > 0 and tokens[before].text in _FROM:  # antes del, después de
        return before - 1 if tokens[before - 1].text in _BEFORE | _AFTER else before
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


def _open_ended(found: Found, tokens: Sequence[Token], today: date) -> Found:
    begin = _word_before(found, tokens)
    word = tokens[begin].text if begin >= 0 else ""
    first, last = found.days.first, found.days.last
    if word in _BEFORE | _AFTER and (counted := _counted(tokens, begin)):
        begin, count, unit = counted
        before = word in _BEFORE
        period = days.ago(first, count, unit) if before else days.ahead(last, count, unit)
    elif word in _SINCE and first <= today:
        period = Days(first=first, last=today)
    elif word in _UNTIL:
        period = Days(first=date.min, last=last)
    elif word in _BEFORE:
        period = Days(first=date.min, last=days.shift(first, -1))
    elif word in _AFTER and last < today:
        period = Days(first=days.shift(last, 1), last=today)
    else:
        return found
    return replace(found, start=begin, days=period)


def _counted(tokens: Sequence[Token], end: int) -> tuple[int, int, Unit] | None:
    """Where "two days" and "the day" begin in front of a token, and how long that is."""
    if end < 2:
        return None
    unit = CLASSES["unit"](tokens[end - 1].text)
    count = CLASSES["n"](tokens[end - 2].text)
    if count is None and unit == Unit.DAY and tokens[end - 2].text in _ARTICLES:
        count = 1
    return None if unit is None or count is None else (end - 2, count, Unit(unit))
