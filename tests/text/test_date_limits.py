"""What had to be guessed, the ends of months, years and the calendar, and any text at all."""

from __future__ import annotations

import random
from datetime import date, timedelta

import pytest

from memolith.text.dates import LIKELY, MAYBE, SURE, find_days, phrases, without_days
from tests.pace import cpu_seconds
from tests.text.fuzz import RUNS, texts
from tests.text.named_days import TODAY, days


def test_confidence_says_what_had_to_be_guessed() -> None:
    def confidence(text: str) -> float:
        (found,) = find_days(text, TODAY)
        return found.confidence

    for text in ("yesterday", "last week", "March 2025", "el 3 de marzo de 2026", "2026-04-11"):
        assert confidence(text) == SURE
    for text in ("on Friday", "in March", "3 de marzo", "el martes", "between January and March"):
        assert confidence(text) == LIKELY
    for text in (
        "April told me",
        "a mail from April",
        "la casa de Julio",
        "may 3",
        "march 3 miles",
    ):
        assert confidence(text) == MAYBE


def test_every_range_is_returned_with_its_place_in_the_text() -> None:
    text = "Compare «la semana pasada» con ayer"
    found = find_days(text, TODAY)
    assert [text[item.start : item.end] for item in found] == ["la semana pasada", "ayer"]
    assert without_days(text, found) == "Compare «» con "


def test_a_text_that_seems_to_name_no_day_would_name_none_if_it_were_looked_at() -> None:
    words = [*phrases().steps, "tea", "x", "3", "2025", "12:30", ",", "'s", "q1_", "(", "-"]
    chance = random.Random(3)
    for _ in range(3_000):
        text = " ".join(chance.choices(words, k=chance.randint(1, 5)))
        # With a space beyond ASCII every word is looked at.
        assert find_days(text, TODAY) == find_days(f"{text}\u2003", TODAY), text


def test_words_that_may_not_be_a_date_stay_in_the_text() -> None:
    text = "what did April say yesterday?"
    assert without_days(text, find_days(text, TODAY)) == "what did April say ?"


@pytest.mark.parametrize(
    ("text", "today", "expected"),
    [
        ("yesterday", "2026-01-01", "2025-12-31"),
        ("tomorrow", "2025-12-31", "01-01"),
        ("last week", "2026-01-01", "2025-12-22..2025-12-28"),
        ("this week", "2026-01-01", "2025-12-29..01-04"),
        ("last month", "2026-01-31", "2025-12-01..2025-12-31"),
        ("next month", "2025-12-31", "01-01..01-31"),
        ("last quarter", "2026-01-01", "2025-10-01..2025-12-31"),
        ("last year", "2026-01-01", "2025-01-01..2025-12-31"),
        ("a month ago", "2026-03-31", "02-13..03-15"),
        ("past month", "2026-03-31", "02-28..03-31"),
        ("past year", "2024-02-29", "2023-02-28..2024-02-29"),
        ("yesterday", "2024-03-01", "2024-02-29"),
        ("yesterday", "2026-03-01", "02-28"),
        ("February 29", "2026-04-15", "2024-02-29"),
        ("el 29 de febrero", "2024-02-29", "2024-02-29"),
        ("29 de febrero de 2024", "2026-04-15", "2024-02-29"),
        ("in February 2024", "2026-04-15", "2024-02-01..2024-02-29"),
        ("December 31", "2026-12-31", "12-31"),
        ("December 31", "2026-12-30", "2025-12-31"),
        ("on the 31st", "2026-04-15", "03-31"),
        ("on Monday", "2026-04-13", "04-06"),
        ("last Monday", "2026-04-14", "04-13"),
        ("this weekend", "2026-04-19", "04-18..04-19"),
        ("last weekend", "2026-04-18", "04-11..04-12"),
        ("the weekend", "2026-04-18", "04-18..04-19"),
        ("yesterday", "2026-03-30", "03-29"),  # the night Europe loses an hour
        ("in the last 3 days", "2026-11-02", "10-30..11-02"),  # the night America gains one
    ],
)
def test_ends_of_months_years_and_leap_years(text: str, today: str, expected: str) -> None:
    assert days(text, date.fromisoformat(today)) == [expected]


def test_an_impossible_day_is_not_bent_to_a_possible_one() -> None:
    assert days("2026-02-30") == []
    assert "03-02" not in days("February 30")


def test_the_ends_of_the_calendar_hold() -> None:
    for today in (date.min, date.max, date.min + timedelta(days=40)):
        for text in ("ayer", "mañana", "last year", "next year", "9999 years ago", "in 9999 years",
                     "hace 9999 meses", "next week", "February 29", "after March 3", "on Monday",
                     "last weekend", "past 9999 weeks", "9999 hours ago", "1900", "in 2099",
                     "last winter", "next winter", "in winter", "this summer", "9999 summers ago", "week 1",
                     "week 53", "early last year", "9999 decades ago", "9999 Fridays ago", "first half of last year",
                     "9999 weekends ago", "two weekends ago", "9999 fortnights ago", "Tuesday the 31st"):  # fmt: skip
            for found in find_days(text, today):
                assert found.first <= found.last


PIECES = (
    "today", "ayer", "last", "next", "this", "el", "la", "semana", "pasada", "week", "3", "29", "31", "2026", "0",
    "99999", "March", "may", "feb", "de", "marzo", "hace", "días", "ago", "between", "and", "entre", "y", "desde",
    "hasta", "since", "before", "on", "Sun", "martes", "Q1", "trimestre", "2026-04-11", "11/04/2026", "0000-00-00",
    "summer", "verano", "winter", "fortnight", "half of", "semana 12", "weekend", "early", "finales de", "90s",
    "3-10", "-", ",", "in the past", "few", "de 2025", "first", "month", "昨天",
)  # fmt: skip


def test_no_text_and_no_day_breaks_the_reader() -> None:
    """R14, for dates."""
    chance = random.Random(4)
    read = 0
    for text in texts(PIECES, seed=4):
        today = date.fromordinal(chance.randint(1, date.max.toordinal()))
        end = 0
        for found in find_days(
            text,
            today,
            day_first=chance.choice((None, True, False)),
        ):
            assert found.first <= found.last
            assert end <= found.start < found.end <= len(text)
            assert found.confidence in (SURE, LIKELY, MAYBE)
            end = found.end
        read += 1
    assert read == RUNS


@pytest.mark.parametrize(
    "pattern", ["a", "a ", "3 ", "3-", "may ", "last ", "hace 3 ", "昨", "\u0301", "ayer y "]
)
def test_a_megabyte_is_read_within_a_second(pattern: str) -> None:
    text = pattern * (1_000_000 // len(pattern.encode()))
    with cpu_seconds(1):
        find_days(text, TODAY)
