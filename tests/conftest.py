"""What every test may ask for: a clean environment, a time that stands still, a memory."""

from __future__ import annotations

import os
import signal
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from memolith.clock import Clock
from tests.balance import longest_first
from tests.engines import servers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memolith import Memory

# A busy machine is slow, and slow is not wrong. `make test` tries the same examples every time, so
# that the same tree always gets the same answer; `make crash` looks for new ones.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True)
settings.register_profile("same examples", _patient, derandomize=True, database=None)
settings.register_profile("new examples", _patient, max_examples=1000)
settings.load_profile(
    "new examples" if os.environ.get("MEMOLITH_CRASH_TIER") == "long" else "same examples"
)

# Nor does anybody give up because of it, in this process or in one that a test starts, unless the
# test asks for that: by an argument, which counts more, or by setting the variable itself.
_PATIENCE = {
    "MEMOLITH_CONTEXT__DEADLINE_SECONDS": "60",
    "MEMOLITH_CHAT__TIMEOUT_SECONDS": "300",
    "MEMOLITH_STORE__LOCK_TIMEOUT_SECONDS": "300",
}

if threading.current_thread() is threading.main_thread():
    # Started in the background, we would ignore interrupts, and so would every program we start:
    # tests of Ctrl-C would then wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_sessionfinish() -> None:
    servers.stop_all()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with what takes longest."""
    longest_first(items)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the developer's own memory and settings out of the tests, and the tests out of them."""
    for name in list(os.environ):
        if name.startswith("MEMOLITH_") and not name.startswith("MEMOLITH_CRASH_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMOLITH_HOME", str(tmp_path / "home" / ".memolith"))
    for name, seconds in _PATIENCE.items():
        monkeypatch.setenv(name, seconds)


def approve(folder: Path | str, home: Path | str = "") -> None:
    """Approve the memory of a folder, as `memolith trust` does."""
    from memolith.jobs import trust

    home = home or os.environ["MEMOLITH_HOME"]
    trust.approve(str(folder), str(home), datetime(2026, 11, 15, tzinfo=UTC))


class StoppedTime:
    """A time that moves only when the test moves it."""

    def __init__(self, start: datetime) -> None:
        self.moment = start

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **amount: float) -> None:
        """Move on by days, hours, minutes or seconds; negative amounts move back."""
        self.moment += timedelta(**amount)


@pytest.fixture
def stopped_time() -> StoppedTime:
    """Noon of 15 November 2026, UTC."""
    return StoppedTime(datetime(2026, 11, 15, 12, tzinfo=UTC))


@pytest.fixture
def clock(stopped_time: StoppedTime) -> Clock:
    """A clock that shows `stopped_time`, for a user in UTC."""
    return Clock("UTC", now=stopped_time)


@pytest.fixture
def root(tmp_path: Path) -> str:
    """The folder of an empty profile; it does not exist yet."""
    return str(tmp_path / "profile")


@pytest.fixture
def memory(root: str, clock: Clock) -> Iterator[Memory]:
    """A memory in `root` on `clock`."""
    from memolith import Memory

    with Memory(root, clock=clock) as memory:
        yield memory
