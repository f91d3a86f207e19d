"""Days: the calendar of what was written, one day as a whole, and what agents were handed."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, timedelta

from starlette.responses import Response

from memolith.jobs.reports import DayCounts
from memolith.web.call import Call

_WEEKS = 53
_PAGE = 30


def total(day: DayCounts) -> int:
    """All that a day has."""
    return day.records + day.notes + day.turns + day.recalls + day.jobs


def timeline(call: Call) -> Response:
    """A year as a heat map, and a day of it."""
    counts = {one.day: one for one in call.memory.files.days()}
    latest = max(counts, default=call.clock.today())
    day = _day(call.query.get("day", "")) or latest
    end = max(min(day + timedelta(weeks=26), call.clock.today()), day)
    start = end - timedelta(weeks=_WEEKS - 1, days=end.weekday())
    most = max((total(one) for one in counts.values()), default=1)
    cells = [
        _cell(counts.get(start + timedelta(days=at)), start + timedelta(days=at), at, most)
        for at in range((end - start).days + 1)
    ]
    around = sorted(counts)
    return call.html(
        "timeline.html",
        cells=cells,
        months=[(x, one) for x, one in _months(start, end)],
        day=day,
        found=call.memory.files.day(day),
        before=max((one for one in around if one < day), default=None),
        after=min((one for one in around if one > day), default=None),
    )


def _cell(found: DayCounts | None, day: date, at: int, most: int) -> dict[str, object]:
    number = total(found) if found else 0
    # Four shades by the logarithm: one busy day must not make all others pale.
    shade = (
        min(4, 1 + int(3 * (number.bit_length() - 1) / max(1, most.bit_length() - 1)))
        if number
        else 0
    )
    return {"x": at // 7, "y": at % 7, "day": day, "number": number, "shade": shade}


def _months(start: date, end: date) -> list[tuple[int, date]]:
    days = (start + timedelta(days=7 * week) for week in range((end - start).days // 7 + 1))
    return [(week, day) for week, day in enumerate(days) if day.day <= 7]


def _day(text: str) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text)
    return None


def receipts(call: Call) -> Response:
    """What was handed to agents, newest first, a page at a time."""
    offset = call.number("offset")
    found = call.memory.jobs.receipts(_PAGE + 1, offset)
    more = offset + _PAGE if len(found) > _PAGE else 0
    is_on = call.memory.config.dream.track
    return call.html("receipts.html", found=found[:_PAGE], more=more, is_on=is_on, offset=offset)
