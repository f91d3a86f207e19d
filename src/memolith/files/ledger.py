"""The ledger: what all files together say of each record.

A record is in MEMORY.md and in the log of its day, later in an archive, and jobs copy it into summaries,
promoted facts and experiences. Whether it is secret, replaced or expired is decided here, once for all
readers, and the strictest mark of all copies counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain
from typing import NamedTuple

from memolith import clock
from memolith.errors import MemolithError, RecordNotFoundError
from memolith.files import layout
from memolith.files.document import Document, Line, fenced_lines
from memolith.files.folder import Folder, change_stamp_of
from memolith.files.front_matter import is_broken_secret
from memolith.files.journal import lines_with
from memolith.files.notes import is_note_path, readable_note, records_in
from memolith.files.record_format import (
    encode_json,
    encode_time,
    json_part,
    readable_json,
    readable_record,
)
from memolith.files.tail import QUARANTINE
from memolith.files.transaction import Transaction
from memolith.text.lines import TRAILER, read_line, read_promoted, short_id
from memolith.types import Record, Stamp

MIN_ID_CHARS = 4
# A digest of a shorter text, such as a PIN, gives the text away: all of them can be tried.
MIN_DIGEST_CHARS = 24
_SECRET = b'"secret"'
_WORDS = (_SECRET, b'"supersedes"', b'"expires"')
# A note may spell its mark in any case, and a damaged record inside makes it secret too.
_WORDS_OF_NOTE = (b"secret", b"supersedes", b"expires", b'"text"', b'"id"')
_MADE_BY_JOBS = (b'"experience"', b'"compaction"')
_DAY = timedelta(days=1)
_MAX_CACHED_FILES = 20_000


class Facts(NamedTuple):
    """What one file says: ids it marks secret, and records that replace others or expire."""

    secret: frozenset[str]
    records: tuple[Record, ...] = ()


# By root and path, with the stamp of the file: its lines are read again only when it changed.
_cache: dict[tuple[str, str], tuple[Stamp, Facts]] = {}


class Ledger:
    """What some files, or all, say of each record; a value of one moment."""

    __slots__ = ("_expires", "_successors", "names", "secret")

    def __init__(self, facts: Iterable[Facts]) -> None:
        """Put together what each file says."""
        known = list(facts)
        self.secret = frozenset[str]().union(*(one.secret for one in known))
        # Summaries and people know a record by the beginning of its id.
        self.names = self.secret | set(map(short_id, self.secret))
        self._successors: dict[str, list[Record]] = {}
        self._expires: dict[str, datetime] = {}
        for record in chain.from_iterable(one.records for one in known):
            if record.supersedes:
                self._successors.setdefault(record.supersedes, []).append(record)
            if record.expires:
                known_end = self._expires.get(record.id, record.expires)
                self._expires[record.id] = min(record.expires, known_end)

    @classmethod
    def of(cls, folder: Folder, paths: Iterable[str] | None = None) -> Ledger:
        """The ledger of these files, or of all; what cannot be read is left to `memolith doctor`."""
        with Folder(folder.root) as own:  # what is closed to us stays an error for the caller
            own.leave_out_closed()
            return cls(_facts(own, path) for path in (every_file(own) if paths is None else paths))

    @property
    def replaced(self) -> frozenset[str]:
        """The ids of all records that another one has taken the place of."""
        return frozenset(self._successors)

    def replaced_at(self, record_id: str) -> datetime | None:
        """When the first record took its place; None if none did."""
        found = self._successors.get(record_id)
        return min(record.created for record in found) if found else None

    def newest(self, record: Record) -> Record:
        """The record, or the last of those that took its place.

        To correct a record that was corrected already is to correct the newest.
        """
        seen: set[str] = set()
        while record.id in self._successors and record.id not in seen:
            seen.add(record.id)
            record = max(self._successors[record.id], key=lambda newer: newer.created)
        return record

    def is_past(self, record_id: str, now: datetime) -> bool:
        """Whether the record was replaced or has expired."""
        expires = self._expires.get(record_id)
        return record_id in self._successors or (expires is not None and expires <= now)

    def holds(self, experience: Record, now: datetime) -> bool:
        """Whether neither an experience nor its source is past, and the source is not secret."""
        source = source_of(experience)
        is_past = self.is_past(source, now) or self.is_past(experience.id, now)
        return source not in self.secret and not is_past

    def strictest(self, record: Record) -> Record:
        """The record, secret if one of its copies is."""
        if record.id not in self.secret or record.sensitivity == "secret":
            return record
        return replace(record, provenance=replace(record.provenance, sensitivity="secret"))

    def tells_secret(self, line: bytes) -> bool:
        """Whether a line is a copy of what a secret record says."""
        return bool(self.names) and not self.names.isdisjoint(sources_of(line))

    def without_secrets(self, record: Record) -> Record:
        """The record; of a summary, lines about secret records are hidden."""
        if record.category != "compaction" or self.names.isdisjoint(names_told(record.text)):
            return record
        from memolith.text.lines import with_stand_ins  # only summaries need it

        return replace(record, text=with_stand_ins(record.text, self.names))


NO_MARKS = Ledger(())


def facts_in(path: str, data: bytes) -> Facts:
    """What a file says of records; of its many lines only those with a telling word are parsed."""
    found = records_with(path, data, _WORDS)
    secret = set(secret_ids(data))
    if is_note_path(path) and any(word in data.lower() for word in _WORDS_OF_NOTE):
        note = readable_note(path, data)
        found += [note] if note else []
        if note.sensitivity == "secret" if note else is_broken_secret(data):
            secret |= {path, note.id if note else path}
    return Facts(
        frozenset(secret | {one.id for one in found if one.sensitivity == "secret"}),
        tuple(one for one in found if one.supersedes or one.expires),
    )


def _facts(folder: Folder, path: str) -> Facts:
    """The same from the disk, or from the cache if the file is as it was."""
    stamp: Stamp = (0, 0, 0)
    with suppress(OSError, MemolithError):
        parent, name = folder.parent(path)
        stamp = change_stamp_of(os.stat(name, dir_fd=parent, follow_symlinks=False))
    known = _cache.get((folder.root, path))
    if known is not None and known[0] == stamp:
        return known[1]
    try:
        facts = facts_in(path, folder.read(path) or b"")
    except MemolithError:
        # A note that cannot be read may be secret.
        return Facts(frozenset({path}))
    # Two changes within one tick of the file system have the same stamp.
    if stamp[2] and stamp[2] < clock.file_time() - clock.FILE_TICK:
        if len(_cache) >= _MAX_CACHED_FILES:
            _cache.clear()
        _cache[folder.root, path] = stamp, facts
    return facts


def secret_ids(data: bytes) -> Iterator[str]:
    """The ids of the secret records among some lines; a code fence does not publish a secret."""
    for _, line in lines_with(data, (_SECRET,)):
        record = readable_record(line)
        if record and record.sensitivity == "secret":
            yield record.id


def records_with(path: str, data: bytes, words: Iterable[bytes]) -> list[Record]:
    """The records on lines that hold one of these words."""
    fenced = fenced_lines(data)
    few = (Line(number, line, number in fenced) for number, line in lines_with(data, words))
    return [record for _, record in Document(path, tuple(few)).records()]


def memory_files(folder: Folder) -> Iterator[str]:
    """Every Markdown file that may hold records, the living ones first."""
    yield from folder.walk(deep=False)
    yield from folder.walk(layout.DAILY_FOLDER)
    yield from folder.walk(layout.ARCHIVE_FOLDER, hidden=True)


def every_file(folder: Folder) -> list[str]:
    """The same with the archives that were ever written elsewhere."""
    return list(dict.fromkeys((*memory_files(folder), *archives_elsewhere(folder))))


def archives(folder: Folder) -> tuple[str, ...]:
    """The archives of the archive folder, and those that were written elsewhere."""
    return (*folder.walk(layout.ARCHIVE_FOLDER, hidden=True), *archives_elsewhere(folder))


def archives_elsewhere(folder: Folder) -> tuple[str, ...]:
    """The archives outside the archive folder: `trim.archive_path` may change, and all must be found."""
    paths = map(readable_json, (folder.read(layout.ARCHIVES) or b"").split(b"\n"))
    return tuple(path for path in paths if isinstance(path, str) and path.endswith(".md"))


def note_archive(transaction: Transaction, path: str) -> None:
    """Note an archive that is outside the archive folder."""
    is_elsewhere = not path.startswith(f"{layout.ARCHIVE_FOLDER}/")
    if is_elsewhere and path not in archives_elsewhere(transaction.folder):
        transaction.append(layout.ARCHIVES, encode_json(path) + b"\n")


def derived_copies(folder: Folder) -> Iterator[str]:
    """Files in which copies of records may linger: backups, reports of jobs, torn lines."""
    for place in (layout.BACKUP_FOLDER, layout.JOBS_FOLDER, layout.PROPOSALS_FOLDER, QUARANTINE):
        yield from folder.walk(place, suffix="", hidden=True)


def logs_around(days: Iterable[date]) -> set[str]:
    """The logs of these days, and of those beside them: a day may be that of another zone."""
    around = set(days)
    with suppress(OverflowError):  # the first or last day of the calendar
        around |= {day + step for day in around for step in (-_DAY, _DAY)}
    return {layout.daily_log(day) for day in around}


def find_record(folder: Folder, record_id: str) -> Record:
    """The record with this id, or with the only id that starts like this.

    Notes that may not be read are left out, from now on: what is behind them is somebody else's.
    """
    matches: dict[str, Record] = {}
    closed = folder.leave_out_closed()
    sought = record_id.encode(errors="replace")
    for path in every_file(folder):
        data = folder.read(path) or b""
        if sought not in data and not path.startswith(record_id):
            continue
        is_note = is_note_path(path)
        for record in records_in(path, data) if is_note else records_with(path, data, (sought,)):
            if record.id == record_id:
                return record
            # The id of a note without one is its path, and part of a path may mean a folder.
            if record.id.startswith(record_id) and "/" not in record.id:
                matches.setdefault(record.id, record)
    if len(record_id) < MIN_ID_CHARS:
        matches.clear()
    if len(matches) == 1:
        return next(iter(matches.values()))
    if matches:
        reason, hint = f"{len(matches)} records have ids that start with", "Give more of the id."
        raise RecordNotFoundError(f"{reason} {record_id!r}.", name=record_id, hint=hint)
    short = f"Give at least {MIN_ID_CHARS} characters of it: memolith list"
    raise no_record(
        record_id, short if len(record_id) < MIN_ID_CHARS else " ".join(closed.values())
    )


def no_record(record_id: str, hint: str = "") -> RecordNotFoundError:
    """The error for an id that no record has."""
    hint = hint or "List records with their ids: memolith list"
    return RecordNotFoundError(f"No record has the id {record_id!r}.", name=record_id, hint=hint)


def find_newest(folder: Folder, record_id: str) -> Record:
    """The record with this id, or the last of those that took its place."""
    return Ledger.of(folder).newest(find_record(folder, record_id))


def sources_of(line: bytes) -> frozenset[str]:
    """The names of the records that a line is a copy of; most lines are not copies, and are not parsed.

    A promoted fact names its record, or the note it is from; an experience its source; a line of a
    summary the beginning of each id.
    """
    data = line.strip()
    if json_part(data) is not None:
        record = readable_record(data) if any(word in data for word in _MADE_BY_JOBS) else None
        if record and record.category == "compaction":
            return names_told(record.text)
        return frozenset({source_of(record)} - {""} if record else ())
    text = data.decode(errors="replace")
    if TRAILER in text:
        fact = read_promoted(text)
        names = {fact.record_id, fact.path if fact.is_of_note else ""} if fact else set()
        return frozenset(names - {""})
    return names_told(text) if text.startswith("- ") else frozenset()


def source_of(experience: Record) -> str:
    """The record that an experience is a copy of; of one that was said in a chat, its turn."""
    source = experience.metadata.get("source")
    return source if experience.category == "experience" and isinstance(source, str) else ""


def is_output(path: str, data: bytes, records: Sequence[Record]) -> bool:
    """Whether it only says what other files say: the diary, summaries of months, experiences."""
    is_experiences = path == layout.EXPERIENCES or (records and all(map(source_of, records)))
    return path == layout.DREAM_DIARY or bool(is_experiences) or layout.is_long_memory(path, data)


def names_told(text: str) -> frozenset[str]:
    """The names of the records that the lines of a summary repeat."""
    found = filter(None, map(read_line, map(str.strip, text.split("\n"))))
    return frozenset(name for line in found for name in line.ids)


class Tombstone(NamedTuple):
    """One forgotten record. The digest is all that is left of its text; "" if the text was short."""

    id: str
    digest: str
    forgotten_at: str


def tombstone_line(record: Record, now: datetime) -> bytes:
    """The line that keeps a forgotten record from coming back."""
    long_enough = len(_normal(record.text)) >= MIN_DIGEST_CHARS
    kept = {"digest": digest(record.text)} if long_enough else {}
    return encode_json({"id": record.id, **kept, "forgottenAt": encode_time(now)}) + b"\n"


def digest(text: str) -> str:
    """A digest of the text as a reader sees it: case and spacing do not matter."""
    from hashlib import sha256  # only needed once something was forgotten

    return sha256(_normal(text).encode(errors="surrogatepass")).hexdigest()


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def tombstones(read: Callable[[str], bytes | None]) -> Iterator[Tombstone]:
    """Everything that was forgotten; other lines are left alone."""
    for line in (read(layout.TOMBSTONES) or b"").split(b"\n"):
        match readable_json(line):
            case {"id": str(record_id), "forgottenAt": str(when), **rest}:
                yield Tombstone(record_id, str(rest.get("digest", "")), when)


def without_tombstones(folder: Folder, stones: Iterable[Tombstone]) -> bytes:
    """The tombstone file without some texts: the user has brought them back."""
    lines = (folder.read(layout.TOMBSTONES) or b"").split(b"\n")
    gone = [stone.digest.encode() for stone in stones]
    return b"\n".join(line for line in lines if not any(digest in line for digest in gone))
