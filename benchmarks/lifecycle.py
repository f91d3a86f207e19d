"""How long planning a compaction takes, and what others notice while a summary is written.

Run: python benchmarks/lifecycle.py; it fails when a limit is passed.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line
from memolith.jobs.compact import CompactJob
from memolith.jobs.job import Snapshot
from memolith.jobs.run import run_job
from memolith.llm.rules import Rules
from memolith.types import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memolith.interfaces import Statement, Summary

RECORDS = 100_000
LIMIT_SECONDS = 2.0  # of a plan
LIMIT_RATIO = 1.2  # of an append or a search meanwhile
SLOW_SECONDS = 2.0
# Calls of each kind in one memory, and whether it is compacted: in turn, so that a noisy hour hits both.
PAIRS = 50
ORDERS = ((True, False), (False, True)) * 3
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
    """CPU seconds of planning over many records, with what other files say of them."""
    with tempfile.TemporaryDirectory() as root:
        Path(root, "MEMORY.md").write_bytes(lines(RECORDS))
        job = CompactJob(Memory(root, clock=Clock("UTC")).jobs.store, Rules())
        with Folder(root) as folder:
            began = time.process_time()
            plan = job.plan(Snapshot(folder))
            seconds = time.process_time() - began
    print(f"plan over {RECORDS:,} records: {seconds:.2f} s of one core, {len(plan.groups)} groups")
    return seconds


def whole_dry_run() -> float:
    """CPU seconds of `memolith compact --dry-run` from start to exit, printing included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "MEMORY.md").write_bytes(lines(RECORDS))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "memolith", "--root", folder, "compact", "--dry-run"]
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"whole `compact --dry-run` over {RECORDS:,} records: {seconds:.2f} s of one core")
    return seconds


class Slow(Rules):
    """Rules that take their time once, as a model does."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.answered = threading.Event()

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        if not self.asked.is_set():
            self.asked.set()
            time.sleep(SLOW_SECONDS)
            self.answered.set()
        return super().summarise(statements, max_chars)


@dataclass(frozen=True, slots=True)
class Taken:
    """Seconds on the clock and of this thread's CPU, of each call that began before the summary came."""

    wall: tuple[float, ...]
    cpu: tuple[float, ...]


def timed(calls: dict[str, Callable[[], object]], ended: threading.Event) -> dict[str, Taken]:
    """The calls in turn, PAIRS times, or until the summary has come."""
    wall: dict[str, list[float]] = {name: [] for name in calls}
    cpu: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(PAIRS):
        for name, call in calls.items():
            if ended.is_set():
                break
            began, worked = time.perf_counter(), time.thread_time()
            call()
            cpu[name].append(time.thread_time() - worked)
            wall[name].append(time.perf_counter() - began)
    return {name: Taken(tuple(wall[name]), tuple(cpu[name])) for name in calls}


def one_memory(*, compacting: bool) -> dict[str, Taken]:
    """Appends and searches in a memory of its own, so that both kinds begin with the same files and index."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "root")
        root.mkdir()
        (root / "MEMORY.md").write_bytes(lines(2_000))
        memory, numbers = Memory(root), iter(range(10**9))
        calls = {
            "append": lambda: memory.remember(f"number {next(numbers)}"),
            "search": lambda: memory.search("invoice of Ana"),
        }
        timed(calls, threading.Event())  # warm
        slow = Slow()
        job = CompactJob(memory.jobs.store, slow)
        thread = threading.Thread(target=run_job, args=(job,))
        if compacting:
            thread.start()
            slow.asked.wait()
        taken = timed(calls, slow.answered)
        if compacting:
            thread.join()
        memory.close()
    return taken


def meanwhile() -> dict[str, float]:
    """Median of appends and searches during a slow summary, as a multiple of idle."""
    one_memory(compacting=False)  # the model is loaded once
    rounds = [{kind: one_memory(compacting=kind) for kind in order} for order in ORDERS]
    ratios = {}
    for name in ("append", "search"):
        busy, idle, cpu_busy, cpu_idle = (
            statistics.median(
                second
                for one in rounds
                # as many of each kind, or the one that came further would have searched more
                for second in getattr(one[kind][name], clock)[: len(one[True][name].wall)]
            )
            for clock in ("wall", "cpu")
            for kind in (True, False)
        )
        ratios[name] = busy / idle
        print(
            f"{name} during a slow summary: {busy / idle:.2f} × idle ({idle * 1000:.1f} ms); "
            f"of CPU {cpu_busy / cpu_idle:.2f} ×"
        )
    return ratios


def main() -> int:
    """Measure and print; 1 when a limit is passed."""
    seconds = planning()
    whole_dry_run()
    ratios = meanwhile()
    return int(seconds > LIMIT_SECONDS or max(ratios.values()) > LIMIT_RATIO)


if __name__ == "__main__":
    sys.exit(main())
