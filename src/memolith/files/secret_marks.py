"""Records with the strictest mark of all their copies."""

from __future__ import annotations

from collections.abc import Iterable

from memolith.files.folder import Folder
from memolith.files.ledger import Ledger
from memolith.types import Record


def with_strictest_marks(folder: Folder, records: Iterable[Record]) -> list[Record]:
    """The records, each secret if one of its files says so."""
    return list(map(Ledger.of(folder).strictest, records))
