"""Days follow the user's zone: after `profile.timezone` was changed, the next search knows the new ones."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock

if TYPE_CHECKING:
    from pathlib import Path

# Late in the evening in London, the next morning in Tokyo.
LATE = datetime(2026, 11, 14, 23, 30, tzinfo=UTC)


def in_zone(root: Path, zone: str, now: datetime) -> Memory:
    return Memory(root, clock=Clock(zone, now=lambda: now))


def days_found(memory: Memory) -> list[date | None]:
    return sorted({hit.dated for hit in memory.search("heron").hits}, key=str)


def test_a_change_of_zone_heals_itself(tmp_path: Path) -> None:
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    with in_zone(tmp_path, "Europe/London", LATE) as memory:
        memory.remember("A heron stands in the river")
        memory.chats.log("Did you see the heron?", "No.")
        assert days_found(memory) == [date(2026, 11, 14)]
    with in_zone(tmp_path, "Asia/Tokyo", noon) as memory:
        assert days_found(memory) == [date(2026, 11, 15)]
        assert memory.search("heron", until=date(2026, 11, 14)).hits == ()
        assert memory.index.sync().indexed == 0
    with in_zone(tmp_path, "Europe/London", noon) as memory:
        assert days_found(memory) == [date(2026, 11, 14)]


def test_a_memory_that_is_open_obeys_a_new_zone(tmp_path: Path) -> None:
    settings = tmp_path / "profile" / "memolith.toml"
    with in_zone(tmp_path / "profile", "Europe/London", LATE) as memory:
        memory.remember("A heron stands in the river")
    with Memory(tmp_path / "profile") as memory:
        settings.write_text('[profile]\ntimezone = "Europe/London"\n', "utf-8")
        memory.reconfigure()
        assert days_found(memory) == [date(2026, 11, 14)]
        settings.write_text('[profile]\ntimezone = "Asia/Tokyo"\n', "utf-8")
        memory.reconfigure()
        assert days_found(memory) == [date(2026, 11, 15)]


def test_what_is_written_after_a_change_of_zone_is_found_with_the_rest(tmp_path: Path) -> None:
    with in_zone(tmp_path, "Europe/London", LATE) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    with in_zone(tmp_path, "Asia/Tokyo", LATE) as memory:
        memory.remember("Another heron flies over it")
        assert days_found(memory) == [date(2026, 11, 15)]
        assert len(memory.search("heron").hits) == 2
