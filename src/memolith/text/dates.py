"""The days a question speaks of: «ayer», «last week», «between March 3 and 10», «2026-04-11»."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache

from memolith.text.date_grammar import (
    LIKELY,
    MAYBE,
    SURE,
    Match,
    Node,
    compile_phrases,
    first_words,
    matches_at,
)
from memolith.text.date_named import NAMED
from memolith.text.date_numeric import days_in_digits
from memolith.text.date_parts import parts_of_time
from memolith.text.date_ranges import Found, joined
from memolith.text.date_relative import RELATIVE
from memolith.text.date_tokens import Token, tokens
from memolith.text.date_words import (
    ALSO_NAMES,
    BEFORE_DAYS,
    BEFORE_NAMES,
    MONTHS,
    NEEDS_CAPITAL,
    REASONS,
    SHY,
    SURNAMES,
)
from memolith.text.stopwords import is_stop_word, language_of

__all__ = ["LIKELY", "MAYBE", "SURE", "DayRange", "find_days", "without_days"]

# Whoever pastes a whole document does not ask for the days in it.
MOST_CHARS = 4_000
_WORD_OR_MARK = re.compile(r"[a-z]+|[^a-z\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class DayRange:
    """Calendar days, both ends included, and the part of the text that names them.

    `confidence` is SURE if the words name these days and no others, LIKELY if a year or a week had
    to be guessed (the past is preferred), and MAYBE if this may not be a date at all.
    """

    first: date
    last: date
    start: int
    end: int
    confidence: float


def find_days(
    text: str, today: date, *, day_first: bool | None = None, southern: bool = False
) -> tuple[DayRange, ...]:
    """The days named in a text, in order; empty if it names none.

    `day_first` says how to read 3/4/2026: True is 3 April, False is 4 March, and None goes by the
    language: 3 April in a Spanish text, and nothing at all elsewhere. `southern` says that summer
    begins in December.

    >>> from datetime import date
    >>> [str(day.first) for day in find_days("¿qué hablamos ayer?", date(2026, 4, 12))]
    ['2026-04-11']
    >>> find_days("May I ask what Sun did?", date(2026, 4, 12))
    ()
    """
    text = text[:MOST_CHARS]
    if text.isascii() and _beginnings().isdisjoint(_WORD_OR_MARK.findall(text.lower())):
        return ()  # as most questions do; cutting them into tokens takes much longer
    found = tokens(text)
    return tuple(
        DayRange(
            first=item.days.first,
            last=item.days.last,
            start=found[item.start].start,
            end=found[item.end - 1].end,
            confidence=item.confidence,
        )
        for item in joined(_scan(found, today, day_first, _phrases(southern)), found, today)
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


@cache
def _phrases(southern: bool) -> Node:
    return compile_phrases((*RELATIVE, *NAMED, *parts_of_time(southern)))


@cache
def _beginnings() -> frozenset[str]:
    return first_words(_phrases(False)).union("0123456789")


def _scan(
    found: Sequence[Token], today: date, day_first: bool | None, phrases: Node
) -> list[Found]:
    result = list[Found]()
    at = 0
    while at < len(found):
        text = found[at].text
        end = at + 1
        if text in _beginnings() or text[:1].isdigit():
            item, end = _phrase_at(found, at, today, phrases)
            item = item or _digits_at(found, at, today, day_first)
            if item:
                result.append(item)
        at = end
    return result


def _phrase_at(
    found: Sequence[Token], at: int, today: date, phrases: Node
) -> tuple[Found | None, int]:
    """The longest phrase that begins at a token, and where to go on."""
    before = found[at - 1].text if at else ""
    for match in matches_at(phrases, found, at):
        phrase = match.phrase
        if phrase.after and before not in phrase.after:
            continue
        if phrase.alone and _is_said_of(found, match.end):
            continue
        if phrase.resolve is None:
            return None, match.end
        confidence = _confidence(match, found)
        named = phrase.resolve(today, *match.values) if confidence else None
        if named:
            return Found(start=at, end=match.end, days=named, confidence=confidence), match.end
    return None, at + 1


def _is_said_of(found: Sequence[Token], at: int) -> bool:
    """Whether a word stands there that the one before it may belong to."""
    return at < len(found) and found[at].text[0].isalpha() and not is_stop_word(found[at].text)


def _confidence(match: Match, found: Sequence[Token]) -> float:
    """How sure a match is, judged by a year in it and by its words that have other uses too."""
    inside = found[match.start : match.end]
    before = found[match.start - 1].text if match.start else ""
    if _is_a_name(match, found) or any(
        token.text in NEEDS_CAPITAL and not token.is_capital for token in inside
    ):
        return 0
    if any(len(token.text) == 4 and token.text.isdecimal() for token in inside):
        return match.phrase.confidence if len(inside) == 1 else SURE
    if len(inside) == 1 and inside[0].text in ALSO_NAMES and inside[0].is_capital:
        among_months = match.start > 1 and found[match.start - 2].text in MONTHS
        is_name = before in BEFORE_NAMES and not among_months
        return MAYBE if is_name else match.phrase.confidence
    if not any(token.text in SHY and not token.is_capital for token in inside):
        return match.phrase.confidence
    if before in REASONS or any(token.text in REASONS for token in inside):
        return match.phrase.confidence
    return MAYBE if any(token.text[0].isdigit() for token in inside) else 0


def _is_a_name(match: Match, found: Sequence[Token]) -> bool:
    """Whether a word that is written small as a day has the capital of a name: Plácido Domingo."""
    word = found[match.start]
    if match.end - match.start > 1 or word.text not in SURNAMES or not word.is_capital:
        return False
    before = found[match.start - 1].text if match.start else ""
    if before[:1].isalpha():  # inside a sentence
        return before not in BEFORE_DAYS
    return match.end < len(found) and found[match.end].is_capital


# After these 3/4 is a date and not a fraction.
_BEFORE_DIGITS = frozenset("on since until before after el del al desde hasta".split())


def _digits_at(
    found: Sequence[Token], at: int, today: date, day_first: bool | None
) -> Found | None:
    text = found[at].text
    if len(text) < 3 or not text[:1].isdigit():
        return None
    if day_first is None and language_of(token.text for token in found) == "es":
        day_first = True
    is_expected = at > 0 and found[at - 1].text in _BEFORE_DIGITS
    named = days_in_digits(text, today, day_first=day_first, is_expected=is_expected)
    return named and Found(start=at, end=at + 1, days=named[0], confidence=named[1])
