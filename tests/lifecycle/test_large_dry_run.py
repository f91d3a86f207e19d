"""A dry run is quick: it tells the plan, drafts what is soon drafted, and asks no model."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from memolith import Memory
from memolith.clock import Clock
from memolith.files.record_format import encode_line
from memolith.types import Record
from tests.lifecycle.conftest import ON


def test_a_dry_run_over_very_many_records_tells_the_plan_without_drafting_it_all(
    root: str, clock: Clock
) -> None:
    start = clock.now() - timedelta(days=400)
    records = (
        Record(
            id=f"{number:08x}-0000-4000-8000-000000000000",
            text=f"Ana paid invoice {number} in Berlin",
            category="turn-summary",
            session="main",
            created=start + timedelta(hours=number / 10),
        )
        for number in range(2_500)
    )
    Path(root).mkdir(parents=True, exist_ok=True)
    Path(root, "MEMORY.md").write_bytes(b"".join(map(encode_line, records)))
    with Memory(root, clock=clock, settings={"compact.max_records": 3}) as memory:
        planned = memory.jobs.compact(dry_run=True)
        done = memory.jobs.compact()
    assert planned.changes == ()
    assert any("jobs.review=ask" in warning for warning in planned.warnings)
    assert done.status == "done"
    assert planned.counts.items() <= done.counts.items()
    assert len(planned.lines) == len(done.lines)


def test_a_dry_run_says_that_the_model_was_not_asked(grown: Memory, clock: Clock) -> None:
    settings = {**ON, "llm.url": "http://127.0.0.1:9/v1", "llm.model": "small"}
    with Memory(grown.root, clock=clock, settings=settings) as asking:
        warnings = asking.jobs.compact(dry_run=True).warnings
    assert any("model was not asked" in warning for warning in warnings)
    assert grown.jobs.compact(dry_run=True).warnings == ()
