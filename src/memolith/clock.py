"""What time it is, and which day that is for the user. No other module reads the time."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from functools import cache

# Nanoseconds within which two changes of a file may get the same time, and by which that may lag behind.
FILE_TICK = 50_000_000


class Clock:
    """The time, in UTC and in the user's zone.

    >>> from datetime import datetime, timezone
    >>> clock = Clock("America/New_York", now=lambda: datetime(2026, 3, 1, 3, 30, tzinfo=timezone.utc))
    >>> clock.today()
    datetime.date(2026, 2, 28)
    """

    def __init__(self, zone: str = "", *, now: Callable[[], datetime] | None = None) -> None:
        """Take an IANA zone name, or "" for the system's zone; `now` is for tests."""
        self.zone = zone
        self._zone = _load_zone(zone)
        self._now = now or _system_now

    @property
    def is_real(self) -> bool:
        """Whether it is the machine's clock; a test clock cannot be sent to another process."""
        return self._now is _system_now

    def now(self) -> datetime:
        """Now in UTC, cut to milliseconds because that is what a record line keeps."""
        now = self._now()
        return now.replace(microsecond=now.microsecond // 1000 * 1000)

    def day_of(self, moment: datetime) -> date:
        """The calendar day of a moment as the user would name it."""
        if self._zone is None:  # the same rules, without making a zone for each moment
            return date.fromtimestamp(moment.timestamp())  # noqa: DTZ012 - the user's own day
        return self.local(moment).date()

    def local(self, moment: datetime) -> datetime:
        """The moment in the user's zone."""
        return moment.astimezone(self._zone)

    def today(self) -> date:
        """The user's current calendar day."""
        return self.day_of(self.now())

    def end_of(self, day: date) -> datetime:
        """The last moment of a day of the user's, or now if that is yet to come."""
        if day >= self.today():
            return self.now()
        following = datetime(day.year, day.month, day.day) + timedelta(days=1)  # noqa: DTZ001 - local
        if self._zone is not None:
            following = following.replace(tzinfo=self._zone)
        return following.astimezone(UTC) - timedelta(milliseconds=1)


def monotonic() -> float:
    """Seconds that never jump, for deadlines."""
    return time.monotonic()


def file_time() -> int:
    """Nanoseconds as the file system stamps files, whatever day the user's clock shows."""
    return time.time_ns()


@cache
def boot_id() -> str:
    """A name for the time since this machine started; it differs after every restart.

    Left-over intents are completed only within one boot: after a power cut the page cache they
    relied on is gone, and what was acknowledged had been synced anyway.
    """
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()
    except OSError:  # not Linux
        import ctypes

        libc = ctypes.CDLL(None)
        session = read_sysctl(getattr(libc, "sysctlbyname", None), b"kern.bootsessionuuid")
        # Elsewhere the start-up time, coarse enough to survive clock corrections.
        return session or f"booted-{round((time.time() - time.monotonic()) / 60)}"


def read_sysctl(sysctlbyname: Callable[..., int] | None, name: bytes) -> str:
    """A text that the kernel of macOS or BSD keeps under this name; "" where it has none."""
    import ctypes

    if sysctlbyname is None:
        return ""
    text = ctypes.create_string_buffer(64)
    size = ctypes.c_size_t(len(text))
    failed = sysctlbyname(name, text, ctypes.byref(size), None, ctypes.c_size_t(0))
    return "" if failed else text.value.decode("ascii", "replace")


def _system_now() -> datetime:
    return datetime.now(UTC)


def _load_zone(name: str) -> tzinfo | None:
    if not name:
        return None  # astimezone(None) is the system's zone, with its rules for each date
    from zoneinfo import ZoneInfo  # only users who set a zone pay for this import

    return ZoneInfo(name)
