"""How much a memory may hold, as `store.max_records` and `store.max_bytes` say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from memolith.config.sections import StoreConfig
from memolith.errors import RefusedError
from memolith.files.folder import Folder
from memolith.files.layout import CONVERSATIONS, DAILY_FOLDER, is_file_of_ours
from memolith.files.locks import STATE_FOLDER
from memolith.files.steps import Append, Step

_RECORD = b"- {"  # how the line of one begins


class Quota(NamedTuple):
    """Refuses a change by which a memory would hold more than it may; one that makes it smaller always passes."""

    config: StoreConfig
    primary: str  # the MEMORY.md that is written

    def check(self, folder: Folder, steps: Sequence[Step]) -> None:
        """Raise RefusedError if the memory has no room for these steps."""
        records, size = self.config.max_records, self.config.max_bytes
        growth = sum(_growth(folder, step) for step in steps)
        new = sum(self._new_records(folder, step) for step in steps)
        files = {path: folder.stamp(path) for path in (*folder.walk(), CONVERSATIONS)}
        used = sum(stamp[1] for stamp in files.values() if stamp)
        if size and growth > 0 and used + growth > size:
            raise _full(f"{used:,} of {size:,} bytes are in use, and this needs {growth:,}")
        if records and new > 0:
            notes = sum(map(_is_note, files))
            there = notes + _lines(folder.read(self.primary))
            if there + new > records:
                raise _full(f"{there:,} of {records:,} records are there, and this adds {new:,}")

    def _new_records(self, folder: Folder, step: Step) -> int:
        if isinstance(step, Append):
            return _lines(step.data) if step.path == self.primary else 0
        if step.path == self.primary:
            after = folder.read(step.staged) if step.staged else b""
            return _lines(after) - _lines(folder.read(step.path))
        is_new = step.staged is not None and step.expected is None
        return int(is_new and _is_note(step.path))


def _growth(folder: Folder, step: Step) -> int:
    if step.path.startswith(f"{STATE_FOLDER}/"):
        return 0
    if isinstance(step, Append):
        return len(step.data)
    staged = folder.stamp(step.staged) if step.staged else None
    return (staged[1] if staged else 0) - (step.expected[1] if step.expected else 0)


def _is_note(path: str) -> bool:
    return path.startswith(f"{DAILY_FOLDER}/") and not is_file_of_ours(path)


def _lines(data: bytes | None) -> int:
    return data.count(b"\n" + _RECORD) + data.startswith(_RECORD) if data else 0


def _full(why: str) -> RefusedError:
    hint = (
        "Forget, trim or compact what is not needed, or raise store.max_records or store.max_bytes."
    )
    return RefusedError(f"This memory is full: {why}. Nothing was written.", hint=hint)
