"""The day is the user's, and the time moves only as the clock says."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from memolith import clock as clock_module
from memolith.clock import Clock, boot_id, monotonic, read_sysctl


def at(moment: str, zone: str) -> Clock:
    return Clock(zone, now=lambda: datetime.fromisoformat(moment).replace(tzinfo=UTC))


def test_the_time_is_cut_to_milliseconds_because_a_line_keeps_no_more() -> None:
    clock = at("2026-11-15T12:00:00.123999", "UTC")
    assert clock.now() == datetime(2026, 11, 15, 12, 0, 0, 123_000, tzinfo=UTC)


@pytest.mark.parametrize(
    ("moment", "zone", "day"),
    [
        ("2026-11-15T23:59:59", "UTC", date(2026, 11, 15)),
        ("2026-11-15T23:59:59", "Asia/Tokyo", date(2026, 11, 16)),
        ("2026-11-15T00:00:00", "America/Los_Angeles", date(2026, 11, 14)),
        ("2026-03-29T00:59:00", "Europe/Madrid", date(2026, 3, 29)),  # an hour that is skipped
        ("2026-10-25T01:30:00", "Europe/Madrid", date(2026, 10, 25)),  # an hour that comes twice
        ("2028-02-29T12:00:00", "UTC", date(2028, 2, 29)),
        ("2026-12-31T23:30:00", "Europe/Madrid", date(2027, 1, 1)),
        ("2038-01-19T03:14:08", "UTC", date(2038, 1, 19)),
        ("2026-01-01T00:00:00", "Pacific/Kiritimati", date(2026, 1, 1)),
        ("2026-01-01T11:00:00", "Pacific/Kiritimati", date(2026, 1, 2)),
    ],
)
def test_the_day_is_the_one_on_the_users_calendar(moment: str, zone: str, day: date) -> None:
    assert at(moment, zone).today() == day


def test_without_a_zone_it_is_the_systems(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert at("2026-11-15T20:00:00", "").today() == date(2026, 11, 16)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_moment_that_somebody_gives_has_its_own_day() -> None:
    clock = at("2026-11-15T12:00:00", "America/New_York")
    assert clock.day_of(datetime(2026, 1, 1, 3, tzinfo=UTC)) == date(2025, 12, 31)


def test_the_real_clock_is_near_the_real_time() -> None:
    before, now, after = datetime.now(UTC), Clock().now(), datetime.now(UTC)
    assert before - timedelta(milliseconds=1) <= now <= after
    assert Clock().now().tzinfo is UTC


def test_the_boot_has_a_name_that_stays() -> None:
    boot_id.cache_clear()
    first = boot_id()
    boot_id.cache_clear()
    assert first
    assert boot_id() == first
    assert monotonic() <= monotonic()


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(Exception, match="Nowhere"):
        Clock("Nowhere/Land")


def test_nobody_else_reads_the_time() -> None:
    assert clock_module.__doc__
    assert "No other module reads the time" in clock_module.__doc__


def test_the_boot_session_of_macos_is_read_from_the_kernel() -> None:
    def sysctlbyname(name: bytes, text: Any, size: Any, *_: object) -> int:
        if name != b"kern.bootsessionuuid":
            return -1
        text.value = b"5A0C8A3E-0D7B-4B5F-9B0E-2F0C0C9C0B11"
        return 0

    assert read_sysctl(sysctlbyname, b"kern.bootsessionuuid").startswith("5A0C8A3E-")
    assert read_sysctl(sysctlbyname, b"kern.other") == ""
    assert read_sysctl(None, b"kern.bootsessionuuid") == ""


@pytest.mark.parametrize("zone", ["", "Pacific/Kiritimati", "America/New_York", "UTC"])
def test_a_day_ends_before_the_next_one_begins(zone: str) -> None:
    clock = Clock(zone)
    for day in (date(2026, 3, 8), date(2025, 10, 26), date(1970, 1, 1), date.min):
        end = clock.end_of(day)
        assert clock.day_of(end) == day
        assert clock.day_of(end + timedelta(milliseconds=1)) == day + timedelta(days=1)


def test_a_day_that_is_not_over_ends_now() -> None:
    now = datetime(2026, 11, 15, 12, tzinfo=UTC)
    clock = Clock("UTC", now=lambda: now)
    for day in (date(2026, 11, 15), date(2026, 11, 16), date.max):
        assert clock.end_of(day) == now
