"""What a write costs: start-up, one append, a file of a million records, sixteen writers at once.

Run:  make bench    (or: python benchmarks/store.py [--records N] [--folder DIR])

Every figure is a ratio of one run on one disk, because machines are noisy and disks differ. What is
compared takes turns, writes as many bytes to as many files, and syncs them as often. The rivals have
every advantage: their lines are ready, and they check nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from memolith import Memory
from memolith.files.record_format import encode_line
from memolith.types import Record


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
    """CPU time of whole commands, against a Python that does nothing. Limit: 5.

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
        "status": [memolith, "status"],
    }
    ratios = {name: cpu_seconds(command, environment) / bare for name, command in commands.items()}
    return {"python -c pass, ms": bare * 1000, **ratios}


def append_cost(folder: Path, appends: int = 1000) -> dict[str, float]:
    """One append against the two writes and fsyncs it needs, taken in turns. Limit: 1.5."""
    memory = Memory(folder / "append")
    one_by_one, at_once = (open_files(folder, names) for names in (("a", "b"), ("c", "d")))

    def bare() -> None:
        for fd in one_by_one:
            os.write(fd, LINE)
            os.fdatasync(fd)

    def bare_at_once() -> None:
        for fd in at_once:
            os.write(fd, LINE)
        thread = threading.Thread(target=os.fdatasync, args=[at_once[1]])
        thread.start()
        os.fdatasync(at_once[0])
        thread.join()

    bare_times, our_times, sleepless = [], [], []
    at_once_times = [timed(bare_at_once) for _ in range(appends)]  # apart: it wakes a thread
    for number in range(appends):
        bare_times.append(timed(bare))
        cpu = time.process_time()
        our_times.append(
            timed(lambda number=number: memory.remember(f"{number} {os.urandom(8).hex()}"))
        )
        sleepless.append(time.process_time() - cpu)
    bare_ms, at_once_ms, our_ms = (
        statistics.median(times) * 1000 for times in (bare_times, at_once_times, our_times)
    )
    return {
        "two fsyncs, ms": bare_ms,
        "both at once, ms": at_once_ms,
        "append, ms": our_ms,
        "append, CPU ms": statistics.median(sleepless) * 1000,
        "ratio": our_ms / bare_ms,
    }


def growth(folder: Path, records: int) -> dict[str, float]:
    """An append to files of many records against one to empty files, in turns. Limit: 1.2."""
    large, small = Memory(folder / "large"), Memory(folder / "small")
    fill(large, records)
    large.remember("the first one counts lines and fingerprints; it is not timed")
    small.remember("nor is this one")
    large_times, small_times = [], []
    for number in range(500):
        text = f"{number} {os.urandom(8).hex()}"
        large_times.append(timed(lambda text=text: large.remember(text)))
        small_times.append(timed(lambda text=text: small.remember(text)))
    return {
        "records": records,
        "MB": os.path.getsize(Path(large.root) / "MEMORY.md") / 1e6,
        "ratio": statistics.median(large_times) / statistics.median(small_times),
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
    """Sixteen processes at once, against plain flock + write + fsync doing the same. Limit: 1.

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
                "ratio of medians": statistics.median(our_waits) / statistics.median(plain_waits),
                "ratio of means": statistics.mean(our_waits) / statistics.mean(plain_waits),
            }
        )
    return {name: statistics.median(pair[name] for pair in pairs) for name in pairs[0]}


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
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--folder", default=".", help="a folder on the disk to measure")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="memolith-bench-", dir=args.folder))
    try:
        results = {
            "start-up (CPU ÷ python -c pass; limit 5)": start_up(folder),
            "append (÷ two fsyncs; limit 1.5)": append_cost(folder),
            "growth (÷ empty files; limit 1.2)": growth(folder, args.records),
            "16 writers × 250 (÷ flock + write + fsync; limit 1)": many_writers(folder),
        }
    finally:
        shutil.rmtree(folder)
    if args.json:
        print(json.dumps(results, indent=2))
        return
    for title, figures in results.items():
        print(title)
        for name, value in figures.items():
            print(f"    {name:<24} {value:,.2f}")


if __name__ == "__main__":
    main()
