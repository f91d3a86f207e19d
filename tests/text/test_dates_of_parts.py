"""Seasons, weeks, halves, thirds, things counted back, and what only looks so. Today is Wednesday, 15 April 2026."""

from __future__ import annotations

from datetime import date

import pytest

from memolith.text.calendar_parts import is_southern
from memolith.text.dates import LIKELY, find_days
from tests.text.named_days import TODAY, days


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("week 12", "03-16..03-22"),
        ("what did we plan in week 12?", "03-16..03-22"),
        ("calendar week 12", "03-16..03-22"),
        ("week no. 12", "03-16..03-22"),
        ("KW12", "03-16..03-22"),
        ("week 50", "2025-12-08..2025-12-14"),
        ("week 53", "2020-12-28..2021-01-03"),
        ("week 12 of 2025", "2025-03-17..2025-03-23"),
        ("week 12, 2025", "2025-03-17..2025-03-23"),
        ("week 12 of last year", "2025-03-17..2025-03-23"),
        ("week 20 of this year", "05-11..05-17"),
        ("2025-W12", "2025-03-17..2025-03-23"),
        ("the 12th week of 2026", "03-16..03-22"),
        ("en la semana 12", "03-16..03-22"),
        ("la semana 12 de 2025", "2025-03-17..2025-03-23"),
        ("la semana 12 del año pasado", "2025-03-17..2025-03-23"),
    ],
)
def test_weeks_by_their_number(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last summer", "2025-06-01..2025-08-31"),
        ("el verano pasado", "2025-06-01..2025-08-31"),
        ("el pasado verano", "2025-06-01..2025-08-31"),
        ("the summer before last", "2024-06-01..2024-08-31"),
        ("two summers ago", "2024-06-01..2024-08-31"),
        ("hace dos veranos", "2024-06-01..2024-08-31"),
        ("hace dos otoños", "2024-09-01..2024-11-30"),
        ("this summer", "06-01..08-31"),
        ("este verano", "06-01..08-31"),
        ("next summer", "06-01..08-31"),
        ("el próximo invierno", "12-01..2027-02-28"),
        ("summer 2025", "2025-06-01..2025-08-31"),
        ("in the summer of 2025", "2025-06-01..2025-08-31"),
        ("el verano de 2025", "2025-06-01..2025-08-31"),
        ("the summer of last year", "2025-06-01..2025-08-31"),
        ("la primavera del año pasado", "2025-03-01..2025-05-31"),
        ("winter 2025", "2025-12-01..02-28"),
        ("last winter", "2025-12-01..02-28"),
        ("el invierno pasado", "2025-12-01..02-28"),
        ("two winters ago", "2024-12-01..2025-02-28"),
        ("last spring", "2025-03-01..2025-05-31"),
        ("in spring", "03-01..05-31"),
        ("last fall", "2025-09-01..2025-11-30"),
        ("last autumn", "2025-09-01..2025-11-30"),
        ("what did I eat in the summer?", "2025-06-01..2025-08-31"),
        ("¿qué hice en verano?", "2025-06-01..2025-08-31"),
        ("since last summer", "2025-06-01..04-15"),
        ("desde el verano", "2025-06-01..04-15"),
        ("between last summer and Christmas and March", "2025-06-01..2025-08-31"),
    ],
)
def test_seasons_have_three_whole_months(text: str, expected: str) -> None:
    assert days(text)[0] == expected


