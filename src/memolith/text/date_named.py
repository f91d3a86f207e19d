"""Days named by the calendar: Tuesday, in March, 3 de marzo, between 3 and 5 March, Q1 2026."""

from __future__ import annotations

from datetime import date

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Days, Unit
from memolith.text.date_grammar import LIKELY, MAYBE, Phrase

_IN = frozenset(
    "in during of for by since until till before after from between to through early late".split()
)
_EN = frozenset("en durante de del desde hasta antes despues entre y a al and".split())
_IN_YEAR = frozenset("in during since until till before after en durante desde hasta".split())
_ON = frozenset("on since until till before after from between by to through".split())


def _range(today: date, month: int, first: int, last: int, year: int | None = None) -> Days | None:
    begin = days.day_of_month(today, month, first, year)
    end = begin and days.day_of_month(today, month, last, begin.first.year)
    if begin is None or end is None or begin.first > end.first:
        return None
    return Days(first=begin.first, last=end.first, guess=begin.guess)


def _week_of_month(today: date, number: int, month: int, year: int | None = None) -> Days | None:
    found = days.month(today, month, year)
    if found is None:
        return None
    first = days.shift(found.first, 7 * (number - 1)) if number else days.shift(found.last, -6)
    return Days(first=first, last=days.shift(first, 6), guess=found.guess)


def _quarter(today: date, number: int, year: int | None = None) -> Days | None:
    begin = 3 * number - 2
    first = days.month(today, begin, year)
    last = first and days.month(today, begin + 2, first.first.year)
    return first and last and Days(first=first.first, last=last.last, guess=first.guess)


def _year(number: int) -> Days | None:
    return days.period(date(number, 1, 1), Unit.YEAR, 0)


def _week_with(day: Days | None) -> Days | None:
    week = day and days.period(day.first, Unit.WEEK, 0)
    return week and day and Days(first=week.first, last=week.last, guess=day.guess)


