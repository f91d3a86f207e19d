"""Which tests begin first when several workers share a run: one that is long must not be the last."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

# Files whose tests take more than ten seconds on an idle machine, the longest first.
LONG = (
    "rest/test_schemathesis.py",
    "docs/test_install.py",
    "index/test_damage_storm.py",
    "mcp_server/test_soak.py",
    "mcp_server/test_independent_clients.py",
    "rest/test_stopping.py",
    "lifecycle/test_year.py",
    "importers/test_large_export.py",
    "crash/test_kill.py",
    "crash/test_power_cut.py",
    "crash/test_errors_of_forks.py",
    "crash/test_kill_of_forks.py",
    "crash/test_errors_at_every_call.py",
)


def longest_first(items: list[pytest.Item]) -> None:
    """Put long tests where `--dist=worksteal` begins: it gives each worker one stretch of the list."""
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long = [item for name in LONG for item in items if item.path.as_posix().endswith(name)]
    those = set(long)
    short = [item for item in items if item not in those]
    size = len(items) // workers
    items.clear()
    for worker in range(workers):
        mine = long[worker::workers]
        last = worker == workers - 1
        items += mine
        items += short[: None if last else max(0, size - len(mine))]
        del short[: None if last else max(0, size - len(mine))]
