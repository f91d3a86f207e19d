"""R9: an index damaged while processes search and write gives what is in the files, and no error."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash.tier import LONG, minutes, size
from tests.index import damages

if TYPE_CHECKING:
    from pathlib import Path

DAMAGES = size(90, 405)  # six of each kind, or 27
RECORDS = size(180, 10_000)
SEED = 20261115
SECONDS_BETWEEN = 0.15
# An index of 10,000 records takes seconds to make: there the next damage comes when the readers have
# healed the last one, and each of their searches may take as much CPU.
HEALED_SECONDS = 5


@pytest.mark.timeout(minutes(5, 60))
def test_searches_are_right_while_the_index_is_damaged_a_hundred_times(tmp_path: Path) -> None:
    root, stop = tmp_path / "profile", tmp_path / "stop"
    chance = random.Random(SEED)
    with Memory(root) as memory:
        for number in range(RECORDS):
            memory.remember(f"calm {number} marker{number % 60} was seen", category="event")
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.index.storm_worker", kind, root, stop, str(seed)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed, kind in enumerate(["read", "read", "write"])
    ]
    folder = damages.index_folder(root)
    done = Counter[str]()
    plan = damages.ALL * (DAMAGES // len(damages.ALL))
    chance.shuffle(plan)
    while plan and all(worker.poll() is None for worker in workers):
        time.sleep(SECONDS_BETWEEN)
        if LONG:
            wait_for_searches(workers, stop)
        try:
            plan[-1](folder, chance)
        except (OSError, ValueError):
            continue  # there was nothing to damage just then: they are healing
        done[plan.pop().__name__] += 1
    stop.touch()
    reports = []
    for worker in workers:
        output, errors = worker.communicate(timeout=minutes(2, 10))
        assert worker.returncode == 0, errors
        reports.append(json.loads(output))
    newest = damages.database(folder).name
    print(f"seed {SEED}, {done.total()} damages, {reports}, at last {newest}")
    assert done.total() == DAMAGES, done
    assert all(report["wrong"] == [] for report in reports[:2]), reports
    assert not LONG or max(report["cpu"] for report in reports[:2]) < HEALED_SECONDS, reports


def wait_for_searches(workers: list[subprocess.Popen[str]], stop: Path) -> None:
    """Until both readers have answered a question that was asked after now."""
    counts = [stop.with_suffix(f".{seed}") for seed in range(2)]
    before = [searches(path) for path in counts]
    while all(worker.poll() is None for worker in workers):
        if all(searches(path) > seen + 1 for path, seen in zip(counts, before, strict=True)):
            return
        time.sleep(0.05)


def searches(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def test_every_damage_is_healed_by_the_next_search_of_an_open_memory(tmp_path: Path) -> None:
    root = tmp_path / "profile"
    chance = random.Random(SEED)
    with Memory(root) as memory:
        for number in range(60):
            memory.remember(f"calm {number} marker{number} was seen", category="event")
        for number, damage in enumerate(damages.ALL):
            memory.index.sync()
            damage(damages.index_folder(root), chance)
            for reader in (memory, Memory(root)):
                hits = reader.search(f"marker{number}").hits
                assert [hit.text for hit in hits][:1] == [
                    f"calm {number} marker{number} was seen"
                ], damage.__name__
