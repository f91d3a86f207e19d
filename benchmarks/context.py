"""What it costs to hand memory to an agent: session start, turn context, and answers from the cache.

Run:  python benchmarks/context.py [--records N] [--chunks N] [--folder DIR]

Every figure is a ratio of one run on one machine, or has the limit it must stay below beside it.
"""

from __future__ import annotations

import argparse
import compileall
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import memolith
from memolith import Memory
from memolith.files.gate import new_id
from memolith.files.layout import daily_log
from memolith.files.record_format import encode_line
from memolith.types import Record

MEMOLITH = str(Path(sys.executable).with_name("memolith"))
# Every first English word of the synonyms that come with the package: some 1,700 that people use.
_SYNONYMS = Path(memolith.__file__).with_name("text") / "synonyms.en-es.tsv"
WORDS = [
    line.split("\t")[0].split(",")[0]
    for line in _SYNONYMS.read_text("utf-8").splitlines()
    if line and line[0] != "#"
]
CATEGORIES = ("turn-summary", "note", "note", "fact", "decision", "user-preference", "event")
PER_DAY = 1000
EXPERIENCES = 0.01  # of the records
CHATS = 20
TURNS = 40  # of each chat


def records(count: int, chance: random.Random) -> Iterator[Record]:
    """Records of many days up to now, as many a day as a busy agent writes."""
    now = datetime.now(UTC)
    for number in range(count):
        age = timedelta(days=(count - 1 - number) / PER_DAY)
        text = " ".join(chance.choices(WORDS, k=chance.randint(8, 24)))
        yield Record(
            id=new_id(),
            text=f"{text} {number}",
            category="experience" if chance.random() < EXPERIENCES else chance.choice(CATEGORIES),
            session="main",
            created=now - age,
        )


def fill(root: Path, count: int) -> Memory:
    """A memory with so many records, in MEMORY.md and in daily logs, without an index."""
    memory = Memory(root)
    memory.init()
    days: dict[str, list[bytes]] = {}
    for record in records(count, random.Random(count)):
        line = encode_line(record)
        days.setdefault(daily_log(memory._store.clock.day_of(record.created)), []).append(line)
    with (root / "MEMORY.md").open("ab") as file:
        for lines in days.values():
            file.writelines(lines)
    for path, lines in days.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_bytes(b"".join(lines))
    return memory


def chat(memory: Memory) -> None:
    """Turns of some chats, as a gateway logs them."""
    chance = random.Random(11)
    for number in range(CHATS * TURNS):
        said, answered = (" ".join(chance.choices(WORDS, k=20)) for _ in range(2))
        memory.chats.log(said, answered, chat=f"chat {number % CHATS}")


def cpu_seconds(commands: Sequence[list[str]], runs: int = 15) -> list[float]:
    """Median CPU time (user + system) of each command; they take turns, so all have the same hour."""
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(runs):
        for command, taken in zip(commands, times, strict=True):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            taken.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return [statistics.median(taken) for taken in times]


def timed(work: Callable[[], object]) -> float:
    """Seconds."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def session_start(folder: Path, many: int) -> dict[str, float]:
    """Whole commands against a bare Python, and a large memory against a small one."""
    small, large = folder / "small", folder / "large"
    fill(small, 1000)
    fill(large, many)
    # As an installed package is: a run that has to compile what changed costs twice as much.
    compileall.compile_dir(str(Path(memolith.__file__).parent), quiet=1)
    bare, one, other = cpu_seconds(
        [
            [sys.executable, "-c", "pass"],
            *([MEMOLITH, "session-start", "--root", str(root)] for root in (small, large)),
        ]
    )
    calls = {root: Memory(root).session_start for root in (small, large)}
    taken: dict[Path, list[float]] = {small: [], large: []}
    for _ in range(30):
        for root, call in calls.items():
            taken[root].append(timed(call))
    inside = {root: statistics.median(times) for root, times in taken.items()}
    return {
        "python -c pass, ms": bare * 1000,
        "session-start / python -c pass (limit 6)": max(one, other) / bare,
        f"session-start, {many:,} / 1,000 records, whole command (limit 1.5)": other / one,
        f"session-start, {many:,} / 1,000 records, in-process (limit 1.5)": inside[large]
        / inside[small],
        "session-start in-process, ms": inside[large] * 1000,
    }


def turn_context(folder: Path, chunks: int, questions: int = 200) -> dict[str, float]:
    """A turn against a single search, taken in turns: alone and inside a chat; and the same question again."""
    root = folder / "indexed"
    memory = fill(root, chunks // 2)  # each record stands in two files
    chat(memory)
    started = time.perf_counter()
    memory.index.sync()
    print(f"  (indexed {chunks:,} chunks in {time.perf_counter() - started:.0f} s)")
    chance = random.Random(7)
    memory.search("warm up")
    searches, turns, chats, again = Times(), Times(), Times(), Times()
    for number in range(questions):
        question = " ".join(chance.choices(WORDS, k=6)) + f"? {number}"
        searches.add(partial(memory.search, question))
        turns.add(partial(memory.context, question))
        chats.add(partial(memory.context, question, chat=f"chat {number % CHATS}"))
        again.add(partial(memory.context, question))
    cpu = "of CPU (for when others use the machine)"
    return {
        "search p50, ms": searches.p50 * 1000,
        "turn p50 / search p50 (limit 2)": turns.p50 / searches.p50,
        f"turn p50 / search p50, {cpu}": turns.cpu_p50 / searches.cpu_p50,
        "turn in a chat p50 / search p50 (limit 2)": chats.p50 / searches.p50,
        f"turn in a chat p50 / search p50, {cpu}": chats.cpu_p50 / searches.cpu_p50,
        "turn p99, ms (limit 150)": turns.p99 * 1000,
        f"turn p99, ms {cpu}": turns.cpu_p99 * 1000,
        "turn in a chat p99, ms (limit 150)": chats.p99 * 1000,
        f"turn in a chat p99, ms {cpu}": chats.cpu_p99 * 1000,
        "from the cache p50, ms (limit 1)": again.p50 * 1000,
    }


class Times:
    """How long one thing took each time, by the clock and of CPU."""

    def __init__(self) -> None:
        self._clock: list[float] = []
        self._cpu: list[float] = []

    def add(self, work: Callable[[], object]) -> None:
        """Do it once more."""
        before = time.process_time()
        self._clock.append(timed(work))
        self._cpu.append(time.process_time() - before)

    @property
    def p50(self) -> float:
        return statistics.median(self._clock)

    @property
    def p99(self) -> float:
        return sorted(self._clock)[int(len(self._clock) * 0.99)]

    @property
    def cpu_p50(self) -> float:
        return statistics.median(self._cpu)

    @property
    def cpu_p99(self) -> float:
        return sorted(self._cpu)[int(len(self._cpu) * 0.99)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", choices=("start", "turn"))
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder))
    try:
        figures: dict[str, float] = {}
        if args.only != "turn":
            figures |= session_start(folder, args.records)
        if args.only != "start":
            figures |= turn_context(folder, args.chunks)
    finally:
        shutil.rmtree(folder)
    for name, figure in figures.items():
        print(f"  {name:<75} {figure:8.3f}")


if __name__ == "__main__":
    main()
