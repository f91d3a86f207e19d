"""Which records are marked secret in any of their files: the strictest mark counts wherever they are shown.

A record stands in MEMORY.md and in the log of its day, later in an archive. Who marks it by hand may do
so in one of them alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.archives import every_archive
from memolith.files.folder import Folder, close_quietly
from memolith.files.front_matter import is_broken_secret  # only notes need it
from memolith.files.record_format import RecordFormatError, parse_line
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.types import Record

_SECRET = b'"secret"'
_DAY = timedelta(days=1)
# Of so few records each is looked for by its id, of which a file is searched faster than for marks.
_FEW = 4
_PIECE = 1 << 20  # small enough to stay in the processor's cache while it is searched


def marked_secret(folder: Folder, records: Iterable[Record]) -> set[str]:
    """The ids of those records that one of their files marks secret."""
    shown = list(records)
    if not shown:
        return set()
    memory = (layout.ROOT_MEMORY, layout.NESTED_MEMORY)
    paths = dict.fromkeys((*memory, *daily_logs_of(shown), *every_archive(folder)))
    ids = {record.id for record in shown}
    if len(ids) <= _FEW and all(map(_is_spelled_one_way, ids)):
        return _secret_of(folder, paths, ids)
    return secret_in(folder, paths) & ids


def with_strictest_marks(folder: Folder, records: Iterable[Record]) -> list[Record]:
    """The records, each secret if one of its files says so."""
    known = list(records)
    secret = marked_secret(folder, (record for record in known if record.sensitivity != "secret"))
    return [_as_secret(record) if record.id in secret else record for record in known]


def daily_logs_of(records: Iterable[Record]) -> set[str]:
    """The daily logs in which records may stand: their day in whatever zone it was written."""
    return daily_logs(record.created.date() for record in records)


def daily_logs(of_days: Iterable[date]) -> set[str]:
    """The logs of these days, and of those beside them: the day may be that of another zone."""
    days = set(of_days)
    with suppress(OverflowError):  # the first or last day of the calendar
        days |= {day + around for day in days for around in (-_DAY, _DAY)}
    return {layout.daily_log(day) for day in days}


def _is_spelled_one_way(record_id: str) -> bool:
    """Whether JSON has no reason to escape anything in it."""
    return record_id.isascii() and record_id.replace("-", "").isalnum()


def _secret_of(folder: Folder, paths: Iterable[str], ids: set[str]) -> set[str]:
    """Which of a few records the files mark secret: only lines that name one of them are parsed."""
    found: set[str] = set()
    words = [record_id.encode() for record_id in ids]
    for path in paths:
        with suppress(MemolithError, OSError):  # as in `secret_in`
            for line in _lines_with(folder, path, words):
                found.update(secret_ids(line))
    return found & ids


def _lines_with(folder: Folder, path: str, words: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file that hold one of the words; other lines are not kept in memory."""
    fd, _ = folder.open(path)
    try:
        begun = b""
        while piece := os.read(fd, max(_PIECE, len(begun))):
            data = begun + piece
            end = data.rfind(b"\n") + 1
            yield from _lines_around(data, end, words)
            begun = data[end:]
        yield from _lines_around(begun, len(begun), words)
    finally:
        close_quietly(fd)


def _lines_around(data: bytes, length: int, words: Iterable[bytes]) -> Iterator[bytes]:
    for word in words:
        at = data.find(word, 0, length)
        while at >= 0:
            end = data.find(b"\n", at, length)
            end = end if end >= 0 else length
            yield data[data.rfind(b"\n", 0, at) + 1 : end]
            at = data.find(word, end, length)


def secret_in(folder: Folder, paths: Iterable[str]) -> set[str]:
    """The ids of the secret records in some files."""
    found: set[str] = set()
    for path in paths:
        # What cannot be read is told by who asks for that file, and by `memolith doctor`.
        with suppress(MemolithError):
            found.update(secret_ids(folder.read(path) or b""))
    return found


def secret_sources(folder: Folder, lines: Iterable[str]) -> set[str]:
    """The ids of secret records among those that promoted facts in these lines were copied from."""
    promoted = (read_promoted(line) for line in lines if TRAILER in line)
    facts = [fact for fact in promoted if fact and fact.record_id]
    if not facts:
        return set()
    notes = {fact.path: fact.record_id for fact in facts if fact.is_of_note}
    found = secret_in(folder, {fact.path for fact in facts if not fact.is_of_note})
    return found | {name for path, name in notes.items() if _is_secret_note(folder, path)}


def _is_secret_note(folder: Folder, path: str) -> bool:

    with suppress(MemolithError):
        return is_broken_secret(folder.read(path) or b"")
    return True  # nobody can tell


def secret_ids(data: bytes) -> Iterator[str]:
    """The ids of the secret records among some lines; only lines that speak of a secret are parsed."""
    at = data.find(_SECRET)
    while at >= 0:
        end = data.find(b"\n", at)
        end = end if end >= 0 else len(data)
        with suppress(RecordFormatError):
            record = parse_line(data[data.rfind(b"\n", 0, at) + 1 : end])
            if record is not None and record.sensitivity == "secret":
                yield record.id
        at = data.find(_SECRET, end)


def _as_secret(record: Record) -> Record:
    return replace(record, provenance=replace(record.provenance, sensitivity="secret"))
