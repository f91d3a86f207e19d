"""Which days people mean, phrase by phrase. Today is Wednesday, 15 April 2026."""

from __future__ import annotations

import pytest

from tests.text.named_days import days


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("today", "04-15"),
        ("tonight", "04-15"),
        ("this morning", "04-15"),
        ("what did I eat this afternoon?", "04-15"),
        ("yesterday", "04-14"),
        ("yesterday's notes", "04-14"),
        ("last night", "04-14"),
        ("the day before yesterday", "04-13"),
        ("tomorrow", "04-16"),
        ("the day after tomorrow", "04-17"),
        ("hoy", "04-15"),
        ("esta mañana", "04-15"),
        ("esta noche", "04-15"),
        ("ayer", "04-14"),
        ("¿Qué hablamos AYER?", "04-14"),
        ("anoche", "04-14"),
        ("antier", "04-13"),
        ("anteayer", "04-13"),
        ("antes de ayer", "04-13"),
        ("mañana", "04-16"),
        ("man\u0303ana", "04-16"),
        ("pasado mañana", "04-17"),
        ("mañana por la mañana", "04-16"),
    ],
)
def test_words_for_one_day(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ontem", "04-14"),
        ("anteontem", "04-13"),
        ("hoje", "04-15"),
        ("a semana passada", "04-06..04-12"),
        ("hier", "04-14"),
        ("avant-hier", "04-13"),
        ("aujourd’hui", "04-15"),
        ("la semaine dernière", "04-06..04-12"),
        ("gestern", "04-14"),
        ("vorgestern", "04-13"),
        ("letzte Woche", "04-06..04-12"),
        ("ieri", "04-14"),
        ("l'altro ieri", "04-13"),
        ("la settimana scorsa", "04-06..04-12"),
        ("вчера", "04-14"),
        ("昨天我们说了什么", "04-14"),
        ("先週の会議", "04-06..04-12"),
        ("어제는 뭐 했어", "04-14"),
        ("أمس", "04-14"),
    ],
)
def test_common_words_of_other_languages(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("this week", "04-13..04-19"),
        ("last week", "04-06..04-12"),
        ("the week before last", "03-30..04-05"),
        ("next week", "04-20..04-26"),
        ("this month", "04-01..04-30"),
        ("last month", "03-01..03-31"),
        ("last quarter", "01-01..03-31"),
        ("this quarter", "04-01..06-30"),
        ("this year", "01-01..12-31"),
        ("last year", "2025-01-01..2025-12-31"),
        ("esta semana", "04-13..04-19"),
        ("la semana pasada", "04-06..04-12"),
        ("la semana que viene", "04-20..04-26"),
        ("este mes", "04-01..04-30"),
        ("el mes pasado", "03-01..03-31"),
        ("el trimestre pasado", "01-01..03-31"),
        ("el año pasado", "2025-01-01..2025-12-31"),
        ("el ano pasado", "2025-01-01..2025-12-31"),
        ("this weekend", "04-18..04-19"),
        ("last weekend", "04-11..04-12"),
        ("over the weekend", "04-11..04-12"),
        ("este fin de semana", "04-18..04-19"),
        ("el fin de semana pasado", "04-11..04-12"),
        ("el finde", "04-11..04-12"),
    ],
)
def test_weeks_months_and_years_of_the_calendar(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 days ago", "04-12"),
        ("two days ago", "04-13"),
        ("a week ago", "04-05..04-11"),
        ("two weeks ago", "03-29..04-04"),
        ("a month ago", "02-28..03-30"),
        ("2 years ago", "2024-01-15..2024-07-15"),
        ("5 hours ago", "04-14..04-15"),
        ("a couple of days ago", "04-13"),
        ("a few days ago", "04-10..04-15"),
        ("hace 3 días", "04-12"),
        ("hace 3 dias", "04-12"),
        ("hace dos semanas", "03-29..04-04"),
        ("hace un mes", "02-28..03-30"),
        ("hace unos días", "04-10..04-15"),
        ("tres días atrás", "04-12"),
        ("in the last 10 days", "04-05..04-15"),
        ("past two weeks", "04-01..04-15"),
        ("over the past month", "03-15..04-15"),
        ("in the last week", "04-08..04-15"),
        ("los últimos 3 días", "04-12..04-15"),
        ("en las últimas dos semanas", "04-01..04-15"),
        ("en el último mes", "03-15..04-15"),
    ],
)
def test_counted_days_weeks_and_months(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on Friday", "04-10"),
        ("what happened Monday", "04-13"),
        ("on Wednesday", "04-08"),
        ("on Sun", "04-12"),
        ("last Tue", "04-14"),
        ("last Tuesday", "04-14"),
        ("Tuesday of nothing", "04-14"),
        ("Tuesday last week", "04-07"),
        ("this Friday", "04-17"),
        ("next Friday", "04-17"),
        ("el martes", "04-14"),
        ("el martes pasado", "04-14"),
        ("el pasado viernes", "04-10"),
        ("el martes de la semana pasada", "04-07"),
        ("este viernes", "04-17"),
        ("el próximo lunes", "04-20"),
        ("el sábado que viene", "04-18"),
        ("la reunión del miércoles", "04-08"),
    ],
)
def test_weekdays_are_the_latest_unless_said_otherwise(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in March", "03-01..03-31"),
        ("in april", "04-01..04-30"),
        ("in May", "2025-05-01..2025-05-31"),
        ("in Feb", "02-01..02-28"),
        ("March 2025", "2025-03-01..2025-03-31"),
        ("last March", "03-01..03-31"),
        ("last April", "2025-04-01..2025-04-30"),
        ("next March", "2027-03-01..2027-03-31"),
        ("en marzo", "03-01..03-31"),
        ("marzo de 2025", "2025-03-01..2025-03-31"),
        ("en mayo del 2024", "2024-05-01..2024-05-31"),
        ("el marzo pasado", "03-01..03-31"),
        ("early March", "03-01..03-10"),
        ("mid-March", "03-11..03-20"),
        ("the end of February 2024", "2024-02-21..2024-02-29"),
        ("a principios de marzo", "03-01..03-10"),
        ("a finales de marzo", "03-21..03-31"),
        ("the first week of March", "03-01..03-07"),
        ("the last week of March", "03-25..03-31"),
        ("la última semana de marzo", "03-25..03-31"),
        ("in 2025", "2025-01-01..2025-12-31"),
        ("en 2024", "2024-01-01..2024-12-31"),
        ("el presupuesto de 2025", "2025-01-01..2025-12-31"),
        ("Q1 2026", "01-01..03-31"),
        ("Q4", "2025-10-01..2025-12-31"),
        ("first quarter of 2025", "2025-01-01..2025-03-31"),
        ("primer trimestre de 2026", "01-01..03-31"),
        ("2026-02", "02-01..02-28"),
    ],
)
def test_months_quarters_and_years_by_name(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("March 3", "03-03"),
        ("on March 3rd", "03-03"),
        ("on march 3", "03-03"),
        ("the 3rd of March", "03-03"),
        ("on the 3rd of March", "03-03"),
        ("on the 3rd of March, 2024", "2024-03-03"),
        ("el día 3 de marzo", "03-03"),
        ("el día 3 de marzo de 2024", "2024-03-03"),
        ("April 20", "2025-04-20"),
        ("March 3, 2024", "2024-03-03"),
        ("3 Mar 2024", "2024-03-03"),
        ("Friday, March 6", "03-06"),
        ("3 de marzo", "03-03"),
        ("el 3 de marzo de 2026", "03-03"),
        ("el 1º de marzo", "03-01"),
        ("el primero de marzo", "03-01"),
        ("el viernes 6 de marzo", "03-06"),
        ("on the 3rd", "04-03"),
        ("on the 20th", "03-20"),
        ("el día 3", "04-03"),
        ("el 3 de este mes", "04-03"),
        ("the week of March 4", "03-02..03-08"),
        ("la semana del 4 de marzo", "03-02..03-08"),
        ("2026-04-11", "04-11"),
        ("2026/4/1", "04-01"),
        ("memory/2026-04-11.md", "04-11"),
        ("2026-04-11T10:30:00Z", "04-11"),
        ("20260411", "04-11"),
        ("11.04.2026", "04-11"),
        ("25/12/2025", "2025-12-25"),
        ("12/25/2025", "2025-12-25"),
        ("04/04/2026", "04-04"),
        ("on 12/25", "2025-12-25"),
        ("el 11/04/2026 ¿qué pasó?", "04-11"),
        ("¿qué pasó el 3/4?", "04-03"),
    ],
)
def test_days_of_the_calendar(text: str, expected: str) -> None:
    assert days(text) == [expected]


