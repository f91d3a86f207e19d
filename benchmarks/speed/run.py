"""How fast it is, by size: search, start-up, first indexing, sync, memory; and rivals beside it.

Run:  python -m benchmarks.speed.run --sizes 1000,10000,100000 [--rivals fts5] [--folder DIR] [--save NAME]

Times are CPU times of this process, user and system together: machines are busy, and CPU time is the
part that is ours. `pace` is a fixed piece of work measured beside them, to compare machines by.
With `--folder`, corpora and indexes are kept there and used again; first indexing is then not measured.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np

from benchmarks.speed.corpus import Corpus
from benchmarks.speed.rivals import RIVALS
from memolith import Memory, __version__

QUESTIONS = 200
RIVAL_QUESTIONS = 30


def cpu_ms(action: Callable[[], object]) -> float:
    """CPU milliseconds that an action took."""
    start = time.process_time()
    action()
    return (time.process_time() - start) * 1000


def percentiles(times: list[float]) -> dict[str, float]:
    """The usual three."""
    return {f"p{rank}": round(float(np.percentile(times, rank)), 2) for rank in (50, 95, 99)}


def pace() -> float:
    """CPU milliseconds of a fixed piece of Python and NumPy: the best of several."""

    def work() -> None:
        known = {}
        for number in range(20_000):
            known[number % 97] = (number, number * 2)
        values = np.arange(200_000, dtype=np.float32)
        for _ in range(10):
            values = np.sqrt(values + 1)

    return round(min(cpu_ms(work) for _ in range(9)), 2)


def of_size(root: Path, size: int) -> dict[str, object]:
    """Everything about a memory of one size."""
    corpus = Corpus(size)
    result: dict[str, object] = {"chunks": size, "pace, ms": pace()}
    if not root.exists():
        corpus.write(root)
        with Memory(root) as memory:
            cpu, wall = time.process_time(), time.perf_counter()
            chunks = memory.sync().chunks
            result["first indexing, chunks per CPU second"] = round(
                chunks / (time.process_time() - cpu)
            )
            result["first indexing, chunks per second"] = round(
                chunks / (time.perf_counter() - wall)
            )
    questions = corpus.questions(QUESTIONS)
    with Memory(root) as memory:
        result["first search, ms"] = round(cpu_ms(lambda: memory.search(questions[0])), 1)
        for question in questions[:10]:
            memory.search(question)
        started = time.process_time()
        times = [cpu_ms(lambda asked=question: memory.search(asked)) for question in questions]
        result["search, ms"] = percentiles(times)
        result["searches per CPU second"] = round(QUESTIONS / (time.process_time() - started), 1)
        result["sync of nothing new, ms"] = round(cpu_ms(memory.sync), 1)
        result["changed file found after, ms"] = round(one_change(memory, root), 1)
        result["files"] = memory.index_status().files
        result["index, MB"] = round(memory.index_status().bytes / 1e6, 1)
    result["command, cold, CPU ms"] = round(cold_command(root, questions[0]), 1)
    result["RSS, MB"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return result


def one_change(memory: Memory, root: Path) -> float:
    """CPU time from the change of one file until a search finds it."""
    path = min((root / "memory").rglob("*.md"))
    before = path.read_bytes()
    word = f"zyx{os.urandom(4).hex()}"
    path.write_bytes(before + f"\n## News\n\n{word} was seen\n".encode())
    try:
        start = time.process_time()
        hits = memory.search(word).hits
        assert hits, "the change was not found"
        assert word in hits[0].text
        return (time.process_time() - start) * 1000
    finally:
        path.write_bytes(before)
        memory.sync()


def cold_command(root: Path, question: str) -> float:
    """CPU time of a whole `memolith search`, disk warm: the median of five."""
    command = [Path(sys.executable).with_name("memolith"), "search", question, "--root", root]
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return float(np.median(times)) * 1000


def rival_figures(name: str, size: int) -> dict[str, object]:
    """A rival on the same texts, the same vectors and the same questions."""
    corpus = Corpus(size)
    folder = tempfile.mkdtemp(prefix="memolith-rival-")
    try:
        rival = RIVALS[name](folder, [corpus.text(number) for number in range(size)])
        times = [
            cpu_ms(lambda asked=question: rival(asked))
            for question in corpus.questions(RIVAL_QUESTIONS)
        ]
    except ImportError as error:
        return {"not installed": str(error)}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return percentiles(times)


def main() -> None:
    """Measure, print one table for each size, and keep the result if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--rivals", default="", help=f"of {', '.join(RIVALS)}, with commas")
    parser.add_argument(
        "--folder", type=Path, help="keep corpora here, and use those that are there"
    )
    parser.add_argument("--save", help="name of the result file in benchmarks/results")
    args = parser.parse_args()
    folder = args.folder or Path(tempfile.mkdtemp(prefix="memolith-speed-"))
    results = []
    try:
        for size in map(int, args.sizes.split(",")):
            found = of_size(folder / f"mem-{size}", size)
            for name in filter(None, args.rivals.split(",")):
                found[f"{name}, ms"] = rival_figures(name, size)
            for title, value in found.items():
                print(f"{title:<40} {value}", flush=True)
            print(flush=True)
            results.append(found)
    finally:
        if args.folder is None:
            shutil.rmtree(folder)
    if args.save:
        place = Path(__file__).parent.parent / "results"
        place.mkdir(exist_ok=True)
        command = f"python -m benchmarks.speed.run --sizes {args.sizes}" + (
            f" --rivals {args.rivals}" if args.rivals else ""
        )
        content = {
            "version": __version__,
            "date": str(date.today()),
            "command": command,
            "load": os.getloadavg(),
            "results": results,
        }
        (place / f"{args.save}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