@pytest.mark.parametrize(
    ("today", "text", "expected"),
    [
        ("2026-01-20", "last winter", "2024-12-01..2025-02-28"),
        ("2026-01-20", "this winter", "2025-12-01..02-28"),
        ("2026-01-20", "two winters ago", "2023-12-01..2024-02-29"),
        ("2026-11-16", "last summer", "06-01..08-31"),
        ("2026-07-16", "last summer", "2025-06-01..2025-08-31"),
        ("2026-07-16", "in the summer", "06-01..08-31"),
        ("2026-12-20", "next winter", "2027-12-01..2028-02-29"),
    ],
)
def test_the_day_decides_which_season_is_meant(today: str, text: str, expected: str) -> None:
    assert days(text, date.fromisoformat(today)) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("last summer", "2025-12-01..02-28"),
        ("el verano pasado", "2025-12-01..02-28"),
        ("el invierno de 2025", "2025-06-01..2025-08-31"),
        ("this autumn", "03-01..05-31"),
    ],
)
def test_in_the_south_summer_begins_in_december(text: str, expected: str) -> None:
    assert days(text, southern=True) == [expected]


def test_where_summer_is_follows_from_the_zone_unless_a_setting_says_it() -> None:
    assert is_southern("America/Santiago")
    assert not is_southern("America/Mexico_City")
    assert not is_southern("Europe/Madrid")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("early 2025", "2025-01-01..2025-04-30"),
        ("early in 2025", "2025-01-01..2025-04-30"),
        ("at the beginning of 2025", "2025-01-01..2025-04-30"),
        ("a principios de 2025", "2025-01-01..2025-04-30"),
        ("mid-2025", "2025-05-01..2025-08-31"),
        ("in the middle of 2025", "2025-05-01..2025-08-31"),
        ("a mediados de 2025", "2025-05-01..2025-08-31"),
        ("late 2025", "2025-09-01..2025-12-31"),
        ("at the end of 2025", "2025-09-01..2025-12-31"),
        ("a finales de 2025", "2025-09-01..2025-12-31"),
        ("early last year", "2025-01-01..2025-04-30"),
        ("a principios del año pasado", "2025-01-01..2025-04-30"),
        ("at the beginning of this year", "01-01..04-30"),
        ("a principios de este año", "01-01..04-30"),
        ("at the beginning of the year", "01-01..04-30"),
        ("at the end of the year", "2025-09-01..2025-12-31"),
        ("a finales de año", "2025-09-01..2025-12-31"),
        ("end of last month", "03-21..03-31"),
        ("a finales del mes pasado", "03-21..03-31"),
        ("a fin de mes", "03-21..03-31"),
        ("early last week", "04-06..04-07"),
        ("end of March", "03-21..03-31"),
        ("a finales de marzo", "03-21..03-31"),
        ("the first half of 2025", "2025-01-01..2025-06-30"),
        ("la segunda mitad de 2025", "2025-07-01..2025-12-31"),
        ("el primer semestre de 2025", "2025-01-01..2025-06-30"),
        ("H2 2025", "2025-07-01..2025-12-31"),
        ("the second half of last year", "2025-07-01..2025-12-31"),
        ("the first half of March", "03-01..03-15"),
        ("la segunda quincena de marzo", "03-16..03-31"),
        ("Q3 2026", "07-01..09-30"),
        ("el tercer trimestre de 2025", "2025-07-01..2025-09-30"),
    ],
)
def test_parts_of_years_and_months(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a fortnight ago", "03-29..04-04"),
        ("two fortnights ago", "03-15..03-21"),
        ("in the last fortnight", "04-01..04-15"),
        ("hace quince días", "03-29..04-04"),
        ("hace una quincena", "03-29..04-04"),
        ("la quincena pasada", "04-01..04-15"),
        ("hace ocho días", "04-07..04-08"),
        ("fifteen days ago", "03-31"),
        ("two Fridays ago", "04-03"),
        ("hace dos viernes", "04-03"),
        ("three Sundays back", "03-29"),
        ("hace tres domingos", "03-29"),
        ("the day before yesterday", "04-13"),
        ("over the weekend", "04-11..04-12"),
        ("el fin de semana", "04-11..04-12"),
        ("the weekend before last", "04-04..04-05"),
        ("two weekends ago", "04-04..04-05"),
        ("hace dos fines de semana", "04-04..04-05"),
        ("the weekend of March 7", "03-07..03-08"),
        ("el fin de semana del 7 de marzo", "03-07..03-08"),
        ("a few weeks back", "03-11..04-15"),
        ("a month or so ago", "02-28..03-30"),
        ("hace más o menos un mes", "02-28..03-30"),
        ("3 weeks and 2 days ago", "03-23"),
        ("hace 3 semanas y 2 días", "03-23"),
        ("Tuesday the 3rd", "03-03"),
        ("a decade ago", "2015-04-16..2017-04-15"),
        ("la última década", "2016-04-15..04-15"),
        ("between 3 and 5 May", "2025-05-03..2025-05-05"),
        ("entre el 3 y el 5 de mayo", "2025-05-03..2025-05-05"),
    ],
)
def test_more_ways_to_count(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "may I", "may I ask", "march on", "we march on", "March on Washington", "summer camp budget",
        "in the summer camp", "in summer school", "winter tyres", "spring onions", "spring cleaning",
        "the fall from the bike", "before the fall", "primavera sound", "ropa de verano",
        "el curso de invierno", "week plan", "week of pregnancy", "week 12 of the course",
        "semana 12 de embarazo", "12 weeks", "plan de fin de semana", "sun cream", "the sun", "we sat down",
        "el mar", "mar adentro", "Domingo Pérez", "Plácido Domingo", "Santo Domingo", "¿Qué dijo Domingo?",
        "every Friday", "half of it", "first half of the game", "the end of the day",
        "an early bird", "a late train", "mid-range phone", "end of story", "a finales del partido", "the 3s",
        "second semester", "two ago", "movies from the 80s", "the 1950s", "by the end of the year", "by the end of this week", "a decade of work", "fin de fiesta", "hace falta", "the fortnight",
    ],
)  # fmt: skip
def test_false_friends_are_no_days(text: str) -> None:
    assert days(text) == []


