"""Whether an equal record already stands in MEMORY.md, at a cost that does not grow with the file.

`.memolith/fingerprints` is a hash table on disk: 8 bytes for each record, found by position. It is
derived and only a hint. A fingerprint that matches is looked up in MEMORY.md itself, so a wrong one
costs time, never a record; a missing one lets a duplicate in and loses nothing.
"""

from __future__ import annotations

from binascii import crc32
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from memolith.files.fingerprints import FingerprintTable
from memolith.files.handles import Handles
from memolith.files.record_format import PREFIX, RecordFormatError, parse_line
from memolith.types import Citation, Record, Stamp, policy
from memolith.visibility import may_stand_for


def fingerprint(line: bytes) -> int:
    """What two equal records have in common: session, category and text, and what near copies have.

    The line may end before the time when the record was created.
    """
    start, end = line.find(b'"sessionId":'), line.find(b'"provenance":{')
    head, _, text = line[start:end].decode(errors="replace").partition('"text":"')
    for escaped in ("\\r", "\\n", "\\t"):
        text = text.replace(escaped, " ")
    content = (head + near_text(text.rstrip('", '))).encode(errors="replace")
    return (crc32(content) << 32 | len(content) & 0xFFFFFFFF) or 1


def near_text(text: str) -> str:
    """What texts have in common that differ in case, spacing or a full stop alone.

    >>> near_text("Tea  at four. ")
    'tea at four'
    """
    return " ".join(text.casefold().split()).rstrip(".").rstrip()


class Duplicates:
    """The duplicates in one MEMORY.md; use only under the writer lock."""

    __slots__ = ("_folder", "_handles", "_primary")

    def __init__(self, handles: Handles, primary: str) -> None:
        """Look at `primary`, with what the writer has open."""
        self._handles = handles
        self._folder = handles.folder
        self._primary = primary

    def find(self, record: Record, wanted: int, now: datetime) -> Record | None:
        """An equal record that still counts, or None; `wanted` is its fingerprint.

        Where repetition is news, nothing is equal.
        """
        stamp = self._handles.stamp(self._primary)
        if stamp is None or not self._may_hold(wanted, stamp):
            return None
        if policy(record.category).repeats or record.supersedes:
            return None
        data = self._folder.read(self._primary) or b""
        for number, candidate in enumerate(data.split(b"\n"), 1):
            if candidate.startswith(PREFIX) and fingerprint(candidate) == wanted:
                found = self._parse(candidate, number)
                if found and is_near(found, record, now) and not _is_superseded(found, data):
                    return found
        return None

    def add(self, stamp: Stamp) -> None:
        """Note that the record we looked for was appended; `stamp` is that of the file with it."""
        table = self._handles.table
        if table is not None:
            try:
                table.add_last(stamp)
            except OSError:
                self._handles.close_table()  # only a hint, and the record is safe

    def _may_hold(self, wanted: int, stamp: Stamp) -> bool:
        # The one we hold, or what has its name now.
        for _ in range(2 if self._handles.table else 1):
            try:
                table = self._handles.table = self._handles.table or FingerprintTable(self._folder)
                if table.is_of(stamp) and not table.is_crowded:
                    return wanted in table
            except OSError:
                pass  # missing or unreadable: made anew below
            self._handles.close_table()
        data = self._folder.read(self._primary) or b""
        prints = {fingerprint(line) for line in data.split(b"\n") if line.startswith(PREFIX)}
        with suppress(OSError):  # the disk will refuse the record too, and say so better
            FingerprintTable.write(self._folder, prints, stamp)
            table = self._handles.table = FingerprintTable(self._folder)
            return wanted in table
        self._handles.close_table()
        return wanted in prints

    def _parse(self, line: bytes, number: int) -> Record | None:
        try:
            return parse_line(line, Citation(self._primary, number, number))
        except RecordFormatError:
            return None


def is_same(found: Record, record: Record, now: datetime) -> bool:
    """Whether a record that was found may be the answer instead of one that says the same."""
    same = (found.text, found.category, found.session, found.sensitivity, found.expires) == (
        record.text,
        record.category,
        record.session,
        record.sensitivity,
        record.expires,
    )
    holds = found.expires is None or found.expires > now
    return same and holds and may_stand_for(found, record)


def is_near(found: Record, record: Record, now: datetime) -> bool:
    """The same, also where the texts differ in case, spacing or a full stop alone."""
    if near_text(found.text) != near_text(record.text):
        return False
    return is_same(found, replace(record, text=found.text), now)


def _is_superseded(found: Record, data: bytes) -> bool:
    return b'"supersedes":"%s"' % found.id.encode() in data