NAMED = (
    Phrase("on Tuesday: the latest before today", "<weekday>", days.latest_weekday, LIKELY),
    Phrase("on Tue", "<any-weekday>", days.latest_weekday, LIKELY, after=_ON),
    Phrase(
        "last Tuesday",
        "last/past <any-weekday> | <weekday> pasado/anterior | pasado <weekday>",
        days.latest_weekday,
    ),
    Phrase(
        "Tuesday of last week",
        "<any-weekday> last week | last week <any-weekday> | <weekday> de la semana pasada",
        lambda today, weekday: days.weekday_of_this_week(days.shift(today, -7), weekday),
    ),
    Phrase(
        "the Tuesday before last",
        "<any-weekday> before last | <weekday> antepasado",
        lambda today, weekday: days.latest_weekday(days.shift(today, -7), weekday),
    ),
    Phrase(
        "the first Tuesday of March",
        "<nth> <any-weekday> of/in <any-month> of/,? <year>? | <nth> <weekday> de <month> de/del? <year>?",
        days.weekday_of_month,
        LIKELY,
    ),
    Phrase(
        "the last Tuesday of March",
        "last <any-weekday> of/in <any-month> of/,? <year>? | ultimo <weekday> de <month> de/del? <year>?",
        lambda today, *named: days.weekday_of_month(today, 0, *named),
        LIKELY,
    ),
    Phrase(
        "this Tuesday",
        "this <any-weekday> | <any-weekday> this week | este <weekday> | <weekday> de esta semana",
        days.weekday_of_this_week,
    ),
    Phrase(
        "next Tuesday",
        "next <any-weekday> | proximo <weekday> | <weekday> proximo | <weekday> que viene",
        days.coming_weekday,
    ),
    Phrase(
        "",  # habits and names, not days
        "every/each/most <any-weekday> | cada <weekday> | todos? los <weekday>"
        " | <weekday> a <weekday> | black/good friday | cyber monday",
        None,
    ),
    Phrase("March, alone", "<clear-month>", days.month, MAYBE),
    Phrase("in March: the latest that has begun", "<any-month>", days.month, LIKELY, after=_IN),
    Phrase("en marzo", "<month>", days.month, LIKELY, after=_EN),
    Phrase(
        "last March",
        "last/past <any-month> | <month> pasado | pasado <month>",
        days.last_month_named,
    ),
    Phrase(
        "this March",
        "this <any-month> | este <month>",
        lambda today, month: days.month(today, month, today.year),
    ),
    Phrase(
        "next March",
        "next <any-month> | proximo <month> | <month> proximo | <month> que viene",
        lambda today, month: days.month(today, month, today.year + (month <= today.month)),
    ),
    Phrase("March 2026", "<any-month> of/de/del/,? <year> | <dotted-month> . <year>", days.month),
    Phrase(
        "March of last year",
        "<any-month> of? last year | <month> del ano pasado",
        lambda today, month: days.month(today, month, today.year - 1),
    ),
    Phrase(
        "March of this year",
        "<any-month> of? this year | <month> de este ano",
        lambda today, month: days.month(today, month, today.year),
    ),
    Phrase(
        "March 3 of last year",
        "<any-month> the? <day> of? last year",
        lambda today, month, day: days.day_of_month(today, month, day, today.year - 1),
    ),
    Phrase(
        "3 March of last year",
        "<day> of/de? <any-month> of? last year | <day> de <month> del ano pasado",
        lambda today, day, month: days.day_of_month(today, month, day, today.year - 1),
    ),
    Phrase(
        "early March",
        "early <any-month> of/,? <year>? | beginning/start of <any-month> of/,? <year>?"
        " | principios/principio/inicios/inicio/comienzos de <month> de/del? <year>?",
        lambda today, *month: days.third(today, 0, *month),
        LIKELY,
    ),
    Phrase(
        "mid March",
        "mid -? <any-month> of/,? <year>? | middle of <any-month> of/,? <year>? | mediados de <month> de/del? <year>?",
        lambda today, *month: days.third(today, 1, *month),
        LIKELY,
    ),
    Phrase(
        "late March",
        "late <any-month> of/,? <year>? | end of <any-month> of/,? <year>?"
        " | fines/finales/final de <month> de/del? <year>?",
        lambda today, *month: days.third(today, 2, *month),
        LIKELY,
    ),
    Phrase(
        "the first week of March",
        "<nth> week of <any-month> of/,? <year>? | <nth> semana de <month> de/del? <year>?",
        _week_of_month,
        LIKELY,
    ),
    Phrase(
        "the last week of March",
        "the? last week of <any-month> of/,? <year>? | la? ultima semana de <month> de/del? <year>?",
        lambda today, *month: _week_of_month(today, 0, *month),
        LIKELY,
    ),
    Phrase(
        "March 3",
        "<_any-weekday>? ,? <any-month> the? <day> | <_any-weekday>? ,? <dotted-month> . <day>",
        days.day_of_month,
        LIKELY,
    ),
    Phrase(
        "March 3, 2026",
        "<_any-weekday>? ,? <any-month> the? <day> of/de/del/,? <year>"
        " | <_any-weekday>? ,? <dotted-month> . <day> ,? <year>",
        days.day_of_month,
    ),
    Phrase(
        "3 March",
        "<_any-weekday>? ,? <day> of/de? <any-month> | on the <day> of? <any-month>"
        " | el dia <day> de <month>",
        lambda today, day, month: days.day_of_month(today, month, day),
        LIKELY,
    ),
    Phrase(
        "3 March 2026",
        "<_any-weekday>? ,? <day> of/de? <any-month> of/de/del/,? <year> | <day> <dotted-month> . <year>"
        " | on the <day> of? <any-month> of/,? <year> | el dia <day> de <month> de/del? <year>",
        lambda today, day, month, year: days.day_of_month(today, month, day, year),
    ),
    Phrase(
        "the second of March",
        "<day-name> of/de <any-month> of/de/del/,? <year>?",
        lambda today, day, month, *year: days.day_of_month(today, month, day, *year),
        LIKELY,
    ),
    Phrase(
        "the twenty-first of March",
        "<tens> -/y? <digit-name> of/de <any-month> of/de/del/,? <year>?",
        lambda today, tens, digit, month, *year: days.day_of_month(
            today, month, tens + digit, *year
        ),
        LIKELY,
    ),
    Phrase(
        "March twenty-first",
        "<any-month> the? <tens> -? <digit-name> ,? <year>?",
        lambda today, month, tens, digit, *year: days.day_of_month(
            today, month, tens + digit, *year
        ),
        LIKELY,
    ),
    Phrase(
        "the week of March 3",
        "week of the? <any-month> <day>",
        lambda today, month, day: _week_with(days.day_of_month(today, month, day)),
        LIKELY,
    ),
    Phrase(
        "la semana del 3 de marzo",
        "week of the? <day> of? <any-month> | semana del <day> de <month>",
        lambda today, day, month: _week_with(days.day_of_month(today, month, day)),
        LIKELY,
    ),
    Phrase(
        "between March 3 and 10",
        "<any-month> <day> and/to/until/through/-/al/a the? <day> ,? <year>?",
        _range,
        LIKELY,
    ),
    Phrase(
        "March 3-10",
        "<any-month> <day-day> ,? <year>?",
        lambda today, month, both, *year: _range(today, month, *divmod(both, 100), *year),
        LIKELY,
    ),
    Phrase(
        "entre el 3 y el 5 de marzo",
        "<day> and/to/until/through/y/e/al/a/hasta/- the/el? <day> of/de? <any-month> of/de/del/,? <year>?",
        lambda today, first, last, month, *year: _range(today, month, first, last, *year),
        LIKELY,
    ),
    Phrase(
        "3-5 de marzo",
        "<day-day> of/de? <any-month> of/de/del/,? <year>?",
        lambda today, both, month, *year: _range(today, month, *divmod(both, 100), *year),
        LIKELY,
    ),
    Phrase(
        "on the 3rd",
        "on the <ordinal> | el dia <day> | <_weekday> <day>",
        days.day_number,
        LIKELY,
    ),
    Phrase(
        "the 3rd of this month",
        "<day> of this month | <day> de este mes",
        lambda today, day: days.day_of_month(today, today.month, day, today.year),
    ),
    Phrase(
        "the 3rd of last month",
        "<day> of last month | <day> del mes pasado",
        days.day_of_last_month,
    ),
    Phrase("in 2025", "<year>", lambda _, year: _year(year), after=_IN_YEAR),
    Phrase(  # but not a price of 2000 dollars
        "of 2025",
        "<year>",
        lambda _, year: _year(year) if year % 100 else None,
        LIKELY,
        after=_IN | _EN,
    ),
    Phrase("the year 2025", "year/ano <year>", lambda _, year: _year(year)),
    Phrase(
        "Q1 2026",
        "q <quarter> of/de/del/,? <year>? | <nth> quarter of/,? <year>? | <nth> trimestre de/del? <year>?"
        " | t <quarter> de/del? <year>",
        _quarter,
    ),
)
