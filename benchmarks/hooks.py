"""What a hook costs while a process serves the memory: its own CPU, and how long a person waits for it.

Run:  python benchmarks/hooks.py [--chunks N] [--runs N] [--folder DIR]

Limits: 8 times the CPU of `python -c pass`, and 120 ms for 95 of 100 messages on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

import memolith
from benchmarks.context import MEMOLITH, WORDS, fill


def hook(message: str) -> bytes:
    fields = {"session_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": message}
    return json.dumps({**fields, "cwd": "/"}).encode()


def run(command: list[str], given: bytes, env: dict[str, str]) -> tuple[float, float, bytes]:
    """CPU seconds of the process itself, seconds by the clock, and what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, input=given, env=env, check=True, capture_output=True)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return cpu, wall, done.stdout


def measure(folder: Path, chunks: int, runs: int) -> dict[str, float]:
    root = folder / "memory"
    began = time.perf_counter()
    with fill(root, chunks // 2) as memory:  # each record is in two files
        held = memory.index.sync().chunks
    indexed = time.perf_counter() - began
    (folder / "run").mkdir(0o700)
    env = {**os.environ, "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder / "run")}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(str(Path(memolith.__file__).parent), quiet=1)
    where = ["--root", str(root)]
    server = subprocess.Popen(
        [MEMOLITH, "mcp", *where], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env
    )
    try:
        while not list((folder / "run").glob("memolith/*")):
            time.sleep(0.1)
        chance = random.Random(7)
        messages = [" ".join(chance.choices(WORDS, k=8)) + "?" for _ in range(runs)]
        for message in messages[:5]:
            run([MEMOLITH, "context", *where], hook(message), env)
        bare, asked = [], []
        for message in messages:
            bare.append(run([sys.executable, "-c", "pass"], b"", env))
            asked.append(run([MEMOLITH, "context", *where], hook(message), env))
    finally:
        server.kill()
        server.communicate()
    cpu = statistics.median(one[0] for one in asked) / statistics.median(one[0] for one in bare)
    walls, bare_walls = (sorted(one[1] for one in taken) for taken in (asked, bare))
    late = sum(b"longer than" in one[2] or b"not ready" in one[2] for one in asked)
    p95 = int(0.95 * runs)
    return {
        "chunks": held,
        "filled and indexed, s": indexed,
        "context hook / python -c pass, CPU (limit 8)": cpu,
        "python -c pass p95, ms": bare_walls[p95] * 1000,
        "context hook p50, ms": walls[runs // 2] * 1000,
        "context hook p95, ms (limit 120)": walls[p95] * 1000,
        "answers that came too late": late,
        "answers with memories": sum(b"hookSpecificOutput" in one[2] for one in asked),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--folder", type=Path)
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=args.folder))
    try:
        figures = measure(folder, args.chunks, args.runs)
    finally:
        shutil.rmtree(folder)
    for name, figure in figures.items():
        print(f"  {name:<60} {figure:10.2f}")


if __name__ == "__main__":
    main()
