"""A store that breaks the rules on purpose: the rigs must catch it, or they prove nothing.

No lock, no sync, no intent, a record written in two pieces, the archive after the rewrite.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CarelessRecord:
    """What `remember` gives back."""

    id: str


class CarelessMemory:
    """The two calls the rigs need."""

    def __init__(self, root: str, *, settings: dict[str, object]) -> None:
        """Make the folders."""
        self._root = Path(root)
        self._keep = int(str(settings.get("trim.max_records", 50)))
        (self._root / "memory").mkdir(parents=True, exist_ok=True)
        (self._root / ".memolith/archive").mkdir(parents=True, exist_ok=True)

    def __enter__(self) -> CarelessMemory:
        """Nothing to open."""
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def remember(self, text: str) -> CarelessRecord:
        """Append the record to both files, each in two pieces."""
        record = {"id": uuid.uuid4().hex, "sessionId": "main", "category": "note", "text": text}
        line = f"- {json.dumps(record)}\n"
        for name in ("memory/2026-01-01.md", "MEMORY.md"):
            with (self._root / name).open("a") as file:
                file.write(line[:20])
                file.flush()
                file.write(line[20:])
        return CarelessRecord(str(record["id"]))

    def trim(self) -> None:
        """Keep the newest records; archive the others after the rewrite."""
        path = self._root / "MEMORY.md"
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text("".join(lines[-self._keep :]))
        new.replace(path)
        with (self._root / ".memolith/archive/archive.md").open("a") as file:
            file.writelines(lines[: -self._keep])
