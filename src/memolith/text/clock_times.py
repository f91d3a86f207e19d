"""Times of the day, written in other ways: 16:30 is 4:30 pm."""

from __future__ import annotations

import re

_TIME = re.compile(r"(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?")
_NOON = 12
_HOURS = 24
_MINUTES = 60
_HALF = re.compile(r"(?<![\d.])(\d{1,2}(?:[:.]\d{2})?) ?([ap])(?:m\b|\.m\.)", re.IGNORECASE)


def same_times(word: str) -> list[str]:
    """The other ways to write a time, in words of an index; none for what is no time.

    Which half of the day 4:30 is in stays open; 16:30 and 4:30pm say it.

    >>> same_times("16:30"), same_times("4pm")
    (['4:30', '4:30pm'], ['16:00', '4:00', '4:00pm'])
    >>> same_times("4:30")
    ['04:30', '4:30am', '16:30', '4:30pm']
    >>> same_times("430"), same_times("25:00")
    ([], [])
    """
    found = _TIME.fullmatch(word)
    if not found or not (found[2] or found[3]):
        return []
    hour, minute = int(found[1]), int(found[2] or 0)
    if hour >= _HOURS or minute >= _MINUTES:
        return []
    if found[3]:
        hours = [hour % _NOON + _NOON * (found[3] == "pm")]
    else:
        hours = [hour] if hour > _NOON or hour == 0 else [hour % _NOON, hour % _NOON + _NOON]
    written = (way for one in hours for way in _ways(one, minute))
    return [way for way in dict.fromkeys(written) if way != word]


def _ways(hour: int, minute: int) -> list[str]:
    small, half = hour % _NOON or _NOON, "pm" if hour >= _NOON else "am"
    ways = [f"{hour:02}:{minute:02}", f"{small}:{minute:02}", f"{small}:{minute:02}{half}"]
    return ways if minute else [*ways, f"{small}{half}"]


def with_halves(text: str) -> str:
    """The text with the half of the day as part of the time.

    >>> with_halves("the 4:30 p.m. train, 5 of them; I am 7 pm")
    'the 4:30pm train, 5 of them; I am 7pm'
    """
    return _HALF.sub(r"\1\2m", text)
