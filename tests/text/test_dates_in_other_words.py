"""Phrases in which a shorter one hides that means other days. Today is Wednesday, 15 April 2026."""

from __future__ import annotations

import pytest

from tests.text.named_days import days


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("March of last year", "2025-03-01..2025-03-31"),
        ("in March last year", "2025-03-01..2025-03-31"),
        ("en marzo del año pasado", "2025-03-01..2025-03-31"),
        ("in March of this year", "03-01..03-31"),
        ("marzo de este año", "03-01..03-31"),
        ("in early March 2025", "2025-03-01..2025-03-10"),
        ("late March, 2025", "2025-03-21..2025-03-31"),
        ("mid-March 2025", "2025-03-11..2025-03-20"),
        ("the 8th of last month", "03-08"),
        ("el 8 del mes pasado", "03-08"),
        ("the first Monday of March", "03-02"),
        ("el primer lunes de marzo", "03-02"),
        ("the last Monday of March", "03-30"),
        ("el último lunes de marzo de 2025", "2025-03-31"),
        ("the Monday before last", "04-06"),
        ("el lunes antepasado", "04-06"),
    ],
)
def test_the_rest_of_a_phrase_says_which_month_or_year(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("half a year ago", "2025-09-30..2025-10-30"),
        ("hace medio año", "2025-09-30..2025-10-30"),
        ("a year and a half ago", "2024-08-31..2024-11-29"),
        ("hace un año y medio", "2024-08-31..2024-11-29"),
        ("a week ago today", "04-08"),
        ("hoy hace una semana", "04-08"),
        ("twenty days ago", "03-26"),
        ("twenty-five days ago", "03-21"),
        ("hace veinticinco días", "03-21"),
        ("hace treinta y cinco días", "03-11"),
        ("hace treinta días", "03-16"),
        ("three nights ago", "04-12"),
        ("hace tres noches", "04-12"),
        ("the last couple of days", "04-13..04-15"),
        ("hace ya 3 días", "04-12"),
        ("hace aproximadamente 2 semanas", "03-29..04-04"),
    ],
)
def test_longer_ways_to_count(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("before March 5", "0001-01-01..03-04"),
        ("after March 5", "03-06..04-15"),
        ("what day before March 5", "0001-01-01..03-04"),
    ],
)
def test_days_before_and_after_another_day(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sept. 5, 2025", "2025-09-05"),
        ("on Mar. 3", "03-03"),
        ("5 sept. 2025", "2025-09-05"),
        ("Dec. 2025", "2025-12-01..2025-12-31"),
        ("the second of March", "03-02"),
        ("el dos de marzo", "03-02"),
        ("el veintiuno de marzo de 2025", "2025-03-21"),
        ("the twenty-first of March", "03-21"),
        ("twenty first of March 2025", "2025-03-21"),
        ("March twenty-first", "03-21"),
        ("el treinta y uno de marzo", "03-31"),
        ("el 3 de marzo del año pasado", "2025-03-03"),
        ("March 3rd last year", "2025-03-03"),
    ],
)
def test_days_of_a_month_in_words_and_short(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    "text", ["a second opinion", "two of my friends", "dos de mis amigos", "one of us may march"]
)
def test_numbers_alone_are_no_days(text: str) -> None:
    assert days(text) == []
