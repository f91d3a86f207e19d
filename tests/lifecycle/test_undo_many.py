"""R23: after a hundred jobs of every kind, each is undone to the very bytes that stood there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from tests.lifecycle.conftest import ON
from tests.lifecycle.life import ARCHIVE, live

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

    Files = dict[str, bytes]  # a missing file has no bytes

JOBS = 100
FILES = ("MEMORY.md", "LONGMEMORY.md", "DREAMS.md", "memory/experiences.md", ARCHIVE)
THINGS = ("boat", "violin", "greenhouse", "tractor", "telescope", "bakery", "lighthouse", "sawmill")
PEOPLE = ("Agnes", "Boris", "Clara", "Dimitri", "Edith", "Fabian", "Greta", "Hugo")
SETTINGS = {
    **ON,
    "compact.max_records": 30,
    "store.backups_kept": 3,
}


def bytes_of(root: str) -> Files:
    """The files that jobs change."""
    paths = {path: Path(root, path) for path in FILES}
    return {path: file.read_bytes() if file.exists() else b"" for path, file in paths.items()}


def owned(number: int) -> tuple[str, str]:
    """Who owns what: no two rounds ask for the same."""
    return PEOPLE[number % 8], THINGS[(number // 8 + number) % 8]


def ask(memory: Memory, number: int) -> None:
    """What was asked for in the last round too is recalled on a second day, and will be promoted."""
    for who, what in (owned(number), owned(number + 1)):
        memory.search(f"who owns the {what}, is it {who}?", limit=1)
        memory.search(f"does {who} have a {what}?", limit=1)


def gap(before: Files, after: Files) -> Files:
    """What was appended between two jobs; nothing else may have happened to a file."""
    assert all(after[path].startswith(before[path]) for path in FILES)
    return {path: after[path][len(before[path]) :] for path in FILES}


def test_r23_after_a_hundred_jobs_each_is_undone_to_the_same_bytes(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    done: list[tuple[str, Files, Files]] = []  # id, files before it, what was appended before it
    with Memory(root, clock=clock, settings=SETTINGS) as memory:
        memory.init()
        facts = (owned(number) for number in range(64))
        diary = "".join(f"- {who} owns the {what} near the river\n" for who, what in facts)
        Path(root, "memory").mkdir(exist_ok=True)
        Path(root, "memory", "owners.md").write_text(diary, encoding="utf-8")
        last, rounds = bytes_of(root), 0
        while len(done) < JOBS:
            live(memory, stopped_time, 2, records=4, seed=len(done))
            ask(memory, rounds)
            rounds += 1
            for job in ("compact", "dream", "experiences"):
                before = bytes_of(root)
                report = memory.jobs.unattended(job)
                assert report.status in ("done", "skipped"), report.reason
                if report.status == "done":
                    done.append((report.id, before, gap(last, before)))
                    last = bytes_of(root)
        behind = gap(last, bytes_of(root))
        for job_id, before, appended in reversed(done):
            memory.jobs.undo(job_id)
            assert bytes_of(root) == {path: before[path] + behind[path] for path in FILES}
            behind = {path: appended[path] + behind[path] for path in FILES}
    kinds = Counter(job_id.rpartition("-")[2] for job_id, _, _ in done)
    assert set(kinds) == {"compact", "dream", "experiences"}
    assert min(kinds.values()) >= 10
