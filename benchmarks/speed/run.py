"""How fast it is, by size: search, start-up, first indexing, sync, memory; and rivals beside it.

Run:  python -m benchmarks.speed.run --sizes 1000,10000,100000 [--rivals all] [--folder DIR] [--save NAME]

Machines are busy, so CPU time (user and system, all threads) stands beside time on the clock, and `pace`,
a fixed piece of work, beside both. With `--folder`, stores are kept there and used again, with what it took
to build them then.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.speed.contest import Figures, figures
from benchmarks.speed.corpus import Corpus, write_many_files
from benchmarks.speed.rivals import CONTENDERS
from memolith import Memory, __version__

RESULTS = Path(__file__).parent / "results"
RIVALS = [name for name in CONTENDERS if name != "memolith"]
MANY_FILES = 10_000
_TRIES = 5


def milliseconds(action: Callable[[], object]) -> tuple[float, float]:
    """CPU milliseconds that an action took, and those on the clock."""
    cpu, wall = time.process_time(), time.perf_counter()
    action()
    return (time.process_time() - cpu) * 1000, (time.perf_counter() - wall) * 1000


def pace() -> float:
    """CPU milliseconds of a fixed piece of Python and NumPy: the best of several."""

    def work() -> None:
        known = {}
        for number in range(20_000):
            known[number % 97] = (number, number * 2)
        values = np.arange(200_000, dtype=np.float32)
        for _ in range(10):
            values = np.sqrt(values + 1)

    return round(min(milliseconds(work)[0] for _ in range(9)), 2)


def of_size(folder: Path, size: int, rivals: list[str]) -> dict[str, object]:
    """Everything about memories of one size, rivals first: so they cannot profit from us."""
    found: dict[str, object] = {"chunks": size, "pace, ms": pace()}
    for name in (*rivals, "memolith"):
        found[name] = figures(name, folder / f"{name}-{size}", size)
    ours = found["memolith"]
    assert isinstance(ours, dict)
    root = folder / f"memolith-{size}"
    with Memory(root) as memory:
        ours |= upkeep_figures(memory, root)
    ours["command, cold, CPU ms"] = round(cold_command(root, Corpus(size).questions(1)[0]), 1)
    return found


def upkeep_figures(memory: Memory, root: Path) -> Figures:
    """What a sync costs when nothing is new, and when a changed file is found."""
    memory.search("anything")
    memory.search("anything else")
    unchanged = [milliseconds(memory.index.sync) for _ in range(_TRIES)]
    changed = [one_change(memory, root, number) for number in range(_TRIES)]
    return {
        "files": memory.index.status().files,
        "sync of nothing new, CPU ms": _median(unchanged, 0),
        "sync of nothing new, ms": _median(unchanged, 1),
        "changed file found after, CPU ms": _median(changed, 0),
        "changed file found after, ms": _median(changed, 1),
    }


def _median(times: list[tuple[float, float]], part: int) -> float:
    return round(statistics.median(pair[part] for pair in times), 1)


def one_change(memory: Memory, root: Path, number: int) -> tuple[float, float]:
    """How long it takes from the change of one file until a search has found it."""
    path = sorted((root / "memory").rglob("*.md"))[number]
    before = path.read_bytes()
    word = f"zyx{os.urandom(4).hex()}"
    path.write_bytes(before + f"\n## News\n\n{word} was seen\n".encode())
    try:
        found = milliseconds(lambda: check(memory, word))
    finally:
        path.write_bytes(before)
        memory.index.sync()
    return found


def check(memory: Memory, word: str) -> None:
    """Search a word that was just written."""
    hits = memory.search(word).hits
    assert hits, "the change was not found"
    assert word in hits[0].text


def cold_command(root: Path, question: str) -> float:
    """CPU time of a whole `memolith search`, disk warm: the median of five."""
    command = [Path(sys.executable).with_name("memolith"), "search", question, "--root", root]
    times = []
    for _ in range(_TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return statistics.median(times) * 1000


def many_files(root: Path) -> Figures:
    """The same upkeep in a memory of ten thousand small files."""
    if not root.exists():
        write_many_files(root, MANY_FILES)
    with Memory(root) as memory:
        memory.index.sync()
        return upkeep_figures(memory, root)


def ratios(found: dict[str, object]) -> dict[str, str]:
    """How many times our p50 each rival takes, by CPU and on the clock."""
    ours = found["memolith"]
    assert isinstance(ours, dict)
    result = {}
    for name in RIVALS:
        theirs = found.get(name)
        if isinstance(theirs, dict) and "search p50, ms" in theirs:
            times = [
                theirs[measure] / ours[measure]
                for measure in ("search p50, CPU ms", "search p50, ms")
            ]
            result[f"{name} takes"] = f"{times[0]:.2g} times our CPU, {times[1]:.2g} times our time"
    return result


def show(found: dict[str, object]) -> None:
    """Print one size."""
    for title, value in found.items():
        print(title, value if not isinstance(value, dict) else "", flush=True)
        for name, figure in value.items() if isinstance(value, dict) else ():
            print(f"    {name:<36} {figure}", flush=True)
    if "memolith" in found:
        for name, text in ratios(found).items():
            print(f"{name} {text}", flush=True)
    print(flush=True)


def main() -> None:
    """Measure, print one table for each size, and keep the result if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rivals", default="", help=f"`all`, or of {','.join(RIVALS)}")
    parser.add_argument(
        "--folder", type=Path, help="keep stores here, and use those that are there"
    )
    parser.add_argument("--save", help="name of the result file in benchmarks/speed/results")
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp(prefix="memolith-speed-"))
    rivals = RIVALS if args.rivals == "all" else [name for name in args.rivals.split(",") if name]
    results = []
    try:
        for size in map(int, args.sizes.split(",")):
            results.append(of_size(folder, size, rivals))
            show(results[-1])
        files = many_files(folder / f"files-{MANY_FILES}")
        show({f"{MANY_FILES:,} files": files})
    finally:
        if args.folder is None:
            shutil.rmtree(folder)
    if args.save:
        command = f"python -m benchmarks.speed.run --sizes {args.sizes}" + (
            f" --rivals {args.rivals}" if args.rivals else ""
        )
        content = {
            "version": __version__,
            "date": str(date.today()),
            "command": command,
            "python": sys.version.partition(" ")[0],
            "load": [round(load, 1) for load in os.getloadavg()],
            "results": results,
            "many files": files,
        }
        (RESULTS / f"{args.save}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
