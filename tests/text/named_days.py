"""Ranges of days in a form that a table of tests can show. Today is Wednesday, 15 April 2026."""

from __future__ import annotations

from datetime import date

from memolith.text.dates import find_days

TODAY = date(2026, 4, 15)


def days(text: str, today: date = TODAY, *, day_first: bool | None = None) -> list[str]:
    """Ranges as `04-14` or `04-06..04-12`; other years than 2026 are written out."""
    return [
        _short(found.first) if found.first == found.last
        else f"{_short(found.first)}..{_short(found.last)}"
        for found in find_days(text, today, day_first=day_first)
    ]  # fmt: skip


def _short(day: date) -> str:
    return day.isoformat().removeprefix("2026-")
