"""Moments as people write them: when a record expires, and when it was learned."""

from __future__ import annotations

from datetime import datetime, timedelta

from memolith.cli.usage import UsageError
from memolith.clock import Clock

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_HINT = (
    "Write a day (2026-12-31), a moment (2026-12-31T18:00) or a time from now (30m, 12h, 7d, 2w)."
)


def parse_expiry(text: str, zone: str) -> datetime:
    """The moment from which the record no longer holds. A day counts to its end, in the user's zone."""
    now = Clock(zone).now()
    try:
        length = duration(text)
        moment = _moment(text, zone) if length is None else now + length
    except (ValueError, OverflowError) as error:
        raise UsageError(f"--expires {text[:40]!a} is no time.", hint=_HINT) from error
    if moment <= now:
        raise UsageError(f"--expires {text[:40]!a} lies in the past.", hint=_HINT)
    return moment


def parse_timestamp(text: str, zone: str) -> datetime:
    """A moment; a day counts from its beginning, in the user's zone."""
    try:
        return _in_zone(datetime.fromisoformat(text), zone)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"--timestamp {text[:40]!a} is not a time.",
            hint="Write a day (2026-04-09) or a moment (2026-04-09T18:00).",
        ) from error


def duration(text: str) -> timedelta | None:
    """How long 30m, 12h, 7d or 2w is; None for anything else. Raises OverflowError and ValueError."""
    amount, unit = text[:-1], _UNITS.get(text[-1:])
    if not unit or not (amount.isascii() and amount.isdecimal()):
        return None
    return timedelta(**{unit: int(amount)})


def _moment(text: str, zone: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if len(text) == len("2026-12-31"):
        moment += timedelta(days=1)
    return _in_zone(moment, zone)


def _in_zone(moment: datetime, zone: str) -> datetime:
    if moment.tzinfo is not None:
        return moment
    if not zone:
        return moment.astimezone()
    from zoneinfo import ZoneInfo

    return moment.replace(tzinfo=ZoneInfo(zone))