def test_a_setting_decides_which_number_is_the_day() -> None:
    assert days("03/04/2026") == []
    assert days("what did we do on 03/04/2026?") == []
    assert days("03/04/2026", day_first=True) == ["04-03"]
    assert days("03/04/2026", day_first=False) == ["03-04"]
    assert days("25/04/2026", day_first=False) == ["04-25"]
    assert days("el 03/04/2026 ¿qué pasó?", day_first=False) == ["03-04"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("between March 3 and March 10", "03-03..03-10"),
        ("between March 3 and 10", "03-03..03-10"),
        ("March 3-10", "03-03..03-10"),
        ("from March 3 to March 10, 2025", "2025-03-03..2025-03-10"),
        ("between the 3rd and the 5th of March", "03-03..03-05"),
        ("between March and May 2025", "2025-03-01..2025-05-31"),
        ("between December and January", "2025-12-01..01-31"),
        ("between March 20 and April 20", "03-20..04-20"),
        ("between yesterday and today", "04-14..04-15"),
        ("from Monday to Friday", "04-06..04-10"),
        ("2026-04-01 to 2026-04-05", "04-01..04-05"),
        ("between 2024 and 2025", "2024-01-01..2025-12-31"),
        ("2024-2025", "2024-01-01..2025-12-31"),
        ("entre el 3 y el 5 de marzo", "03-03..03-05"),
        ("del 3 al 5 de marzo de 2025", "2025-03-03..2025-03-05"),
        ("entre enero y marzo", "01-01..03-31"),
        ("desde enero hasta marzo", "01-01..03-31"),
        ("desde el 3 de marzo hasta ayer", "03-03..04-14"),
        ("del lunes al miércoles", "04-06..04-08"),
        ("between 2026-04-05 and 2026-04-01", "04-01..04-05"),
        ("since Monday", "04-13..04-15"),
        ("since last week", "04-06..04-15"),
        ("since 2025", "2025-01-01..04-15"),
        ("desde el lunes", "04-13..04-15"),
        ("desde marzo", "03-01..04-15"),
        ("after March 3", "03-04..04-15"),
        ("después del 3 de marzo", "03-04..04-15"),
        ("until yesterday", "0001-01-01..04-14"),
        ("hasta marzo", "0001-01-01..03-31"),
        ("before 2025", "0001-01-01..2024-12-31"),
        ("antes del 3 de marzo", "0001-01-01..03-02"),
    ],
)
def test_ranges_are_put_together(text: str, expected: str) -> None:
    assert days(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what do we know about the house",
        "May I ask what you did",
        "this may be wrong",
        "you may 2x it and they march on",
        "the sun and the sea, on sun exposure",
        "el sol y el mar",
        "we sat and they wed",
        "mon ami",
        "every Friday",
        "los martes",
        "cada lunes",
        "de lunes a viernes",
        "Black Friday",
        "por la mañana",
        "hoy en día",
        "a set of 3 plates",
        "the second one",
        "the last day of school",
        "the last 3 messages",
        "192.168.1.1 and v3.11.7",
        "1/2 cup, 24/7",
        "price of 2000 dollars",
        "2026-13-45",
        "45/13/2026",
        "2026",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert days(text) == []