@pytest.mark.parametrize(
    "text", ["el domingo", "El Domingo fuimos", "Domingo: misa", "DEL DOMINGO"]
)
def test_a_capital_alone_makes_no_name_of_a_day(text: str) -> None:
    assert days(text) == ["04-12"]


def test_a_month_that_is_a_name_too_is_a_month_beside_another() -> None:
    surely = [found.confidence >= LIKELY for found in find_days("in March and April", TODAY)]
    assert surely == [True, True]
    (perhaps,) = find_days("the mail for Anna and April", TODAY)
    assert perhaps.confidence < LIKELY


def test_a_week_of_a_plan_is_only_perhaps_one_of_the_calendar() -> None:
    for text in (
        "redesign Week 1",
        "the tasting for Week 3",
        "the end of week 12",
        "la semana 2 del plan",
    ):
        assert all(found.confidence < LIKELY for found in find_days(text, TODAY)), text
    for text in ("in week 12", "calendar week 12", "en la semana 12", "week 12 of 2025"):
        assert [found.confidence >= LIKELY for found in find_days(text, TODAY)] == [True], text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the weekend of the 11th", "04-11..04-12"),
        ("what happened on the weekend of the 29th?", "03-28..03-29"),
        ("over the weekend of March 7", "03-07..03-08"),
        ("el fin de semana del 11", "04-11..04-12"),
        ("the week of the 8th", "04-06..04-12"),
        ("la semana del 8", "04-06..04-12"),
    ],
)
def test_the_week_or_weekend_of_a_day_that_is_only_a_number(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("what did we do in the summer of 2019?", "2019-06-01..2019-08-31"),
        ("en el verano de 2019", "2019-06-01..2019-08-31"),
        ("during the autumn of last year", "2025-09-01..2025-11-30"),
        ("en la primavera del año pasado", "2025-03-01..2025-05-31"),
        ("in the spring of this year", "03-01..05-31"),
        ("in the summer", "2025-06-01..2025-08-31"),
    ],
)
def test_the_year_of_a_season_belongs_to_it_also_behind_an_article(
    text: str, expected: str
) -> None:
    assert days(text) == [expected]
