"""Reports, proposals and notes of undone jobs that cannot be read are named, never passed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import JobNotFoundError

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime


def trimmed(root: str, clock: Clock) -> str:
    """The id of a job that was done."""
    with Memory(root, clock=clock) as memory:
        for number in range(4):
            memory.remember(f"Item {number} of the list")
    with Memory(root, clock=clock, settings={"trim.max_records": 2}) as memory:
        return memory.jobs.trim().id


@pytest.mark.parametrize("content", [b"{x", b"", b"[]", b'{"id": 5}', b"\xff"])
def test_a_damaged_report_is_named_by_list_show_and_doctor(
    root: str, clock: Clock, content: bytes
) -> None:
    job = trimmed(root, clock)
    path = f".memolith/jobs/{job}.json"
    Path(root, path).write_bytes(content)
    with Memory(root, clock=clock) as memory:
        assert memory.jobs.list() == ()
        (warning,) = memory.jobs.list().warnings
        assert path in warning
        with pytest.raises(JobNotFoundError, match="is damaged"):
            memory.jobs.undo(job)
        checks = [one for one in memory.doctor().checks if one.id == "jobs"]
    assert [(one.status, path in one.message) for one in checks] == [("warn", True)]


def test_the_last_job_is_not_an_older_one_if_the_newest_is_damaged(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    older = trimmed(root, clock)
    stopped_time.advance(hours=1)
    newer = trimmed(root, clock)
    path = Path(root, f".memolith/jobs/{newer}.json")
    whole = path.read_bytes()
    path.write_bytes(b"{x")
    before = Path(root, "MEMORY.md").read_bytes()
    with Memory(root, clock=clock) as memory:
        for action in (memory.jobs.undo, memory.jobs.show):
            with pytest.raises(JobNotFoundError, match=rf"{newer}\.json is damaged"):
                action("last")
        assert Path(root, "MEMORY.md").read_bytes() == before
        path.write_bytes(whole)
        Path(root, f".memolith/jobs/{older}.json").write_bytes(b"{x")
        assert memory.jobs.undo("last").id == newer
        with pytest.raises(JobNotFoundError, match=rf"{older}\.json is damaged"):
            memory.jobs.undo("last")


def test_a_damaged_proposal_and_a_damaged_list_of_undone_jobs_are_named(
    root: str, clock: Clock
) -> None:
    job = trimmed(root, clock)
    Path(root, ".memolith/proposals").mkdir(exist_ok=True)
    proposal = ".memolith/proposals/20261115T030000.000Z-dream.json"
    Path(root, proposal).write_text("{x", "utf-8")
    Path(root, ".memolith/undone.json").write_text("{x", "utf-8")
    with Memory(root, clock=clock) as memory:
        told = memory.jobs.list().warnings
        assert [one.partition(" ")[0] for one in told] == [proposal, ".memolith/undone.json"]
        assert [one.id for one in memory.jobs.list()] == [job]


def test_nothing_is_told_of_a_memory_that_is_well(root: str, clock: Clock) -> None:
    job = trimmed(root, clock)
    with Memory(root, clock=clock) as memory:
        assert memory.jobs.list().warnings == ()
        memory.jobs.undo(job)
        assert memory.jobs.list().warnings == ()
