"""Find a record by its id, wherever in the profile it stands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from memolith.errors import RecordNotFoundError
from memolith.files import layout
from memolith.files.document import Document, Line
from memolith.files.folder import Folder
from memolith.files.notes import parse_note
from memolith.files.record_format import RecordFormatError
from memolith.files.tail import QUARANTINE
from memolith.types import Record

_SHORTEST_PREFIX = 4


def memory_files(folder: Folder) -> Iterator[str]:
    """Every Markdown file that may hold records, the living ones first."""
    yield from folder.walk(deep=False)
    yield from folder.walk(layout.DAILY_FOLDER)
    yield from folder.walk(layout.ARCHIVE_FOLDER)


def derived_copies(folder: Folder) -> Iterator[str]:
    """Files in which copies of records may linger: backups, reports of jobs, torn lines."""
    yield from folder.walk(layout.BACKUP_FOLDER, suffix="", hidden=True)
    yield from folder.walk(layout.JOBS_FOLDER, suffix="")
    yield from folder.walk(layout.PROPOSALS_FOLDER, suffix="")
    yield from folder.walk(QUARANTINE, suffix="")


def records_in(path: str, data: bytes) -> list[Record]:
    """The records of one file: its record lines, or the note it is."""
    found = [record for _, record in Document.parse(path, data).records()]
    if path.count("/") >= 2:
        try:
            note = parse_note(path, data)
        except RecordFormatError:
            note = None
        if note is not None:
            found.append(note)
    return found


def superseded_in(folder: Folder, path: str) -> set[str]:
    """The ids that records of a file, such as the archive, have taken the place of."""
    return superseded_by(path, folder.read(path) or b"")


def superseded_by(path: str, data: bytes) -> set[str]:
    """The same, of a file's bytes."""
    return {record.supersedes for record in successors(path, data) if record.supersedes}


def past_in(path: str, data: bytes, now: datetime) -> set[str]:
    """The ids that records of a file have taken the place of, and those of its records that have expired."""
    word = b"expires"
    dated = _records_with(path, data, word) if word in data else ()
    expired = {record.id for record in dated if record.expires and record.expires <= now}
    return superseded_by(path, data) | expired


def find_record(folder: Folder, record_id: str) -> Record:
    """The record with this id, or with the only id that starts like this.

    Notes that may not be read are left out, from now on: what is behind them is somebody else's.
    """
    matches: dict[str, Record] = {}
    closed = folder.leave_out_closed()
    wanted = record_id.encode(errors="replace")
    for path in memory_files(folder):
        data = folder.read(path) or b""
        if wanted in data or path.startswith(record_id):
            for record in _records_with(path, data, wanted):
                if record.id == record_id:
                    return record
                if record.id.startswith(record_id) and len(record_id) >= _SHORTEST_PREFIX:
                    matches.setdefault(record.id, record)
    if len(matches) == 1:
        return next(iter(matches.values()))
    reason = (
        f"{len(matches)} records have ids that start with" if matches else "No record has the id"
    )
    hint = "Give more of the id." if matches else "List records with their ids: memolith list"
    if len(record_id) < _SHORTEST_PREFIX:
        hint = f"Give at least {_SHORTEST_PREFIX} characters of it: memolith list"
    elif closed and not matches:
        hint = " ".join(closed.values())
    raise RecordNotFoundError(f"{reason} {record_id!r}.", name=record_id, hint=hint)


def find_newest(folder: Folder, record_id: str, archive: str) -> Record:
    """The record with this id, or the last of those that took its place, wherever they stand.

    Whoever corrects what was corrected already means the newest: under the lock there is one.
    """
    found = find_record(folder, record_id)
    newer: dict[str, Record] = {}
    for path in dict.fromkeys((*memory_files(folder), archive)):
        for record in successors(path, folder.read(path) or b""):
            known = newer.get(record.supersedes or "")
            if known is None or record.created > known.created:
                newer[record.supersedes or ""] = record
    seen: set[str] = set()
    while found.id in newer and found.id not in seen:
        seen.add(found.id)
        found = newer[found.id]
    return found


def _records_with(path: str, data: bytes, wanted: bytes) -> list[Record]:
    """The records of a file whose lines hold these bytes; a note, which has no line, as a whole."""
    if _may_be_note(path):
        return records_in(path, data)
    lines = enumerate(data.split(b"\n"), 1)
    few = tuple(Line(number, line) for number, line in lines if wanted in line)
    return [record for _, record in Document(path, few).records()]


def successors(path: str, data: bytes) -> Iterator[Record]:
    """The records of a file that took the place of another; few lines say that they did."""
    word = b"supersedes"
    if word in data:
        yield from (record for record in _records_with(path, data, word) if record.supersedes)


def _may_be_note(path: str) -> bool:
    return path.startswith(f"{layout.DAILY_FOLDER}/") and path.count("/") >= 2
