"""Folders before and after a job, byte for byte. To write them anew: make golden"""

from __future__ import annotations

import shutil
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.clock import Clock
from memolith.files.record_format import encode_line
from memolith.types import Provenance, Record
from tests.lifecycle.life import one_day, tree

GOLDEN = Path(__file__).parent.parent / "golden"
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
SETTINGS = {
    "profile.timezone": "UTC",
    "compact.max_records": 25,
    "compact.max_chars": 16_000,
    "trim.max_records": 12,
}
# What a reader compares; reports, backups and locks hold times and bytes of their own.
SHOWN = ("MEMORY.md", "LONGMEMORY.md", ".memolith/archive")


def run(job: str, root: Path) -> None:
    memory = Memory(root, clock=Clock("UTC", now=lambda: NOW), settings=SETTINGS)
    getattr(memory.jobs, job)()


def result(job: str, folder: Path) -> Path:
    """The folder after the job, with only what is shown."""
    root = folder / "root"
    shutil.copytree(GOLDEN / "before", root)
    run(job, root)
    for path in sorted(root.rglob("*"), reverse=True):
        name = path.relative_to(root).as_posix()
        if path.is_file() and not name.startswith(SHOWN):
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()
    return root


@pytest.mark.parametrize("job", ["compact", "trim"])
def test_the_job_makes_of_the_folder_what_stands_here(job: str, tmp_path: Path) -> None:
    after = result(job, tmp_path)
    assert tree(after) == tree(GOLDEN / f"after-{job}"), "if it is meant so: make golden"


def test_a_dry_run_of_the_command_changes_no_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"
    shutil.copytree(GOLDEN / "before", root)
    before = tree(root)
    code = main(["compact", "--dry-run", "--root", str(root), "--set", "compact.max_records=25"])
    assert (code, tree(root)) == (0, before)
    shown = capsys.readouterr().out
    assert "\nMEMORY.md:\n" in shown
    assert "compaction: Summary of " in shown
    assert shown.index("summaries") < shown.index("\nMEMORY.md:\n")


def write_before() -> None:
    """A profile of forty days, with prose, protected records and a secret in between."""
    import random

    chance = random.Random(5)
    lines = [b"# MEMORY.md\n\nMy own words, with a trap: - {not a record}\n\n"]
    moment = NOW - timedelta(days=40)
    number = 0
    for day in range(40):
        said = [*one_day(chance, day, 1 + day % 3)]
        said += [("Ana is allergic to nuts", "fact")] if day == 3 else []
        for text, category in said:
            number += 1
            secret = number == 7
            lines.append(
                encode_line(
                    Record(
                        id=f"{number:08d}-0000-4000-8000-000000000000",
                        text=text,
                        category=category,
                        session="main",
                        created=moment + timedelta(days=day, minutes=number),
                        provenance=Provenance(
                            channel="cli", sensitivity="secret" if secret else "private-user"
                        ),
                    )
                )
            )
        if day == 20:
            lines.append(b"\n## Half-time, by hand\r\n")
    (GOLDEN / "before").mkdir(parents=True, exist_ok=True)
    (GOLDEN / "before" / "MEMORY.md").write_bytes(b"".join(lines))


if __name__ == "__main__":
    if "before" in sys.argv:
        write_before()
    for name in ("compact", "trim"):
        with tempfile.TemporaryDirectory() as scratch:
            made = result(name, Path(scratch))
            shutil.rmtree(GOLDEN / f"after-{name}", ignore_errors=True)
            shutil.copytree(made, GOLDEN / f"after-{name}")
