"""R23: after many jobs of every kind, each is undone to the very bytes that stood there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from tests.lifecycle.conftest import ON
from tests.lifecycle.life import ARCHIVE, live

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

JOBS = 100
FILES = ("MEMORY.md", "LONGMEMORY.md", "DREAMS.md", "memory/experiences.md", ARCHIVE)


def bytes_of(root: str) -> dict[str, bytes | None]:
    """The files that jobs change."""
    return {
        path: Path(root, path).read_bytes() if Path(root, path).exists() else None for path in FILES
    }


def test_r23_after_a_hundred_jobs_each_is_undone_to_the_same_bytes(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {**ON, "compact.max_records": 30, "jobs.kept": 2 * JOBS, "store.backups_kept": 3}
    states = list[tuple[str, dict[str, bytes | None]]]()
    with Memory(root, clock=clock, settings=settings) as memory:
        while len(states) < JOBS:
            live(memory, stopped_time, 2, records=4, seed=len(states))
            for job in ("compact", "dream", "experiences"):
                before = bytes_of(root)
                report = memory.jobs.unattended(job)
                assert report.status in ("done", "skipped"), report.reason
                if report.status == "done":
                    states.append((report.id, before))
        undone = [memory.jobs.undo(job_id) and bytes_of(root) for job_id, _ in reversed(states)]
    kinds = {job_id.rpartition("-")[2] for job_id, _ in states}
    assert kinds >= {"compact", "experiences"}
    for (_, before), after in zip(reversed(states), undone, strict=True):
        assert {path for path in FILES if not _is_as_before(before[path], after[path])} == set()


def _is_as_before(before: bytes | None, after: bytes | None) -> bool:
    """The same bytes, and behind them only what was appended after the job."""
    return (after or b"").startswith(before or b"")
