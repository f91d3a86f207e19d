"""Copies of records: not shown where the record is not."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memolith.files.folder import Folder
from memolith.files.ledger import Ledger
from memolith.types import Record


def still_held(
    folder: Folder, experiences: Iterable[Record], now: datetime, _archive: str
) -> list[Record]:
    """The experiences whose record is not secret, expired or replaced."""
    ledger = Ledger.of(folder)
    return [one for one in experiences if ledger.holds(one, now)]


def with_secrets_hidden(folder: Folder, records: Iterable[Record]) -> list[Record]:
    """The records; in summaries, lines about secret records are hidden."""
    return list(map(Ledger.of(folder).without_secrets, records))
