"""Append records to the daily log and MEMORY.md, each only once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from memolith.clock import Clock
from memolith.files import layout
from memolith.files.gate import NOT_YET
from memolith.files.record_format import RecordFormatError, encode_line, parse_line
from memolith.files.transaction import Transaction
from memolith.types import Citation, Record, policy
from memolith.visibility import may_stand_for

# The parts of a text that every JSON spells the same way.
_PIECE = re.compile(r'[^\s"\\/\x00-\x1f]+')


class Journal:
    """MEMORY.md and the daily logs of one profile."""

    def __init__(self, clock: Clock, primary: str = layout.ROOT_MEMORY) -> None:
        """`primary` is the MEMORY.md that is written; both places are read."""
        self.clock = clock
        self.primary = primary

    def append(self, transaction: Transaction, record: Record) -> Record:
        """Write a record to both files; an equal record already there is returned.

        The time is taken here, under the lock, unless the draft has one: a record is always in the
        log of its own day, even if midnight passed while we waited.
        """
        now = self.clock.now()
        known = self._find_duplicate(transaction, record, now)
        if known is not None and known.citation is not None:
            return self.confirmed(transaction, known, known.citation)
        planned = self._plan(transaction, record, now)
        transaction.commit()
        return planned

    def append_many(self, transaction: Transaction, records: Iterable[Record]) -> list[Record]:
        """Write records in one commit; one that equals another, here or in the file, only once."""
        now = self.clock.now()
        done: list[Record] = []
        new: dict[str, list[Record]] = {}
        confirmed: set[str] = set()
        for record in records:
            alike = new.setdefault(near_text(record.text), [])
            if not policy(record.category).repeats:
                same = next((one for one in alike if is_near(one, record, now)), None)
                known = same or self._find_duplicate(transaction, record, now)
                if known is not None and known.citation is not None:
                    if same is None:
                        confirmed |= {self.primary, self._complete(transaction, known)}
                    done.append(replace(known, reused=True))
                    continue
            done.append(self._plan(transaction, record, now))
            alike.append(done[-1])
        if confirmed:
            transaction.confirm(sorted(confirmed))
        transaction.commit()
        return done

    def _plan(self, transaction: Transaction, record: Record, now: datetime) -> Record:
        """Plan the line of a record in both files; returns the record with its time and place."""
        if record.created == NOT_YET:
            record = replace(record, created=now)
        day = layout.daily_log(self.clock.day_of(record.created))
        line = encode_line(record)
        number = transaction.append(day, line)
        transaction.append(self.primary, line, template=self.primary)
        return replace(record, citation=Citation(day, number, number))

    def confirmed(self, transaction: Transaction, record: Record, place: Citation) -> Record:
        """A record that is there already, acknowledged only once it is on the disk, in both files:
        a power cut may have left it in MEMORY.md alone, and then nobody knows that it is saved.
        """
        if place.path != self.primary:  # a note, or archived
            transaction.confirm([place.path])
            return replace(record, reused=True)
        day = self._complete(transaction, record)
        transaction.confirm([day, self.primary])
        transaction.commit()
        return replace(record, reused=True)

    def _complete(self, transaction: Transaction, record: Record) -> str:
        """Plan the line of a record that is missing in the log of its day; returns that log."""
        day = layout.daily_log(self.clock.day_of(record.created))
        log = transaction.folder.read(day)
        if log is not None and record.id.encode() not in log and record.citation is not None:
            lines = transaction.read(self.primary).split(b"\n")
            transaction.append(day, lines[record.citation.first_line - 1] + b"\n")
        return day

    def _find_duplicate(
        self, transaction: Transaction, record: Record, now: datetime
    ) -> Record | None:
        """An equal record in MEMORY.md that still counts; in some categories repetition is news."""
        if policy(record.category).repeats or record.supersedes:
            return None
        folded = transaction.folded(
            self.primary, bytes.lower if record.text.isascii() else _casefold
        )
        lines: list[bytes] = []
        for number in _lines_with_pieces_of(record.text, folded):
            data = transaction.read(self.primary)
            lines = lines or data.split(b"\n")
            try:
                found = parse_line(lines[number - 1], Citation(self.primary, number, number))
            except RecordFormatError:
                continue
            if found and is_near(found, record, now) and not _is_superseded(found, data):
                return found
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
    is_valid = found.expires is None or found.expires > now
    return same and is_valid and may_stand_for(found, record)


def is_near(found: Record, record: Record, now: datetime) -> bool:
    """The same, also where the texts differ in case, spacing or a full stop alone."""
    if near_text(found.text) != near_text(record.text):
        return False
    return is_same(found, replace(record, text=found.text), now)


def near_text(text: str) -> str:
    """What texts have in common that differ in case, spacing or a full stop alone.

    >>> near_text("Tea  at four. ")
    'tea at four'
    """
    return " ".join(text.casefold().split()).rstrip(".").rstrip()


def _casefold(data: bytes) -> bytes:
    return data.decode(errors="replace").casefold().encode()


def _lines_with_pieces_of(text: str, folded: bytearray) -> Iterator[int]:
    """The numbers of the lines that hold all that is between the spaces of a text.

    Searching the bytes is a hundred times cheaper than parsing each line.
    """
    pieces = [piece.encode() for piece in set(_PIECE.findall(near_text(text)))]
    pieces.sort(key=len, reverse=True)  # the longest is in the fewest lines
    rarest = pieces[0] if pieces else b""
    number, counted = 1, 0
    at = folded.find(rarest)
    while at >= 0:
        start, end = folded.rfind(b"\n", 0, at) + 1, folded.find(b"\n", at)
        end = end if end >= 0 else len(folded)
        line = folded[start:end]
        if all(piece in line for piece in pieces):
            number, counted = number + folded.count(b"\n", counted, start), start
            yield number
        at = folded.find(rarest, end + 1)


def _is_superseded(record: Record, data: bytes) -> bool:
    return b'"supersedes":"%s"' % record.id.encode() in data
