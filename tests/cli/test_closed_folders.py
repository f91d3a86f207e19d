"""A note or folder that may not be read: commands go on, and name it with the command that mends it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.crash import privileges

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def closed(root: str) -> Iterator[Path]:
    """A memory with two records, a note in a folder that may be read, and one in a folder that may not."""
    if reason := privileges.why_not():
        pytest.skip(reason)
    with Memory(root) as memory:
        memory.remember("The heron nests at the lake")
        memory.remember("Port 8080 is the API")
        memory.save_note("Ana paints boats", category="fact")
        memory.save_note("Nobody may see the owl", category="hidden")
    folder = Path(root, "memory/hidden")
    folder.chmod(0)
    Path(root, "memory/shut.md").write_text("Prose\n", "utf-8")
    Path(root, "memory/shut.md").chmod(0)
    yield Path(root)
    folder.chmod(0o700)


def run(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [*privileges.without(), sys.executable, "-m", "memolith", "--root", str(root), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [("list",), ("status",), ("scan",), ("experiences", "extract"), ("search", "heron")],
)
def test_who_reads_goes_on_and_names_the_folder(closed: Path, words: tuple[str, ...]) -> None:
    done = run(closed, *words)
    assert done.returncode == 0, done.stderr
    assert "memory/hidden" in done.stderr
    assert "memory/hidden" in run(closed, *words, "--json").stdout


def test_records_elsewhere_are_superseded_and_forgotten(closed: Path) -> None:
    listed = json.loads(run(closed, "list", "--json").stdout)["records"]
    assert {one["text"] for one in listed} == {
        "The heron nests at the lake", "Port 8080 is the API", "Ana paints boats",
    }  # fmt: skip
    ids = {one["text"][:4]: one["id"] for one in listed}
    assert run(closed, "supersede", ids["Port"], "Port 9090 is the API").returncode == 0
    gone = run(closed, "forget", ids["The "], "--yes")
    assert gone.returncode == 0, gone.stderr
    assert f"chmod u+rwX {closed}/memory/hidden" in gone.stderr
    assert "heron" not in (closed / "MEMORY.md").read_text("utf-8")


def test_what_is_behind_it_is_refused_with_the_command_that_mends_it(closed: Path) -> None:
    done = run(closed, "forget", "memory/hidden/2026", "--yes")
    assert done.returncode != 0
    assert f"chmod u+rwX {closed}/memory/hidden" in done.stderr
    checked = run(closed, "doctor")
    assert f"chmod u+rwX {closed}/memory/hidden" in checked.stdout
    assert f"chmod u+rwX {closed}/memory/shut.md" in checked.stdout


def test_a_record_whose_daily_log_may_not_be_read_is_not_half_forgotten(closed: Path) -> None:
    (log,) = (closed / "memory").glob("20*.md")
    before = (closed / "MEMORY.md").read_bytes()
    log.chmod(0)
    listed = json.loads(run(closed, "list", "--json").stdout)["records"]
    done = run(closed, "forget", listed[-1]["id"], "--yes")
    assert done.returncode != 0
    assert (closed / "MEMORY.md").read_bytes() == before
    assert f"chmod u+rwX {closed}/memory/{log.name}" in done.stderr
