"""A later compaction: what is new is told at length, and older summaries give way."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from memolith import Memory
from memolith.clock import Clock
from tests.conftest import StoppedTime

LIMIT = 20_000


def test_the_newer_a_summary_the_longer_it_is(root: str, stopped_time: StoppedTime) -> None:
    settings = {"compact.max_chars": LIMIT, "compact.max_records": 0}
    with Memory(root, clock=Clock("UTC", now=stopped_time), settings=settings) as memory:
        for month in range(4):
            for number in range(56):
                memory.remember(
                    f"In meeting {month}.{number} we agreed on budget {month * 100 + number} for the"
                    " Kruger account and told Ana, Ben and Cem about it on the phone."
                )
                stopped_time.advance(hours=12)
            memory.jobs.compact()
        records = sorted(memory.records(), key=lambda one: one.created)
        sizes = [len(one.text) for one in records if one.category == "compaction"]
        assert len(sizes) > 5
        assert all(older < newer * 1.1 for older, newer in pairwise(sizes))
        assert len(Path(root, "MEMORY.md").read_text("utf-8")) <= LIMIT
