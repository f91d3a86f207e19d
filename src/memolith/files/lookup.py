"""Find a record by its id, or the one that took its place."""

from __future__ import annotations

from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, find_record
from memolith.types import Record

__all__ = ["find_newest", "find_record", "superseded_in"]


def superseded_in(folder: Folder, path: str) -> frozenset[str]:
    """The ids that records of a file, such as the archive, have taken the place of."""
    return Ledger.of(folder, [path]).replaced


def find_newest(folder: Folder, record_id: str, _archive: str) -> Record:
    """The record with this id, or the last of those that took its place."""
    return Ledger.of(folder).newest(find_record(folder, record_id))
