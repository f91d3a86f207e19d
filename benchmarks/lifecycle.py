"""How long planning a compaction takes, and what others notice while a summary is written.

Run: python benchmarks/lifecycle.py
"""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock
from memolith.config import DEFAULTS
from memolith.files.record_format import encode_line
from memolith.jobs.compact import CompactJob
from memolith.jobs.compact_plan import Scope, plan_compaction
from memolith.jobs.run import run_job
from memolith.llm.rule_based import RuleBased
from memolith.types import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memolith.interfaces import Statement, Summary

RECORDS = 100_000
SLOW_SECONDS = 2.0
START = datetime(2024, 1, 1, tzinfo=UTC)


def lines(count: int) -> bytes:
    return b"".join(
        encode_line(
            Record(
                id=f"{number:08x}-0000-4000-8000-000000000000",
                text=f"Talked with Ana about invoice {number} and the plan for next week",
                category="turn-summary" if number % 3 else "fact",
                session="main",
                created=START + timedelta(minutes=10 * number),
            )
        )
        for number in range(count)
    )


def planning() -> float:
    """CPU seconds of planning over many records."""
    data, clock = lines(RECORDS), Clock("UTC")
    began = time.process_time()
    plan = plan_compaction(data, Scope(DEFAULTS.compact, clock.now()), clock.day_of)
    seconds = time.process_time() - began
    print(f"plan over {RECORDS:,} records: {seconds:.2f} s of one core, {len(plan.groups)} groups")
    return seconds


class Slow(RuleBased):
    """Rules that take their time once, as a model does."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.done = False

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        if not self.done:
            self.asked.set()
            time.sleep(SLOW_SECONDS)
            self.done = True
        return super().summarise(statements, max_chars)


def medians(calls: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    taken: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, call in calls.items():
            began = time.perf_counter()
            call()
            taken[name].append(time.perf_counter() - began)
    return {name: statistics.median(values) for name, values in taken.items()}


def meanwhile() -> dict[str, float]:
    """Median of appends and searches during a slow summary, as a multiple of idle."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        root.mkdir()
        (root / "MEMORY.md").write_bytes(lines(2_000))
        memory = Memory(root)
        numbers = iter(range(10**9))
        calls = {
            "append": lambda: memory.remember(f"number {next(numbers)}"),
            "search": lambda: memory.search("invoice of Ana"),
        }
        medians(calls, 1.0)  # warm
        idle = medians(calls, SLOW_SECONDS * 0.9)
        slow = Slow()
        job = CompactJob(memory.config, Clock("UTC"), slow)
        thread = threading.Thread(target=run_job, args=(memory._workplace(), job))
        thread.start()
        slow.asked.wait()
        busy = medians(calls, SLOW_SECONDS * 0.9)
        thread.join()
        memory.close()
    ratios = {name: busy[name] / idle[name] for name in calls}
    for name, ratio in ratios.items():
        print(f"{name} during a slow summary: {ratio:.2f} × idle ({idle[name] * 1000:.1f} ms)")
    return ratios


if __name__ == "__main__":
    planning()
    meanwhile()
