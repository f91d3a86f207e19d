"""Arithmetic of calendar days: weeks begin on Monday, the past is meant unless said otherwise."""

from __future__ import annotations

import calendar
from dataclasses import dataclass, replace
from datetime import date
from enum import IntEnum
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Calendar days from first to last; `guess` says what the words left open."""

    first: date
    last: date
    guess: Literal["", "week", "year"] = ""


class Unit(IntEnum):
    """The lengths of time people count in."""

    HOUR = 0
    DAY = 1
    WEEK = 2
    MONTH = 3
    QUARTER = 4
    YEAR = 5


_MONTHS = {Unit.MONTH: 1, Unit.QUARTER: 3, Unit.YEAR: 12}


def shift(day: date, days: int) -> date:
    """The day this many days later, or earlier; the calendar's ends hold it back."""
    ordinal = day.toordinal() + days
    return date.fromordinal(min(max(ordinal, 1), date.max.toordinal()))


def period(today: date, unit: Unit, offset: int) -> Days | None:
    """The calendar week, month, quarter or year this many before or after this one."""
    if unit is Unit.WEEK:
        monday = shift(today, 7 * offset - today.weekday())
        return Days(first=monday, last=shift(monday, 6))
    if unit not in _MONTHS:
        return None
    length = _MONTHS[unit]
    begin = (today.year * 12 + today.month - 1) // length * length + offset * length
    return months(begin // 12, begin % 12 + 1, length)


def months(year: int, month: int, count: int = 1) -> Days | None:
    """This many whole months from the first day of one, across years if needed."""
    if not 1 <= year < date.max.year:
        return None
    years, last = divmod(month + count - 2, 12)
    end = in_month(year + years, last + 1, 31)
    return Days(first=date(year, month, 1), last=end)


def weekend(today: date, offset: int) -> Days:
    """Saturday and Sunday of a week."""
    saturday = shift(today, 7 * offset + 5 - today.weekday())
    return Days(first=saturday, last=shift(saturday, 1))


def latest_weekend(today: date) -> Days:
    """The weekend we are in, or the one that is just over."""
    return weekend(today, 0 if today.weekday() >= 5 else -1)


def latest_weekday(today: date, weekday: int, weeks: int = 0) -> Days:
    """The last time it was this weekday, before today, or this many weeks before that."""
    back = (today.weekday() - weekday - 1) % 7 + 1 + 7 * weeks
    return _one(shift(today, -back), "week")


def weekday_of_month(
    today: date, number: int, weekday: int, month_number: int, year: int | None = None
) -> Days | None:
    """The first, second … time it is this weekday in a month; the last time for 0."""
    week = part_of_month(today, 7, number, month_number, year)
    if week is None:
        return None
    day = shift(week.first, (weekday - week.first.weekday()) % 7)
    return replace(week, first=day, last=day)


def coming_weekday(today: date, weekday: int) -> Days:
    """The next time it will be this weekday, after today."""
    ahead = (weekday - today.weekday() - 1) % 7 + 1
    return _one(shift(today, ahead), "week")


def _one(day: date, guess: Literal["", "week", "year"] = "") -> Days:
    return Days(first=day, last=day, guess=guess)


def month(today: date, number: int, year: int | None = None) -> Days | None:
    """A month; without a year the latest one that has begun."""
    if year is not None:
        return months(year, number)
    found = months(today.year if number <= today.month else today.year - 1, number)
    return found and replace(found, guess="year")


def last_month_named(today: date, number: int) -> Days | None:
    """The latest month of this name that is over."""
    return month(today, number, today.year if number < today.month else today.year - 1)


def day_of_month(today: date, number: int, day: int, year: int | None = None) -> Days | None:
    """A day of a month; without a year the latest one up to today. None if there is no such day."""
    if year is not None:
        found = _date(year, number, day)
        return _one(found) if found else None
    # Eight years reach a 29 February even across 1900 or 2100.
    for back in range(9):
        found = _date(today.year - back, number, day)
        if found and found <= today:
            return _one(found, "year")
    return None


def day_number(today: date, day: int) -> Days | None:
    """The latest day with this number in its month, up to today."""
    for back in range(3):
        begin = today.year * 12 + today.month - 1 - back
        found = _date(begin // 12, begin % 12 + 1, day)
        if found and found <= today:
            return _one(found)
    return None


def _date(year: int, number: int, day: int) -> date | None:
    try:
        return date(year, number, day)
    except ValueError:
        return None


def ago(today: date, count: int, unit: Unit) -> Days:
    """About this long ago: to the day for days, and within half of what is counted for the rest."""
    if unit is Unit.HOUR:
        return within(today, count, unit)
    # Years within a quarter: half a year either way would reach almost to today.
    slack = {Unit.WEEK: 3, Unit.MONTH: 15, Unit.QUARTER: 45, Unit.YEAR: 91}.get(unit, 0)
    back = _before(today, count, unit)
    return Days(first=shift(back, -slack), last=min(shift(back, slack), today))


def within(today: date, count: int, unit: Unit) -> Days:
    """From this long ago until today."""
    return Days(first=_before(today, count, unit), last=today)


def ahead(today: date, count: int, unit: Unit) -> Days:
    """The day this long from today."""
    return _one(_before(today, -count, unit))


def before(today: date, count: int, unit: Unit) -> Days:
    """The day this long before today."""
    return _one(_before(today, count, unit))


def _before(today: date, count: int, unit: Unit) -> date:
    if unit in _MONTHS:
        begin = today.year * 12 + today.month - 1 - count * _MONTHS[unit]
        begin = min(max(begin, 12), date.max.year * 12 - 1)
        return in_month(begin // 12, begin % 12 + 1, today.day)
    return shift(
        today, -count // 24 if unit is Unit.HOUR else -count * (7 if unit is Unit.WEEK else 1)
    )


def in_month(year: int, number: int, day: int) -> date:
    """The day of a month, or the month's last day if it has no such day."""
    return date(year, number, min(day, calendar.monthrange(year, number)[1]))


def within_last(today: date, unit: Unit) -> Days | None:
    """The week, month or year until today; of days and hours people do not say so."""
    return within(today, 1, unit) if unit > Unit.DAY else None


def weekday_of_week(today: date, offset: int, weekday: int) -> Days:
    """This weekday of the week this many before or after this one."""
    return _one(shift(today, 7 * offset + weekday - today.weekday()), "week")


def month_of(today: date, offset: int, number: int) -> Days | None:
    """This month of last year, of this one or of the next."""
    return month(today, number, today.year + offset)


def next_month_named(today: date, number: int) -> Days | None:
    """The next month of this name."""
    return month(today, number, today.year + (number <= today.month))


def day_of(today: date, offset: int, number: int, day: int) -> Days | None:
    """A day of a month of last year, or of this one."""
    return day_of_month(today, number, day, today.year + offset)


def day_of_this_month(today: date, offset: int, day: int) -> Days | None:
    """The day with this number of this month, or of the last one."""
    found = period(today, Unit.MONTH, offset)
    return found and day_of_month(today, found.first.month, day, found.first.year)


def part_of_month(
    today: date, length: int, number: int, month_number: int, year: int | None = None
) -> Days | None:
    """The first, second … stretch of this many days of a month; the last for 0."""
    found = month(today, month_number, year)
    if found is None:
        return None
    first = shift(found.first, length * (number - 1)) if number else shift(found.last, 1 - length)
    last = shift(first, length - 1)
    is_at_end = found.last <= shift(last, 1)  # the 31st is one of the last days too
    return replace(found, first=first, last=found.last if is_at_end else last)


def week_with(today: date, month_number: int, day: int) -> Days | None:
    """The week that a day is in."""
    found = day_of_month(today, month_number, day)
    week = found and period(found.first, Unit.WEEK, 0)
    return week and found and replace(week, guess=found.guess)


def from_to(
    today: date, month_number: int, first: int, last: int, year: int | None = None
) -> Days | None:
    """From one day to another of a month."""
    begin = day_of_month(today, month_number, first, year)
    end = begin and day_of_month(today, month_number, last, begin.first.year)
    if begin is None or end is None or begin.first > end.first:
        return None
    return replace(begin, last=end.first)


def quarter(today: date, number: int, year: int | None = None) -> Days | None:
    """A quarter; without a year the latest one that has begun."""
    begin = month(today, 3 * number - 2, year)
    whole = begin and months(begin.first.year, begin.first.month, 3)
    return begin and whole and replace(begin, last=whole.last)


def year(_: date, number: int, round_ones: bool = True) -> Days | None:
    """A whole year; unless round ones count too, not 1900 or 2000, which may be a price."""
    return months(number, 1, 12) if round_ones or number % 100 else None


def with_year(day: date, year: int) -> date:
    """The same day of another year; the last of February stays the last."""
    if not 1 <= year <= date.max.year:
        return day
    is_last = day.day == calendar.monthrange(day.year, day.month)[1]
    return in_month(year, day.month, 31 if is_last else day.day)
