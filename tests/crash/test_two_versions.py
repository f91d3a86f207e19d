"""R20: a later version writes beside us. What we do not understand is kept byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import newer_version
from tests.crash.oracle import Expected, archive_files, judge
from tests.crash.tier import minutes, new_seed, size
from tests.crash.workers import LiveWorker, Order, environment, run

if TYPE_CHECKING:
    from tests.crash.conftest import Figures

SETTINGS = {"trim.max_records": 40, "store.lock_timeout_seconds": 60}
MIX = {"remember": 90, "supersede": 5, "forget": 5}


@pytest.mark.timeout(minutes(5, 20))
def test_two_versions_at_once_keep_each_others_records(tmp_path: Path, figures: Figures) -> None:
    count, seed, root, expected = size(300, 2_000), new_seed(), tmp_path / "root", Expected()
    first = Order(root=root, settings=SETTINGS, steps=[{"do": "remember", "text": "first"}])
    _, said = run(first, tmp_path / "first.ledger")
    expected.add(said)
    day = next((root / "memory").glob("*.md")).stem

    traffic = {"do": "traffic", "seed": seed, "label": "ours", "mix": MIX, "count": count}
    script = str(Path(newer_version.__file__))
    newer = [sys.executable, "-P", script, str(root), day, str(count)]
    order = Order(root=root, settings=SETTINGS, steps=[traffic])
    with (
        LiveWorker(order, tmp_path / "ours.ledger") as ours,
        subprocess.Popen(newer, env=environment({})) as theirs,
    ):
        assert ours.finish() == 0, ours.said()[-1]
        assert theirs.wait(900) == 0
        expected.add(ours.said())

    kept = b"".join(path.read_bytes() for path in [root / "MEMORY.md", *archive_files(root)])
    daily = b"".join(path.read_bytes() for path in (root / "memory").glob("*.md"))
    lines = [newer_version.line(n) for n in range(count)]
    once = sum(kept.count(line) == 1 and daily.count(line) == 1 for line in lines)
    verdict = judge(root, expected)
    figures(
        "R20", appends=f"2x{count}", kept_byte_for_byte=once, acked=len(expected.acknowledged),
        **verdict.figures(), seed=seed,
    )  # fmt: skip
    assert once == count
    assert not verdict, verdict


def test_a_record_with_unknown_keys_is_read_and_survives_every_rewrite(tmp_path: Path) -> None:
    root = tmp_path / "root"
    with Memory(str(root), settings={"trim.max_records": 2}) as memory:
        doomed = memory.remember("doomed")
        day = next((root / "memory").glob("*.md")).stem
        newer_version.main(str(root), day, "1")
        assert {record.text for record in memory.records()} == {"doomed", "newer café 0"}
        memory.forget(doomed.id)
        memory.supersede("newer-0", "we know better")
        assert newer_version.line(0) in (root / "MEMORY.md").read_bytes()
        memory.remember("one too many")
        memory.jobs.trim()
    archived = b"".join(path.read_bytes() for path in archive_files(root))
    assert newer_version.line(0) in archived
