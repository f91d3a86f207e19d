"""What jobs print: what would be done and how to do it, what was done and how to take it back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.files.record_format import encode_line
from memolith.types import Record

if TYPE_CHECKING:
    from tests.cli.conftest import Run


@pytest.fixture
def grown(root: str, memolith: Run) -> Path:
    """MEMORY.md with nine old records, of which four may stay."""
    page = Path(root, "MEMORY.md")
    page.parent.mkdir(parents=True, exist_ok=True)
    start = datetime(2025, 3, 3, 9, tzinfo=UTC)
    page.write_bytes(
        b"".join(
            encode_line(
                Record(
                    id=f"{number:08x}-0000-4000-8000-000000000000",
                    text=f"Ana paid invoice {number} of Acme",
                    category="turn-summary",
                    session="main",
                    created=start + timedelta(days=number),
                )
            )
            for number in range(9)
        )
    )
    memolith("config", "set", "compact.max_records", "4")
    return page


def test_a_dry_run_tells_what_of_and_how_to_do_it(memolith: Run, grown: Path) -> None:
    before = grown.read_bytes()
    lines = memolith("compact", "--dry-run").out.splitlines()
    assert lines[0] == "Would do  compact"
    assert lines[1].split("  ") == ["", "records before", "9"]
    assert "  do it      memolith compact" in lines
    assert any("records of the week of 2025-03-" in line for line in lines)
    assert grown.read_bytes() == before


def test_the_command_to_do_it_has_the_settings_of_the_dry_run(memolith: Run, grown: Path) -> None:
    lines = memolith("compact", "--dry-run", "--set", "compact.max_records=5").out.splitlines()
    assert "  do it      memolith compact --set compact.max_records=5" in lines


def test_a_run_of_the_schedule_that_found_nothing_is_listed(memolith: Run) -> None:
    memolith("remember", "tea")
    memolith("config", "set", "compact.enabled", "true")
    memolith("maintain", "--once")
    assert "compact, last run by the schedule on " in memolith("jobs", "list").err
    (run,) = memolith("jobs", "list", "--json").json["scheduled"]
    assert (run["job"], run["came_of"].startswith("skipped: 1 record")) == ("compact", True)


def test_what_was_done_can_be_taken_back_as_told(memolith: Run, grown: Path) -> None:
    before = grown.read_bytes()
    done = memolith("compact").out.splitlines()
    assert done[0].startswith("Done  compact  ")
    (undo,) = (line.removeprefix("  undo       memolith ") for line in done if "undo" in line)
    undone = memolith(*undo.split()).out.splitlines()
    assert undone[0].startswith("Undone  compact  ")
    assert "  put back   MEMORY.md" in undone
    assert grown.read_bytes() == before
