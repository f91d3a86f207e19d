"""How long a dream takes over 50,000 tracked recalls, and what noting costs a search.

python -m benchmarks.dream
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memolith import Memory
from memolith.clock import Clock
from memolith.files import recall_log
from memolith.results import Hit
from memolith.types import Citation

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
_SUBJECTS = ("release", "garden", "pipeline", "office", "budget", "trumpet", "harbour", "server")
LIMIT_SECONDS = 2.0
_HITS = 3  # of a search: as many as can answer


def main() -> int:
    """Measure and print; 1 when the limit is passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recalls", type=int, default=50_000)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as root:
        noting = fill(root, args.recalls)
        with Memory(root, clock=Clock("UTC", now=lambda: NOW)) as memory:
            planned = _cpu_of(lambda: memory.jobs.dream(dry_run=True))
            done = _cpu_of(memory.jobs.dream)
            again = _cpu_of(memory.jobs.dream_status)
            promoted = memory.jobs.dream_status().promoted
    figures = {
        "recalls": args.recalls,
        "noting_a_search_ms": round(noting * 1000, 3),
        "dry_run_s": round(planned, 2),
        "dream_s": round(done, 2),
        "status_afterwards_s": round(again, 2),
        "promoted": promoted,
    }
    print(json.dumps(figures))
    return int(done > LIMIT_SECONDS)


def fill(root: str, recalls: int) -> float:
    """Write statements and note that they were recalled, three to a search; seconds for one search."""
    recall_log.MAX_BYTES = 1 << 30  # all of them in one log
    folder = Path(root, "memory")
    folder.mkdir(parents=True)
    statements = [
        f"The {_SUBJECTS[n % 8]} number {n} was settled by person {n % 97} in room {n % 13}"
        for n in range(recalls // 5)
    ]
    for day in range(28):
        part = statements[day::28]
        path = folder / f"2026-10-{day + 1:02d}.md"
        path.write_text("".join(f"- {text}\n" for text in part), encoding="utf-8")
    began = time.process_time()
    for search in range(recalls // _HITS):
        moment = NOW - timedelta(minutes=search)
        clock = Clock("UTC", now=lambda moment=moment: moment)
        hits = [_hit(statements, (search * _HITS + n) % len(statements)) for n in range(_HITS)]
        recall_log.note_shown(root, hits, f"what about {search}?", "search", clock)
    return (time.process_time() - began) / (recalls // _HITS)


def _hit(statements: list[str], number: int) -> Hit:
    line = number // 28 + 1
    path = f"memory/2026-10-{number % 28 + 1:02d}.md"
    return Hit(citation=Citation(path, line, line), text=f"- {statements[number]}", score=1.5)


def _cpu_of(work: object) -> float:
    began = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - began


if __name__ == "__main__":
    sys.exit(main())
