"""Days: the calendar of what was written, one day as a whole, and what agents were given."""

from __future__ import annotations

from contextlib import suppress
from datetime import date, timedelta
from math import ceil, log1p

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
    numbers = {day: total(one) for day, one in counts.items()}
    most = max(numbers.values(), default=1)
    days = [start + timedelta(days=at) for at in range((end - start).days + 1)]
    cells = [_cell(day, at, numbers.get(day, 0), most) for at, day in enumerate(days)]
    around = sorted(counts)
    return call.html(
        "timeline.html",
        cells=cells,
        months=[(at // 7, day) for at, day in enumerate(days) if at % 7 == 0 and day.day <= 7],
        day=day,
        found=call.memory.files.day(day),
        before=max((one for one in around if one < day), default=None),
        after=min((one for one in around if one > day), default=None),
    )


def _cell(day: date, at: int, number: int, most: int) -> dict[str, object]:
    # Four shades by the logarithm: one busy day must not make all others pale.
    shade = ceil(4 * log1p(number) / log1p(max(most, 1)))
    return {"x": at // 7, "y": at % 7, "day": day, "number": number, "shade": shade}


def _day(text: str) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text)
    return None


def receipts(call: Call) -> Response:
    """What was given to agents, newest first, a page at a time."""
    offset = call.number("offset")
    found = call.memory.jobs.receipts(_PAGE + 1, offset)
    more = offset + _PAGE if len(found) > _PAGE else 0
    is_on = call.memory.config.dream.track
    return call.html("receipts.html", found=found[:_PAGE], more=more, is_on=is_on, offset=offset)
