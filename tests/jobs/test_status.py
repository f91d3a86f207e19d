"""`status` counts what stands in a profile."""

from __future__ import annotations

from pathlib import Path

from memolith import Memory
from memolith.version import __version__


def test_a_profile_that_does_not_exist_has_nothing(root: str) -> None:
    with Memory(root) as memory:
        status = memory.status()
    assert (status.version, status.root, status.initialised) == (__version__, root, False)
    assert (status.records, status.notes, status.daily_logs, status.bytes) == (0, 0, 0, 0)
    assert not Path(root).exists()


def test_everything_is_counted(memory: Memory) -> None:
    memory.init()
    forgotten = memory.remember("to be forgotten")
    for number in range(4):
        memory.remember(f"number {number}")
    memory.save_note("a note")
    memory.log_turn("hello", "hi")
    memory.forget(forgotten.id)
    with Memory(memory.root, settings={"trim.max_records": 3, "trim.slack": 0.0}) as small:
        small.trim()
    status = memory.status()
    assert (status.records, status.notes, status.daily_logs, status.turns) == (3, 1, 1, 1)
    assert (status.archived, status.backups, status.forgotten) == (1, 1, 1)
    files = ("MEMORY.md", "USER.md", "conversation-history.jsonl", "memory/2026-11-15.md")
    notes = [str(path.relative_to(memory.root)) for path in Path(memory.root).rglob("fact/*.md")]
    assert status.bytes == sum(Path(memory.root, name).stat().st_size for name in (*files, *notes))


def test_records_of_both_places_are_counted(root: str) -> None:
    for primary in ("MEMORY.md", "memory/MEMORY.md"):
        with Memory(root, settings={"profile.primary": primary}) as memory:
            memory.remember(f"in {primary}")
    assert memory.status().records == 2
