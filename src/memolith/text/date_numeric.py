"""Days written in digits: 2026-04-11, 11/04/2026, 2026-04, 2024-2025."""

from __future__ import annotations

import re
from datetime import date

from memolith.text import calendar_days as days
from memolith.text.calendar_days import Days, Unit

SURE, LIKELY = 1.0, 0.7

_YEAR = r"((?:19|20)\d\d)"
_YEAR_FIRST = re.compile(
    r"(?P<year>(?:19|20)\d\d)(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?:\D.*)?"
)
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d)")
_YEAR_LAST = re.compile(
    r"(?P<one>\d\d?)(?P<mark>[-/.])(?P<other>\d\d?)(?P=mark)(?P<year>(?:19|20)\d\d)"
)
_SHORT_YEAR_LAST = re.compile(r"(?P<one>\d\d?)(?P<mark>/)(?P<other>\d\d?)/(?P<year>\d\d)")
_YEARLESS = re.compile(r"(\d\d?)[/.](\d\d?)")
_MONTH = re.compile(_YEAR + r"[-/](0[1-9]|1[0-2])")
_YEARS = re.compile(f"{_YEAR}-{_YEAR}")


def days_in_digits(
    text: str, today: date, *, day_first: bool | None, is_expected: bool
) -> tuple[Days, float] | None:
    """The days a number with separators names, and how sure that is; None for any other number.

    Day and month are told apart by the one above 12; otherwise by `day_first`, and if that is None
    the number is left alone. `is_expected` says that a date is due, which `3/4` needs.

    >>> from datetime import date
    >>> days_in_digits("2026-04-11", date(2026, 4, 12), day_first=None, is_expected=False)[1]
    1.0
    """
    if named := _full_date(text, today, day_first) or _month_or_years(text, today):
        return named, SURE
    if is_expected and (found := _YEARLESS.fullmatch(text)):
        by_custom = True if "." in text else day_first
        day = _in_order(today, int(found[1]), int(found[2]), None, day_first=by_custom)
        return (day, LIKELY) if day else None
    return None


def _full_date(text: str, today: date, day_first: bool | None) -> Days | None:
    if found := _YEAR_FIRST.fullmatch(text) or _COMPACT.fullmatch(text):
        year, month, day = (int(found[name]) for name in ("year", "month", "day"))
        return days.day_of_month(today, month, day, year)
    if found := _YEAR_LAST.fullmatch(text) or _SHORT_YEAR_LAST.fullmatch(text):
        year = int(found["year"]) + (2000 if len(found["year"]) == 2 else 0)
        by_custom = True if found["mark"] == "." else day_first
        return _in_order(today, int(found["one"]), int(found["other"]), year, day_first=by_custom)
    return None


def _month_or_years(text: str, today: date) -> Days | None:
    if found := _MONTH.fullmatch(text):
        return days.month(today, int(found[2]), int(found[1]))
    if found := _YEARS.fullmatch(text):
        first, last = (days.month(today, 1, int(year)) for year in found.groups())
        end = last and days.period(last.first, Unit.YEAR, 0)
        if first and end and first.first < end.first:
            return Days(first=first.first, last=end.last)
    return None


def _in_order(
    today: date, one: int, other: int, year: int | None, *, day_first: bool | None
) -> Days | None:
    if one > 12 or other > 12:
        day_first = one > 12
    elif one == other:
        day_first = True
    if day_first is None:
        return None
    day, month = (one, other) if day_first else (other, one)
    return days.day_of_month(today, month, day, year)
