"""R22: fsync fails once and works again. It is not acknowledged, and never silently good later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crash import rig_preload
from tests.crash.oracle import Expected, judge, snapshot
from tests.crash.workers import LiveWorker, Order, run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crash.conftest import Figures

FIRST = {"do": "remember", "text": "written before"}
FAILS = {"do": "remember", "text": "the disk says no"}
AGAIN = {"do": "remember", "text": "the disk says yes"}


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """The compiled shim."""
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    return rig_preload.build(tmp_path)


@pytest.mark.parametrize("file", ["MEMORY.md", "/memory/"])
def test_a_record_whose_sync_failed_is_neither_acknowledged_nor_there_later(
    file: str, library: Path, tmp_path: Path, figures: Figures
) -> None:
    root, log = tmp_path / "root", tmp_path / "sync.log"
    run(Order(root=root, steps=[FIRST]), tmp_path / "first.ledger")
    before = snapshot(root)

    env = rig_preload.environment(library, file, "sync", fault="eio", when=1, log=log)
    code, said = run(Order(root=root, steps=[FAILS]), tmp_path / "fails.ledger", env=env)
    assert code == 3
    assert said[-1].kind == "StorageError"
    assert snapshot(root) == before

    _, said = run(Order(root=root, steps=[AGAIN]), tmp_path / "again.ledger")
    expected = Expected()
    expected.add(said)
    everything = b"".join(snapshot(root).values())
    figures("R22", file=file, acked=0, there_later=everything.count(b"the disk says no"))
    assert not judge(root, expected).lost
    assert b"the disk says no" not in everything


@pytest.mark.parametrize("file", ["MEMORY.md", "/memory/"])
def test_of_two_syncs_at_the_same_time_either_may_fail_and_the_next_call_syncs_again(
    file: str, library: Path, tmp_path: Path
) -> None:
    root, log = tmp_path / "root", tmp_path / "sync.log"
    env = rig_preload.environment(library, file, "sync", fault="eio", when=2, log=log)
    code, said = run(Order(root=root, steps=[FIRST, FAILS, AGAIN]), tmp_path / "l.ledger", env=env)

    ends = [line.word for line in said if line.word in ("ack", "error")]
    assert code == 3
    assert ends == ["ack", "error", "ack"]
    assert file.strip("/") in next(line.message for line in said if line.word == "error")
    assert len(log.read_text().splitlines()) >= 3, "the last call did not sync the file"
    assert b"the disk says no" not in b"".join(snapshot(root).values())


def test_a_failed_sync_harms_nobody_who_has_written_behind_it(
    library: Path, tmp_path: Path, figures: Figures
) -> None:
    root, expected, behind = tmp_path / "root", Expected(), tmp_path / "behind"
    _, said = run(Order(root=root, steps=[FIRST]), tmp_path / "first.ledger")
    expected.add(said)
    env = rig_preload.environment(library, "MEMORY.md", "sync", fault="eio", when=1, until=behind)
    with LiveWorker(Order(root=root, steps=[FAILS]), tmp_path / "fails.ledger", env=env) as failing:
        failing.wait_until(lambda: FAILS["text"].encode() in (root / "MEMORY.md").read_bytes())
        _, said = run(Order(root=root, steps=[AGAIN]), tmp_path / "behind.ledger")
        expected.add(said)
        behind.touch()
        assert failing.finish() == 3
    _, said = run(Order(root=root, steps=[FIRST | {"text": "last"}]), tmp_path / "last.ledger")
    expected.add(said)
    verdict = judge(root, expected)
    figures("R22", writers=2, acked=len(expected.acknowledged), **verdict.figures())
    assert len(expected.acknowledged) == 3
    assert (verdict.lost, verdict.torn, verdict.twice) == (0, 0, 0)
