"""What importer tests share: a source folder to fill, and a way to import it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memolith import Memory
from memolith.importers.run import run_import
from memolith.importers.writing import ImportReport


class Source:
    """A folder as another program leaves it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def write(self, path: str, content: object) -> Path:
        """Write a text as it is, anything else as JSON; a list at *.jsonl line by line."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and path.endswith(".jsonl"):
            content = "".join(json.dumps(line) + "\n" for line in content)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        return file


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "source")


class Importing:
    """Imports into one memory; every report is checked: what was read was added, known or skipped."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def __call__(self, name: str, path: object, **more: object) -> ImportReport:
        report = run_import(self.memory._store, name, str(path), **more)  # type: ignore[arg-type]
        for kind, counts in report.counts.items():
            assert counts.read == counts.added + counts.known + counts.skipped, (kind, counts)
            assert min(counts.added, counts.known, counts.skipped) >= 0, (kind, counts)
        assert sum(report.skipped.values()) == sum(one.skipped for one in report.counts.values())
        return report

    def twice(self, name: str, path: object) -> ImportReport:
        """Import, and once more: the second time nothing is added. Returns the first report."""
        first = self(name, path)
        before = files_of(self.memory.root)
        again = self(name, path)
        assert sum(counts.added for counts in again.counts.values()) == 0, again
        assert files_of(self.memory.root) == before
        return first


def files_of(root: str) -> dict[str, bytes]:
    """Every file of a memory by its path, without locks and index."""
    files = (file for file in Path(root).rglob("*") if file.is_file())
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in files
        if file.suffix != ".lock" and "index" not in file.parts
    }


@pytest.fixture
def importing(memory: Memory) -> Importing:
    return Importing(memory)
