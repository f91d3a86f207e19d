"""The plan of a compaction says what becomes of whose records, and that is what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

OFF = {"compact.max_chars": 0, "store.durability": "fast"}


@pytest.fixture
def mixed(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    """Four old records of the user's, of the agent's and of strangers' each, beside young ones."""
    voices = [Memory(root, clock=clock, channel=name) for name in ("cli", "mcp", "email")]
    for number in range(4):
        for who, memory in zip(("I", "The agent", "A shop"), voices, strict=True):
            memory.remember(f"{who} decided to sell boat {number}")
    stopped_time.advance(days=60)
    for number in range(4):
        voices[0].remember(f"said today: {number}")
    return voices[0]


def plan(memory: Memory, **settings: int | bool) -> tuple[str, ...]:
    names = {name.replace("__", "."): value for name, value in settings.items()}
    with Memory(memory.root, clock=memory.jobs.clock, settings={**OFF, **names}) as other:
        return other.jobs.compact().lines


def test_the_plan_says_whose_records_become_a_summary(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=10)
    whose = [line.partition(", ")[2].partition(" → ") for line in lines]
    assert sorted(name for name, _, _ in whose) == ["from outside", "your agent's", "yours"]
    assert {goes_to for _, _, goes_to in whose} == {"one summary"}


def test_what_strangers_said_leaves_for_the_archive_only(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=4)
    assert {line.partition(", ")[2] for line in lines} == {
        "yours → the long memory",
        "your agent's → the long memory",
        "from outside → the archive only",
    }
    told = Path(mixed.root, "LONGMEMORY.md").read_text("utf-8")
    assert ("I decided" in told, "A shop" in told) == (True, False)


def test_without_a_long_memory_everything_leaves_for_the_archive_only(mixed: Memory) -> None:
    lines = plan(mixed, compact__max_records=4, long_memory__enabled=False)
    assert {line.partition(" → ")[2] for line in lines} == {"the archive only"}
    assert not Path(mixed.root, "LONGMEMORY.md").exists()
