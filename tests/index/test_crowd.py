"""Two processes write and four search, all at once: no error, nothing stale, nothing missed."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash.tier import minutes, size
from tests.index import damages
from tests.index.crowd_worker import WRITERS

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = size(5, 60)
SEARCHERS = 4


@pytest.mark.timeout(minutes(4, 8))
def test_two_processes_write_and_four_search_and_nothing_found_is_stale(tmp_path: Path) -> None:
    root = tmp_path / "profile"
    (tmp_path / "notes").mkdir()
    (root / "memory/nested/deep").mkdir(parents=True)
    with Memory(root) as memory:
        memory.remember("the first of all")
        memory.index.sync()
    kinds = ["write"] * WRITERS + ["search"] * SEARCHERS
    workers = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.index.crowd_worker", kind, root, str(SECONDS), str(at)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for at, kind in enumerate(kinds)
    ]
    reports = []
    for worker in workers:
        output, errors = worker.communicate(timeout=minutes(3, 6))
        assert (worker.returncode, errors) == (0, ""), errors
        reports.append(json.loads(output))
    print(reports)
    # Nobody took for damage what another process did: the index is the one that was made first.
    assert damages.database(damages.index_folder(root)).name.endswith("-000001.db")
    writers, searchers = reports[:WRITERS], reports[WRITERS:]
    assert all(report["written"] for report in writers), reports
    assert all(report["wrong"] == [] and report["warnings"] == [] for report in searchers), reports
