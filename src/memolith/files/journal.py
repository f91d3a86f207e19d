"""Append records to the daily log and MEMORY.md, each only once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from memolith.clock import Clock
from memolith.files import layout
from memolith.files.gate import NOT_YET
from memolith.files.record_format import RecordFormatError, encode_line, parse_line
from memolith.files.transaction import Transaction
from memolith.types import REPEATS, Citation, Record
from memolith.visibility import may_reuse

# The parts of a text that every JSON spells the same way.
_WORD = re.compile(r'[^\s"\\/\x00-\x1f]+')
_content = attrgetter("text", "category", "session", "sensitivity", "expires")


class Journal:
    """MEMORY.md and the daily logs of one profile."""

    def __init__(self, clock: Clock, primary: str = layout.ROOT_MEMORY) -> None:
        """`primary` is the MEMORY.md that is written; both places are read."""
        self.clock = clock
        self.primary = primary

    def append(
        self,
        transaction: Transaction,
        records: Iterable[Record],
        texts: Collection[str] | None = None,
        before_commit: Callable[[Sequence[Record]], None] | None = None,
    ) -> list[Record]:
        """Write records to both files in one commit; one that is there already is returned instead.

        `texts` are the near texts of all records in MEMORY.md: a caller that knows them saves the search.
        `before_commit` may plan more for the same commit. The time is taken here, under the lock, unless
        the draft has one: a record is always in the log of its own day, even if midnight passed while we waited.
        """
        now = self.clock.now()
        done: list[Record] = []
        new: dict[str, list[Record]] = {}  # by text
        confirmed: set[str] = set()
        for record in records:
            near = near_text(record.text)
            alike = new.setdefault(near, [])
            known = None
            if alike or texts is None or near in texts:
                known = self._find_duplicate(transaction, record, alike, now)
            if known is None:
                alike.append(self._plan(transaction, record, now))
                done.append(alike[-1])
                continue
            if known not in alike:
                confirmed |= {self.primary, self._complete(transaction, known)}
            done.append(replace(known, reused=True))
        if confirmed:
            transaction.confirm(sorted(confirmed))
        if before_commit is not None:
            before_commit(done)
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
        paths = {place.path}
        if place.path == self.primary:  # not a note, nor archived
            paths.add(self._complete(transaction, record))
        transaction.confirm(sorted(paths))
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
        self, transaction: Transaction, record: Record, new: list[Record], now: datetime
    ) -> Record | None:
        """An equal record in MEMORY.md that still counts, or among new ones.

        In some categories repetition is news. Searching the bytes for the words of the text is a
        hundred times cheaper than parsing each line.
        """
        if record.category in REPEATS or record.supersedes:
            return None
        for found in new:
            if is_near(found, record, now):
                return found
        words = [word.encode() for word in _WORD.findall(near_text(record.text))]
        fold = bytes.lower if record.text.isascii() else _casefold
        folded = transaction.folded(self.primary, fold)
        lines: list[bytes] = []
        for number, line in lines_with(folded, [max(words, key=len, default=b"")]):
            if not all(word in line for word in words):
                continue
            data = transaction.read(self.primary)
            lines = lines or data.split(b"\n")
            with suppress(RecordFormatError):
                known = parse_line(lines[number - 1], Citation(self.primary, number, number))
                if known and is_near(known, record, now) and not _is_superseded(known, data):
                    return known
        return None


def is_same(found: Record, record: Record, now: datetime) -> bool:
    """Whether a record that was found may be the answer instead of one that says the same."""
    is_valid = found.expires is None or found.expires > now
    return _content(found) == _content(record) and is_valid and may_reuse(found, record)


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


def lines_with(data: bytes | bytearray, words: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that hold one of these words, numbered; found by searching, which is fast."""
    starts: set[int] = set()
    for word in words:
        at = data.find(word)
        while at >= 0:
            starts.add(data.rfind(b"\n", 0, at) + 1)
            end = data.find(b"\n", at)
            at = data.find(word, end + 1) if end >= 0 else -1
    number, counted = 1, 0
    for start in sorted(starts):
        number += data.count(b"\n", counted, start)
        counted = start
        end = data.find(b"\n", start) + 1
        yield number, bytes(data[start : end or len(data)])


def _is_superseded(record: Record, data: bytes) -> bool:
    return b'"supersedes":"%s"' % record.id.encode() in data
