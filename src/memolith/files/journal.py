"""Append records to the daily log and MEMORY.md, and read them back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from memolith.clock import Clock
from memolith.files import layout
from memolith.files.byte_marks import is_utf16, not_utf8
from memolith.files.damage import Damage
from memolith.files.document import Document
from memolith.files.duplicates import Duplicates, fingerprint
from memolith.files.folder import Folder
from memolith.files.record_format import encode_time, line_around_time
from memolith.files.transaction import Transaction
from memolith.types import Citation, Record


class Entry:
    """A record on its way into the files: its line but for the time, which is taken under the lock.

    Made before, because whatever is done under the lock is waited for by all other writers.
    """

    __slots__ = ("_after_time", "_before_time", "fingerprint", "record")

    def __init__(self, record: Record) -> None:
        """Of a record that has passed the gate."""
        self.record = record
        self._before_time, self._after_time = line_around_time(record)
        self.fingerprint = fingerprint(self._before_time)

    def line(self, now: datetime) -> bytes:
        """The whole line of a record created now."""
        return b"%s%s%s" % (self._before_time, encode_time(now).encode(), self._after_time)


class Journal:
    """MEMORY.md and the daily logs of one profile."""

    __slots__ = ("clock", "primary")

    def __init__(self, clock: Clock, primary: str = layout.ROOT_MEMORY) -> None:
        """`primary` is the MEMORY.md that is written; both places are read."""
        self.clock = clock
        self.primary = primary

    def append(self, transaction: Transaction, entry: Entry, *, reuse: bool) -> Record:
        """Write a record to both files; with `reuse`, an equal record already there is returned.

        The time is taken here, under the lock: a record always stands in the log of its own day,
        even if midnight passed while we waited.
        """
        now = self.clock.now()
        duplicates = Duplicates(transaction.handles, self.primary)
        known = duplicates.find(entry.record, entry.fingerprint, now) if reuse else None
        if known is not None and known.citation is not None:
            return self.confirmed(transaction, known, known.citation)
        day = layout.daily_log(self.clock.day_of(now))
        line = entry.line(now)
        number = transaction.append(day, line)
        transaction.append(self.primary, line, template=self.primary)
        transaction.commit()
        if reuse:
            duplicates.add(transaction.left_behind(self.primary)[0])
        transaction.release()
        return replace(entry.record, created=now, citation=Citation(day, number, number))

    def confirmed(self, transaction: Transaction, record: Record, place: Citation) -> Record:
        """A record that stands there already, acknowledged only once it is on the disk, in both files:
        a power cut may have left it in MEMORY.md alone, and then nobody has been told that it is saved.
        """
        if place.path != self.primary:  # a note, or archived
            transaction.confirm([place.path])
            return replace(record, reused=True)
        day = layout.daily_log(self.clock.day_of(record.created))
        transaction.confirm([day, self.primary])
        log = transaction.folder.read(day)
        if log is not None and record.id.encode() not in log:
            lines = (transaction.folder.read(self.primary) or b"").split(b"\n")
            transaction.append(day, lines[place.first_line - 1] + b"\n")
            transaction.commit()
        return replace(record, reused=True)

    def document(self, folder: Folder, path: str | None = None) -> Document:
        """A memory file, MEMORY.md by default; a missing one is empty."""

        path = path or self.primary
        data = folder.read(path) or b""
        if is_utf16(data):
            raise not_utf8(path, "its records cannot be read")
        return Document.parse(path, data)

    def records(self, folder: Folder, damages: list[Damage] | None = None) -> Iterator[Record]:
        """The records of both MEMORY.md files, in file order, each id once; `damages` gets the rest."""
        seen: set[str] = set()
        for path in (layout.ROOT_MEMORY, layout.NESTED_MEMORY):
            for _, record in self.document(folder, path).records(damages):
                if record.id not in seen:
                    seen.add(record.id)
                    yield record
