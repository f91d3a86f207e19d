"""Which days people mean: phrase by phrase in `dates.tsv`, what had to be guessed, and any text at all."""

from __future__ import annotations

import random
from datetime import date, timedelta
from pathlib import Path

import pytest

from memolith.text.dates import LIKELY, MAYBE, SURE, find_days, without_days
from tests.pace import cpu_seconds
from tests.text.fuzz import RUNS, texts

TODAY = date(2026, 4, 15)


def days(text: str, today: date = TODAY) -> list[str]:
    """Ranges as `04-14` or `04-06..04-12`; other years than 2026 are written out."""
    return [
        _short(found.first) if found.first == found.last
        else f"{_short(found.first)}..{_short(found.last)}"
        for found in find_days(text, today)
    ]  # fmt: skip


def _short(day: date) -> str:
    return day.isoformat().removeprefix("2026-")


def test_each_phrase_names_its_days() -> None:
    rows = Path(__file__).with_name("dates.tsv").read_text("utf-8").split("\n")
    wrong = []
    for row in rows:
        if row and not row.startswith("#"):
            text, expected, today = (*row.split("\t"), "", "")[:3]
            found = ", ".join(days(text, date.fromisoformat(today or "2026-04-15")))
            if found != expected:
                wrong.append(f"{text!r} at {today}: {found}, not {expected}")
    assert wrong == []
    assert len(rows) > 350
    assert days("") == []


def test_the_language_decides_which_number_is_the_day() -> None:
    assert days("03/04/2026") == []
    assert days("what did we do on 03/04/2026?") == []
    assert days("25/04/2026") == ["04-25"]
    assert days("el 03/04/2026 ¿qué pasó?") == ["04-03"]


def test_a_month_that_is_a_name_too_is_a_month_beside_another() -> None:
    surely = [found.confidence >= LIKELY for found in find_days("in March and April", TODAY)]
    assert surely == [True, True]
    (perhaps,) = find_days("the mail for Anna and April", TODAY)
    assert perhaps.confidence < LIKELY


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


def test_words_that_may_not_be_a_date_stay_in_the_text() -> None:
    text = "what did April say yesterday?"
    assert without_days(text, find_days(text, TODAY)) == "what did April say ?"


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
        for found in find_days(text, today):
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
