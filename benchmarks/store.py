"""What a write costs: start-up, one append, a file of 100,000 records, sixteen writers at once.

Run:  make bench    (or: python benchmarks/store.py [--folder DIR]; exit code 1 if a limit is not kept)

Every figure is a ratio of one run on one disk, because machines are noisy and disks differ. What is
compared takes turns, writes as many bytes to as many files, and syncs them as often. The rivals have
every advantage: their lines are ready, and they check nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from memolith import Memory
from memolith.files.record_format import encode_line
from memolith.types import Record

LIMITS = {
    ("start-up (CPU ÷ python -c pass)", "remember"): 6,
    ("start-up (CPU ÷ python -c pass)", "session-start"): 6,
    ("append, 1,000 records", "ratio"): 2.5,
    ("append, 100,000 records", "append, CPU ms"): 20,
    ("16 writers × 250", "ratio of p99"): 2,
}


def cpu_seconds(command: list[str], environment: dict[str, str], runs: int = 21) -> float:
    """Median CPU time (user + system) of a command."""
    times = []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(times)


def start_up(folder: Path) -> dict[str, float]:
    """CPU time of whole commands, against a Python that does nothing.

    With compiled bytecode, as pip leaves it; the first run of each writes it and counts as one of 21.
    """
    environment = {
        **os.environ,
        "MEMOLITH_HOME": str(folder / "home"),
        "PYTHONDONTWRITEBYTECODE": "",
        "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
    }
    memolith = str(Path(sys.executable).with_name("memolith"))
    bare = cpu_seconds([sys.executable, "-c", "pass"], environment)
    commands = {
        "remember": [memolith, "remember", "Ana owns the release key", "--category", "event"],
        "session-start": [memolith, "session-start"],
    }
    ratios = {name: cpu_seconds(command, environment) / bare for name, command in commands.items()}
    return {"python -c pass, ms": bare * 1000, **ratios}


def append_cost(folder: Path, records: int, appends: int) -> dict[str, float]:
    """One append to files of many records against two writes and fsyncs, taken in turns."""
    memory = Memory(folder / f"append-{records}")
    fill(memory, records)
    memory.remember("the first one reads the files; it is not timed")
    files = open_files(folder, ("a", "b"))

    def bare() -> None:
        for fd in files:
            os.write(fd, LINE)
            os.fdatasync(fd)

    bare_times, our_times, cpu_times = [], [], []
    for number in range(appends):
        bare_times.append(timed(bare))
        text, cpu = f"{number} {os.urandom(8).hex()}", time.process_time()
        our_times.append(timed(lambda text=text: memory.remember(text)))
        cpu_times.append(time.process_time() - cpu)
    bare_ms, our_ms = (statistics.median(times) * 1000 for times in (bare_times, our_times))
    return {
        "MB": os.path.getsize(Path(memory.root) / "MEMORY.md") / 1e6,
        "two fsyncs, ms": bare_ms,
        "append, ms": our_ms,
        "append, CPU ms": statistics.median(cpu_times) * 1000,
        "ratio": our_ms / bare_ms,
    }


def fill(memory: Memory, records: int) -> None:
    """Write many records at once, as if a year of agents had."""
    record = memory.remember("the line that is copied")
    day = Path(memory.root) / record.citation.path
    with (Path(memory.root) / "MEMORY.md").open("ab") as primary, day.open("ab") as daily:
        for number in range(records):
            line = a_line(
                f"record {number}: what was said on some day, in a sentence of usual length",
                f"{number:032x}",
            )
            primary.write(line)
            daily.write(line)
    os.sync()  # what was filled in is no part of what is timed


def a_line(text: str, record_id: str) -> bytes:
    """A record as it stands in a file."""
    created = datetime(2026, 1, 1, tzinfo=UTC)
    return encode_line(
        Record(id=record_id, text=text, category="note", session="main", created=created)
    )


# As long as the lines that we append when we are timed.
LINE = a_line(f"999 {'0' * 16}", f"{'0' * 36}")


def many_writers(folder: Path, writers: int = 16, appends: int = 250) -> dict[str, float]:
    """Sixteen processes at once, against plain flock + write + fsync doing the same.

    Three pairs of runs; each figure is the median of the three.
    """
    pairs = []
    for pair in range(3):
        ours, plain = folder / f"ours-{pair}", folder / f"plain-{pair}"
        our_waits = sorted(run_writers(our_writer, ours, writers, appends))
        plain_waits = sorted(run_writers(plain_writer, plain, writers, appends))
        texts = [record.text for record in Memory(ours).records()]
        assert len(texts) == len(set(texts)) == writers * appends, (
            "a record is missing or stands there twice"
        )
        pairs.append(
            {
                "appends": len(texts),
                "plain, median ms": statistics.median(plain_waits) * 1000,
                "ours, median ms": statistics.median(our_waits) * 1000,
                "plain, mean ms": statistics.mean(plain_waits) * 1000,
                "ours, mean ms": statistics.mean(our_waits) * 1000,
                "plain, p99 ms": plain_waits[len(plain_waits) * 99 // 100] * 1000,
                "ours, p99 ms": our_waits[len(our_waits) * 99 // 100] * 1000,
            }
        )
    found = {name: statistics.median(pair[name] for pair in pairs) for name in pairs[0]}
    return {**found, "ratio of p99": found["ours, p99 ms"] / found["plain, p99 ms"]}


def our_writer(
    folder: Path, number: int, appends: int, waits: multiprocessing.Queue[list[float]]
) -> None:
    memory = Memory(folder, settings={"store.lock_timeout_seconds": 600})
    waits.put([timed(lambda at=at: memory.remember(f"{number}:{at}")) for at in range(appends)])


def plain_writer(
    folder: Path, number: int, appends: int, waits: multiprocessing.Queue[list[float]]
) -> None:
    folder.mkdir(exist_ok=True)

    def append() -> None:
        # Opened each time, as plain programs do. On a busy machine whoever gives the lock up often
        # takes it again before the next one has woken up: the median is short then, the mean long.
        (lock,) = open_files(folder, ["lock"])
        fcntl.flock(lock, fcntl.LOCK_EX)
        for fd in open_files(folder, ["daily", "primary"]):
            os.write(fd, LINE)
            os.fdatasync(fd)
            os.close(fd)
        os.close(lock)

    waits.put([timed(append) for _ in range(appends)])


def run_writers(
    target: Callable[..., None], folder: Path, writers: int, appends: int
) -> list[float]:
    """Start all writers and gather the time of each append."""
    context = multiprocessing.get_context("fork")
    waits: multiprocessing.Queue[list[float]] = context.Queue()
    processes = [
        context.Process(target=target, args=(folder, number, appends, waits))
        for number in range(writers)
    ]
    for process in processes:
        process.start()
    gathered = [wait for _ in processes for wait in waits.get()]
    for process in processes:
        process.join()
    return gathered


def open_files(folder: Path, names: Iterable[str]) -> list[int]:
    """Handles to append to."""
    return [os.open(folder / name, os.O_CREAT | os.O_WRONLY | os.O_APPEND) for name in names]


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action took."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main() -> None:
    """Run all parts and print one table; with --json, one object."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", default=".", help="a folder on the disk to measure")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="memolith-bench-", dir=args.folder))
    try:
        results = {
            "start-up (CPU ÷ python -c pass)": start_up(folder),
            "append, 1,000 records": append_cost(folder, 1_000, 1_000),
            "append, 100,000 records": append_cost(folder, 100_000, 50),
            "16 writers × 250": many_writers(folder),
        }
    finally:
        shutil.rmtree(folder)
    exceeded = False
    for title, figures in results.items():
        if not args.json:
            print(title)
        for name, value in figures.items():
            limit = LIMITS.get((title, name), math.inf)
            exceeded |= value > limit
            if not args.json:
                shown = f"  (limit {limit:g})" if limit < math.inf else ""
                print(f"    {name:<24} {value:,.2f}{shown}")
    if args.json:
        print(json.dumps(results, indent=2))
    sys.exit(exceeded)


if __name__ == "__main__":
    main()
