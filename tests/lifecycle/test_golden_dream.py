"""A golden folder: what a dream makes of a small life, byte for byte.

Make it anew after a change that is meant: `python -m tests.lifecycle.test_golden_dream`.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memolith import Memory
from memolith.clock import Clock

GOLDEN = Path(__file__).parent / "golden" / "dream"
_START = datetime(2026, 4, 10, 9, tzinfo=UTC)
_QUESTIONS = (
    ("what does Cookie weigh?", "carrots for the dog", "who owns the release key?"),
    ("how much does Cookie weigh", "when does Eva want reports?"),
    ("Cookie the dog", "Eva and the weekly reports", "did it rain in the valley?"),
)
_KEPT = ("MEMORY.md", "DREAMS.md")
# How good a hit is may change with the search; which facts are promoted, and how, may not.
_SCORE = re.compile(rb"score: \d\.\d+")


def dreamt(root: Path) -> dict[str, bytes]:
    """Three days of questions and a dream, from the golden folder's beginning."""
    shutil.copytree(GOLDEN / "before", root, dirs_exist_ok=True)
    moment = _START
    with Memory(root, clock=Clock("UTC", now=lambda: moment)) as memory:
        for questions in _QUESTIONS:
            for question in questions:
                memory.search(question, limit=2)
            moment += timedelta(days=1)
        memory.jobs.dream()
    return {path: _SCORE.sub(b"score: 0.00", (root / path).read_bytes()) for path in _KEPT}


def test_a_dream_makes_of_the_golden_folder_what_it_always_made(tmp_path: Path) -> None:
    found = dreamt(tmp_path / "root")
    assert found == {path: (GOLDEN / "after" / path).read_bytes() for path in _KEPT}
    for path in (GOLDEN / "before").rglob("*.md"):
        if path.name != "MEMORY.md":
            name = path.relative_to(GOLDEN / "before")
            assert (tmp_path / "root" / name).read_bytes() == path.read_bytes()


def test_every_byte_that_stood_in_memory_before_still_stands_there() -> None:
    before = (GOLDEN / "before" / "MEMORY.md").read_bytes()
    assert (GOLDEN / "after" / "MEMORY.md").read_bytes().startswith(before)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for name, data in dreamt(Path(folder) / "root").items():
            target = GOLDEN / "after" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    sys.exit(0)
