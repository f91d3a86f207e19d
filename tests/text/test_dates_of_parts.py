"""What only looks like days. Today is Wednesday, 15 April 2026."""

from __future__ import annotations

import pytest

from memolith.text.dates import LIKELY, find_days
from tests.text.named_days import TODAY, days


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
