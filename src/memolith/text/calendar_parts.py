"""Arithmetic of parts of time: seasons, halves and thirds of a year, weeks by their number."""

from __future__ import annotations

from datetime import date

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Days, Unit

# The month each begins with, in the order of `date_words.SEASONS`: spring, summer, autumn, winter.
_NORTHERN = (3, 6, 9, 12)
_SOUTHERN = (9, 12, 3, 6)
# Every number of a day meets every weekday within so many months.
_MONTHS_TO_MEET = 36
# Zones whose year is turned round, as far as people there speak of seasons.
_SOUTHERN_ZONES = tuple(
    (
        "Antarctica/ Australia/ Chile/ NZ America/Argentina/ America/Buenos_Aires America/Catamarca "
        "America/Cordoba America/Jujuy America/Mendoza America/Rosario America/Santiago "
        "America/Punta_Arenas America/Coyhaique America/Montevideo America/Asuncion America/La_Paz "
        "America/Lima America/Sao_Paulo America/Campo_Grande America/Cuiaba America/Bahia Brazil/East "
        "Atlantic/Stanley Atlantic/South_Georgia Africa/Johannesburg Africa/Harare Africa/Lusaka "
        "Africa/Maputo Africa/Gaborone Africa/Windhoek Africa/Luanda Africa/Maseru Africa/Mbabane "
        "Africa/Blantyre Indian/Antananarivo Indian/Mauritius Indian/Reunion Pacific/Auckland "
        "Pacific/Chatham Pacific/Fiji Pacific/Noumea Pacific/Norfolk Pacific/Tongatapu Pacific/Easter"
    ).split()
)


def is_southern(zone: str) -> bool:
    """Whether summer begins in December in this time zone.

    >>> is_southern("America/Argentina/Buenos_Aires"), is_southern("Europe/Madrid"), is_southern("")
    (True, False, False)
    """
    return zone.startswith(_SOUTHERN_ZONES)


def season(which: int, year: int, *, southern: bool) -> Days | None:
    """The season that begins in a year, three whole months; a winter that is called 2025 begins in 2025."""
    return days.months(year, (_SOUTHERN if southern else _NORTHERN)[which], 3)


def season_over(today: date, which: int, *, southern: bool, count: int = 1) -> Days | None:
    """The latest season of this name that is over, or the one so many before."""
    latest = season(which, today.year, southern=southern)
    years = 1 if latest and latest.last >= today else 0
    if years and (before := season(which, today.year - 1, southern=southern)):
        years += before.last >= today  # it began last year, and goes on
    return season(which, today.year - years - (count - 1), southern=southern)


def season_begun(today: date, which: int, *, southern: bool) -> Days | None:
    """The latest season of this name that has begun."""
    latest = season(which, today.year, southern=southern)
    begun = (
        latest
        if latest and latest.first <= today
        else season(which, today.year - 1, southern=southern)
    )
    return begun and Days(first=begun.first, last=begun.last, guess="year")


def season_of_this_year(today: date, which: int, *, southern: bool) -> Days | None:
    """The season of this year; of one across new year the nearer."""
    latest = season(which, today.year, southern=southern)
    if latest and latest.last.year > today.year and today.month <= 6:
        return season(which, today.year - 1, southern=southern)
    return latest


def coming_season(today: date, which: int, *, southern: bool) -> Days | None:
    """The next season of this name that has not begun."""
    latest = season(which, today.year, southern=southern)
    return (
        latest
        if latest and latest.first > today
        else season(which, today.year + 1, southern=southern)
    )


def third_of(whole: Days | None, part: int) -> Days | None:
    """The first, second or last third of a year, a month or a week."""
    if whole is None:
        return None
    first = whole.first
    if (length := (whole.last - first).days + 1) > 300:
        found = days.months(first.year, 4 * part + 1, 4)
        return found and Days(first=found.first, last=found.last, guess=whole.guess)
    begin = days.shift(first, part * length // 3)
    last = whole.last if part == 2 else days.shift(first, (part + 1) * length // 3 - 1)
    return Days(first=begin, last=last, guess=whole.guess)


def half_of(whole: Days | None, number: int) -> Days | None:
    """The first or second half of a year or a month; there is no third one."""
    if whole is None or number > 2:
        return None
    if (whole.last - whole.first).days > 300:
        found = days.months(whole.first.year, 6 * number - 5, 6)
        return found and Days(first=found.first, last=found.last, guess=whole.guess)
    if number == 1:
        return Days(first=whole.first, last=days.shift(whole.first, 14), guess=whole.guess)
    return Days(first=days.shift(whole.first, 15), last=whole.last, guess=whole.guess)


def week_number(today: date, number: int, year: int | None = None) -> Days | None:
    """A week by its number in the ISO calendar; without a year the latest that has begun."""
    # Seven years reach a week 53.
    years = range(today.year, today.year - 8, -1) if year is None else (year,)
    for candidate in years:
        try:
            monday = date.fromisocalendar(candidate, number, 1)
        except ValueError:
            continue
        if year is not None or monday <= today:
            return Days(
                first=monday, last=days.shift(monday, 6), guess="year" if year is None else ""
            )
    return None


def weekday_and_number(today: date, weekday: int, number: int) -> Days | None:
    """The latest day of a month with this number that was this weekday."""
    for back in range(_MONTHS_TO_MEET):
        months = today.year * 12 + today.month - 1 - back
        found = days.day_of_month(today, months % 12 + 1, number, months // 12)
        if found and found.first <= today and found.first.weekday() == weekday:
            return found
    return None


def year(number: int) -> Days | None:
    """A whole year."""
    return days.months(number, 1, 12)


def latest_part(today: date, unit: Unit, part: int) -> Days | None:
    """The latest beginning, middle or end of a week, month or year that has begun."""
    found = third_of(days.period(today, unit, 0), part)
    return found if found and found.first <= today else third_of(days.period(today, unit, -1), part)
