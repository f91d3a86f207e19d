"""A dry run does not print what is secret by now, as `jobs diff` does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock
from memolith.text.wording import HIDDEN
from tests.marking import mark_secret

if TYPE_CHECKING:
    from tests.cli.conftest import Run

LONG_AGO = datetime.now(UTC) - timedelta(days=60)  # the command line has the real clock
FACTS = (
    "The vault phrase is osprey lantern 4711",
    "Ben pays 120 euros for the boat",
    "Dora waits for letter 44",
    "Emil bought 3 chairs in Oslo",
    "The invoice 77 costs 950 euros",
)


def test_a_dry_run_of_compact(memolith: Run, root: str) -> None:
    small = ("--set", "compact.max_records=3")
    with Memory(root, clock=Clock("UTC", now=lambda: LONG_AGO)) as memory:
        for fact in FACTS:
            memory.remember(fact)
    assert memolith("compact", *small).code == 0
    assert "osprey" in (Path(root) / "LONGMEMORY.md").read_text("utf-8")
    mark_secret(Path(root) / f"memory/{LONG_AGO.date()}.md", "osprey")
    with Memory(root, clock=Clock("UTC", now=lambda: LONG_AGO + timedelta(days=9))) as memory:
        for number in range(9):
            memory.remember(f"Greta sold tractor {number} for 800 euros to Hugo")
    planned = memolith("compact", "--dry-run", *small).out
    assert "Greta sold tractor" in planned
    assert "Ben pays 120 euros" in planned
    assert HIDDEN in planned
    assert "osprey" not in planned


def test_a_dry_run_of_dream(memolith: Run, root: str) -> None:
    with Memory(root, clock=Clock("UTC", now=lambda: LONG_AGO)) as memory:
        record = memory.remember(FACTS[0], sensitivity="secret")
    source = f"memory/{LONG_AGO.date()}.md#L1"
    block = (
        "\n<!-- memolith:dream 2026-11-10 -->\n## Promoted by dreaming (2026-11-10)\n\n"
        f"- {FACTS[0]} *(score: 0.83, source: {source}, said by user, record {record.id})*\n"
        "<!-- /memolith:dream -->\n"
    )
    with (Path(root) / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write(block)
    planned = memolith("dream", "--dry-run").out
    assert f"- {HIDDEN}" in planned
    assert "osprey" not in planned
