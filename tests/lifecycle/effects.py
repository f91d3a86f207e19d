"""What each setting of the jobs changes that can be seen from outside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith import Memory
    from memolith.settings import Value


def jobs_after_trims(memory: Memory) -> object:
    for number in range(6):
        memory.remember(f"tea {number}")
    return [report.status for report in memory.jobs.list()]


EFFECTS: dict[str, tuple[Callable[[Memory], object], Value, Value, dict[str, Value]]] = {
    "jobs.review": (jobs_after_trims, "auto", "ask", {"trim.max_records": 5}),
    "jobs.kept": (jobs_after_trims, 1, 2, {"trim.max_records": 1, "trim.slack": 0}),
}
