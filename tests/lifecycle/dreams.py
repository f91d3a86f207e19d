"""What the tests of dreaming share: days that pass, questions that are asked, files as they stand."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory
from memolith.clock import Clock

if TYPE_CHECKING:
    from tests.conftest import StoppedTime

COOKIE = "Cookie the dog weighs 12 kg and loves carrots"
LOG = "memory/2026-11-10.md"
DIARY = f"""\
# 10 November

Met Eva about the pipeline; she wants weekly reports.

- {COOKIE}
- It rained all day in the valley
"""


class Life:
    """A memory, and a time that passes while it is asked things."""

    def __init__(self, root: str, time: StoppedTime, **settings: object) -> None:
        named = {name.replace("__", "."): value for name, value in settings.items()}
        self.time = time
        self.memory = Memory(root, clock=Clock("UTC", now=time), settings=named)  # type: ignore[arg-type]
        self.memory.init()
        self.write(LOG, DIARY)

    def write(self, path: str, text: str) -> None:
        """Write a file by hand."""
        target = Path(self.memory.root, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def read(self, path: str = "MEMORY.md") -> str:
        """A file as it stands there now."""
        target = Path(self.memory.root, path)
        return target.read_text(encoding="utf-8") if target.exists() else ""

    def ask(self, *questions: str, days: int = 2) -> None:
        """Ask these questions on so many days."""
        for _ in range(days):
            for question in questions:
                self.memory.search(question, limit=3)
            self.time.advance(days=1)

    def promoted(self) -> list[str]:
        """The facts that dreaming wrote, as lines."""
        return [line for line in self.read().splitlines() if "*(score:" in line]


def tree(root: str) -> dict[str, str]:
    """Every file of a folder with its digest, the index aside."""
    return {
        path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in sorted(Path(root).rglob("*"))
        if path.is_file() and "/index/" not in path.as_posix()
    }
