"""One contender in a process of its own, so that its memory and its start are nobody else's.

`figures` is called by `run`; it starts this module twice: to build a store, and to ask it.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import resource
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.speed.rivals import CONTENDERS, Memolith

QUESTIONS = 100
# A slow one is asked fewer questions.
_MOST_SECONDS = 90.0
_MOST_SECONDS_OF_BUILDING = 3_600
Figures = dict[str, object]


def figures(name: str, folder: Path, size: int) -> Figures:
    """Build, if it is not there, and ask: what it cost, or why it could not be measured."""
    contender = CONTENDERS[name]
    try:
        found: Figures = {"version": version(contender.package)}
    except PackageNotFoundError:
        return {"not measured": f"{contender.package} is not installed"}
    built = folder.with_name(f"{folder.name}.json")  # what building took, kept beside the store
    try:
        if not folder.exists():
            folder.mkdir(parents=True)
            built.write_text(json.dumps(_in_a_process("build", name, folder, size)))
        if built.exists():
            found |= json.loads(built.read_text())
        return found | _in_a_process("ask", name, folder, size)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return found | {"not measured": str(error)}


def _in_a_process(action: str, name: str, folder: Path, size: int) -> Figures:
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.contest",
        action,
        name,
        str(folder),
        str(size),
    ]
    output = subprocess.run(
        [*command, repr(time.time())],
        check=True,
        stdout=subprocess.PIPE,
        timeout=_MOST_SECONDS_OF_BUILDING,
    ).stdout
    found: Figures = json.loads(output.splitlines()[-1])
    return found


def build(name: str, folder: Path, size: int) -> Figures:
    """Put all texts in. Vectors are there already, but for Memolith, which makes its own."""
    import numpy as np

    from benchmarks.speed.corpus import Corpus
    from memolith.embed.static_model import StaticModel

    corpus, model = Corpus(size), StaticModel()
    contender = CONTENDERS[name]
    texts = [corpus.text(number) for number in range(size)]
    if isinstance(contender, Memolith):
        contender.prepare(folder, size)
        vectors = np.empty((0, 0))
    else:
        vectors = np.concatenate(
            [model.embed(texts[at : at + 1000]) for at in range(0, size, 1000)]
        )
    (folder.parent / f"questions-{size}.json").write_text(json.dumps(corpus.questions(QUESTIONS)))
    before, wall = _cpu(), time.perf_counter()
    contender.build(folder, texts, vectors)
    mine, others = (now - then for now, then in zip(_cpu(), before, strict=True))
    wall = time.perf_counter() - wall
    return {
        "build, chunks per CPU second": round(size / (mine + others)),
        # Of several processes the busiest decides, if each has a core: that can be told on a busy machine.
        "build, chunks per second on two cores": round(size / max(mine, others)),
        "build, chunks per second": round(size / wall),
    }


def ask(name: str, folder: Path, size: int, started: float) -> Figures:
    """Open what was built and ask: the first question tells what a new process costs."""
    questions = json.loads((folder.parent / f"questions-{size}.json").read_text())
    answer = CONTENDERS[name].open(folder)
    assert answer(questions[0]), "nothing was found"
    first_cpu, first_wall = time.process_time(), time.time() - started
    for question in questions[:5]:
        answer(question)
    cpus, walls = [], []
    for question in questions:
        cpu, wall = time.process_time(), time.perf_counter()
        answer(question)
        cpus.append((time.process_time() - cpu) * 1000)
        walls.append((time.perf_counter() - wall) * 1000)
        if sum(walls) > _MOST_SECONDS * 1000:
            break
    return {
        "search p50, CPU ms": _rank(cpus, 50),
        "search p99, CPU ms": _rank(cpus, 99),
        "search p50, ms": _rank(walls, 50),
        "search p99, ms": _rank(walls, 99),
        "searches per second": round(len(walls) / sum(walls) * 1000, 1),
        "questions": len(walls),
        "start to first answer, CPU ms": round(first_cpu * 1000),
        "start to first answer, ms": round(first_wall * 1000),
        "RSS, MB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "disk, MB": round(_size(folder) / 1e6, 1),
    }


def _cpu() -> tuple[float, float]:
    """CPU seconds of this process, and of those it started and that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time(), children.ru_utime + children.ru_stime


def _rank(times: list[float], percent: int) -> float:
    ordered = sorted(times)
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 2)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    action, name, folder, size, started = sys.argv[1:]
    if action == "build":
        found = build(name, Path(folder), int(size))
    else:
        found = ask(name, Path(folder), int(size), float(started))
    print(json.dumps(found))
