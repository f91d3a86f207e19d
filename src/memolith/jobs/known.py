"""What a memory knows already of texts that a chat hands over again, and what it was made to forget."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from memolith.files.folder import Folder
from memolith.files.ledger import Ledger, records_saying
from memolith.text.similarity import copy_key
from memolith.text.summary_text import read_lines
from memolith.types import Record
from memolith.visibility import visible


class Known:
    """Texts of records, with near copies of them, and until when each held."""

    def __init__(self) -> None:
        self._said: dict[object, list[tuple[Record, datetime | None]]] = {}

    @classmethod
    def of(
        cls,
        folder: Folder,
        records: Iterable[Record],
        texts: Iterable[str],
        now: datetime,
        *,
        include_secret: bool,
    ) -> Known:
        """The records of MEMORY.md and notes, past ones too, and those with one of these texts elsewhere."""
        ledger = Ledger.of(folder)
        found = {record.id: record for record in records}
        for record in map(ledger.strictest, records_saying(folder, texts).values()):
            if visible(record, include_secret=include_secret):
                found.setdefault(record.id, record)
        known = cls()
        for record in found.values():
            until = ledger.replaced_at(record.id)
            if until is None and record.expires is not None and record.expires <= now:
                until = record.expires
            known.add(record, until=until)
            for line in read_lines(record.text) if record.category == "compaction" else ():
                known.add(record, line.text)
        return known

    def add(self, record: Record, text: str = "", until: datetime | None = None) -> None:
        """One more."""
        self._said.setdefault(copy_key(text or record.text), []).append((record, until))

    def has(self, text: str, said: datetime | None, session: str) -> bool:
        """Whether a record says this; one that holds no longer only if it held when this was said.

        Without a moment the session decides: a chat that is handed over again says nothing new.
        """
        return any(
            until is None or (said < until if said is not None else session == record.session)
            for record, until in self._said.get(copy_key(text), ())
        )

    def current(self, text: str, session: str) -> Record | None:
        """The record of this session that says exactly this and still holds."""
        for record, until in self._said.get(copy_key(text), ()):
            if until is None and record.session == session and record.text == text:
                return record
        return None
