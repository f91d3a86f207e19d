"""Figures of every crash test, shown even when it passes, and the private place for mounts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.crash import mounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Figures = Callable[..., None]

_PROPERTY = "crash-figures"


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    """Call with the test's id and its figures: `figures("R1", kills=300, lost=0)`."""

    def show(name: str, **values: object) -> None:
        line = " ".join([f"{name:<4}", *(f"{key}={value}" for key, value in values.items())])
        request.node.user_properties.append((_PROPERTY, line))
        if "PYTEST_XDIST_WORKER" in os.environ:  # the main process may not have read this conftest
            os.write(2, f"{line}\n".encode())

    return show


@pytest.fixture(scope="session")
def private_mounts() -> Iterator[None]:
    """Mounts made by this process are seen by nobody else and vanish with it, even by SIGKILL."""
    mounts.hide_from_the_rest_of_the_machine()
    yield
    mounts.unmount_what_is_left()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line of figures per crash test, at the end of the run."""
    lines = [
        str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, value in getattr(report, "user_properties", ())
        if name == _PROPERTY and report.when == "teardown"
    ]
    if lines:
        terminalreporter.section("crash figures")
        for line in sorted(lines):
            terminalreporter.write_line(line)
