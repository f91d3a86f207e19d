"""Parts of time: last summer, week 12, early 2025, the first half of March, two Fridays ago."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date

from memolith.text import calendar_days as days
from memolith.text import calendar_parts as parts
from memolith.text.calendar_days import Days, Unit
from memolith.text.date_grammar import LIKELY, MAYBE, Phrase

_IN = frozenset("in during over since until en durante desde hasta".split())
# How each third is called: before a year, before "of", before «de».
_THIRDS = (
    ("early", "early in?", "beginning/start", "principios/principio/inicios/inicio/comienzos"),
    ("mid", "mid -?", "middle", "mediados"),
    ("late", "late in?", "end", "fines/finales/final"),
)


def _fortnight(today: date, count: int = 1) -> Days:
    return days.ago(today, 2 * count, Unit.WEEK)


def _weekday_ago(today: date, count: int, weekday: int) -> Days | None:
    latest = days.latest_weekday(today, weekday).first
    return days.exact(latest, -7 * (count - 1)) if count else None


def _week_with(day: Days | None) -> Days | None:
    return day and days.period(day.first, Unit.WEEK, 0)


def _weekend_with(day: Days | None) -> Days | None:
    weekend = day and days.weekend(day.first, 0)
    return weekend and day and Days(first=weekend.first, last=weekend.last, guess=day.guess)


def _decade_ago(today: date, count: int = 1) -> Days:
    middle = days.within(today, 10 * count, Unit.YEAR).first
    return Days(first=days.shift(middle, -365), last=min(days.shift(middle, 365), today))


def _both_ago(today: date, count: int, unit: Unit, more: int, smaller: Unit) -> Days:
    return days.ago(days.within(today, count, unit).first, more, smaller)


COUNTED = (
    Phrase(
        "a fortnight ago",
        "<n> fortnight/fortnights ago | hace <n> quincena/quincenas",
        _fortnight,
    ),
    Phrase(
        "hace quince días: two weeks",
        "hace ya/como/casi/unos? quince dias | quince dias atras",
        _fortnight,
    ),
    Phrase(
        "hace ocho días: a week",
        "hace ya/como/casi/unos? ocho dias | ocho dias atras",
        lambda today: Days(first=days.shift(today, -8), last=days.shift(today, -7)),
    ),
    Phrase(
        "the last fortnight",
        "in/over/during? the? last/past fortnight | en/durante? la ultima quincena | la? quincena pasada",
        lambda today: days.within(today, 2, Unit.WEEK),
    ),
    Phrase(
        "two Fridays ago",
        "<n> <weekdays> ago/back | hace <n> <weekdays>",
        _weekday_ago,
    ),
    Phrase(
        "the weekend before last",
        "the? weekend before last | el? fin de semana antepasado",
        lambda today: days.weekend(today, -2),
    ),
    Phrase(
        "two weekends ago",
        "<n> weekend/weekends ago/back | hace <n> fines de semana | hace <n> findes",
        lambda today, count: days.weekend(today, -count),
    ),
    Phrase(
        "the weekend of March 7",
        "over/on/at/during? the? weekend of the? <any-month> the? <day>",
        lambda today, month, day: _weekend_with(days.day_of_month(today, month, day)),
        LIKELY,
    ),
    Phrase(
        "el fin de semana del 7 de marzo",
        "over/on/at/during? the? weekend of the? <day> of? <any-month> | el? fin de semana del <day> de <month>",
        lambda today, day, month: _weekend_with(days.day_of_month(today, month, day)),
        LIKELY,
    ),
    Phrase(
        "the weekend of the 7th",
        "over/on/at/during? the? weekend of the <ordinal> | el? fin de semana del <day>",
        lambda today, day: _weekend_with(days.day_number(today, day)),
        LIKELY,
    ),
    Phrase(
        "the week of the 7th",
        "week of the <ordinal> | semana del <day>",
        lambda today, day: _week_with(days.day_number(today, day)),
        LIKELY,
    ),
    Phrase(
        "a month or so ago",
        "<n> <unit> or so ago | hace cosa de <n> <unit> | hace mas o menos <n> <unit>"
        " | hace alrededor/cerca de <n> <unit>",
        days.ago,
        LIKELY,
    ),
    Phrase(
        "three weeks and two days ago",
        "<n> <unit> and <n> <unit> ago | hace <n> <unit> y <n> <unit>",
        _both_ago,
    ),
    Phrase(
        "Tuesday the 3rd",
        "<any-weekday> ,? the? <ordinal>",
        parts.weekday_and_number,
        LIKELY,
    ),
    Phrase("a decade ago", "<n> decade/decades ago | hace <n> decada/decadas", _decade_ago),
    Phrase(
        "the last decade",
        "in/over/during? the last/past decade | en/durante? la ultima decada",
        lambda today: days.within(today, 10, Unit.YEAR),
    ),
)

OF_A_YEAR = (
    # A plan has weeks too, and most people who say «week 2» mean those.
    Phrase(
        "week 12: perhaps that of a plan",
        "week <week-number> | semana <week-number>",
        parts.week_number,
        MAYBE,
    ),
    Phrase(
        "in week 12",
        "week <week-number> | la? semana <week-number>",
        parts.week_number,
        LIKELY,
        after=_IN,
    ),
    Phrase(
        "calendar week 12",
        "calendar week <week-number> | week no/number/nr .? <week-number> | cw/kw <week-number>",
        parts.week_number,
        LIKELY,
    ),
    Phrase(
        "week 12 of 2025",
        "calendar? week no/number/nr? .? <week-number> of/in/,? <year> | cw/kw <week-number> /? <year>"
        " | semana <week-number> de/del? <year>",
        parts.week_number,
    ),
    Phrase(
        "2025-W12",
        "<year> -? w <week-number>",
        lambda today, year, number: parts.week_number(today, number, year),
    ),
    Phrase(
        "the 12th week of 2025",
        "<ordinal>/<nth> week of/in <year> | <nth> semana de/del <year>",
        parts.week_number,
    ),
    Phrase(
        "week 12 of this year",
        "week <week-number> of/this? this? year | semana <week-number> de este ano",
        lambda today, number: parts.week_number(today, number, today.year),
    ),
    Phrase(
        "week 12 of last year",
        "week <week-number> of? last year | semana <week-number> del ano pasado",
        lambda today, number: parts.week_number(today, number, today.year - 1),
    ),
    Phrase("", "week <week-number> of/in | semana <week-number> de/del", None),  # a course's
    Phrase(
        "the first half of 2025",
        "<nth> half of <year> | h <half> of/,? <year> | <nth> mitad de/del <year> | <nth> semestre de/del? <year>",
        lambda _, number, year: parts.half_of(parts.year(year), number),
    ),
    Phrase(
        "the first half of last year",
        "<nth> half of last <unit> | <nth> mitad/semestre del? la? <unit> pasado/pasada",
        lambda today, number, unit: parts.half_of(days.period(today, unit, -1), number),
    ),
    Phrase(
        "the first half of this year",
        "<nth> half of this/the <unit> | <nth> mitad/semestre de este/esta <unit> | <nth> mitad/semestre del <unit>",
        lambda today, number, unit: parts.half_of(days.period(today, unit, 0), number),
        LIKELY,
    ),
    Phrase(
        "the first half of March",
        "<nth> half of <any-month> of/,? <year>? | <nth> mitad/quincena de <month> de/del? <year>?",
        lambda today, number, *month: parts.half_of(days.month(today, *month), number),
        LIKELY,
    ),
    Phrase(
        "at the end of the month",
        "fin de mes",
        lambda today: parts.latest_part(today, Unit.MONTH, 2),
        LIKELY,
    ),
    Phrase(
        "at the end of the year",
        "fin de ano",
        lambda today: parts.latest_part(today, Unit.YEAR, 2),
        LIKELY,
    ),
)


# What they mean depends on where one lives: see `seasons`.
_SEASONS = (
    Phrase(
        "last summer",
        "last/past <any-season> | <season> pasado/pasada/anterior | pasado/pasada <season>",
        None,
    ),
    Phrase(
        "the summer before last",
        "the? <any-season> before last | <season> antepasado/antepasada",
        None,
    ),
    Phrase("two summers ago", "<n> <seasons> ago/back | hace <n> <seasons>", None),
    Phrase("this summer", "this <any-season> | este/esta <season>", None, LIKELY),
    Phrase(
        "next summer",
        "next/coming <any-season> | proximo/proxima <season> | <season> que viene",
        None,
    ),
    Phrase(
        "in summer: the latest that has begun",
        "the/el/la? <any-season>",
        None,
        LIKELY,
        after=_IN,
        alone=True,
    ),
    Phrase("summer 2025", "the/el/la? <any-season> of/de/del/,? <year>", None),
    Phrase(
        "the summer of last year",
        "the/el/la? <any-season> of? last year | el/la? <season> del ano pasado",
        None,
    ),
    Phrase(
        "the summer of this year",
        "the/el/la? <any-season> of? this year | el/la? <season> de este ano",
        None,
    ),
)


def _third(part: int, said: tuple[str, str, str, str]) -> tuple[Phrase, ...]:
    """How the first, middle or last third of a year, month or week is named."""
    name, adjective, noun, es = said
    return (
        Phrase(
            f"{name} 2025",
            f"{adjective} <year> | the? {noun} of <year> | {es} de/del ano? <year>",
            lambda _, year: parts.third_of(parts.year(year), part),
        ),
        Phrase(
            f"{name} last year",
            f"{adjective} last <unit> | the? {noun} of last <unit>"
            f" | {es} del <unit> pasado | {es} de la <unit> pasada",
            lambda today, unit: parts.third_of(days.period(today, unit, -1), part),
            LIKELY,
        ),
        Phrase(
            f"{name} this year",
            f"{adjective} this <unit> | the? {noun} of this <unit> | {es} de este/esta <unit>",
            lambda today, unit: parts.third_of(days.period(today, unit, 0), part),
            LIKELY,
        ),
        Phrase(
            f"{name} in the year: the latest that has begun",
            f"the {noun} of the <unit> | {es} de/del <unit>",
            lambda today, unit: parts.latest_part(today, unit, part),
            LIKELY,
        ),
        Phrase("", f"by the {noun} of the/this <unit>", None),  # a deadline
    )


def seasons(southern: bool) -> tuple[Phrase, ...]:
    """How seasons are named, where summer begins in June, or in December."""

    def begins_in(year: int, which: int) -> Days | None:
        return parts.season(which, year, southern=southern)

    def over(today: date, which: int, count: int = 1) -> Days | None:
        return parts.season_over(today, which, southern=southern, count=count) if count else None

    def this(today: date, which: int) -> Days | None:
        return parts.season_of_this_year(today, which, southern=southern)

    def coming(today: date, which: int) -> Days | None:
        return parts.coming_season(today, which, southern=southern)

    def begun(today: date, which: int) -> Days | None:
        return parts.season_begun(today, which, southern=southern)

    resolve: dict[str, Callable[..., Days | None]] = {
        "last summer": over,
        "the summer before last": lambda today, which: over(today, which, 2),
        "two summers ago": lambda today, count, which: over(today, which, count),
        "this summer": this,
        "next summer": coming,
        "in summer: the latest that has begun": begun,
        "summer 2025": lambda _, which, year: begins_in(year, which),
        "the summer of last year": lambda today, which: begins_in(today.year - 1, which),
        "the summer of this year": lambda today, which: begins_in(today.year, which),
    }
    return tuple(replace(phrase, resolve=resolve[phrase.meaning]) for phrase in _SEASONS)


def parts_of_time(southern: bool) -> tuple[Phrase, ...]:
    """All phrases of this module."""
    thirds = [phrase for part, said in enumerate(_THIRDS) for phrase in _third(part, said)]
    return (*COUNTED, *OF_A_YEAR, *thirds, *seasons(southern))
