"""Read records as they may be shown: all of them, one by its id, or a note that says the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from memolith.files import layout
from memolith.files.document import Damage, Document, damage_warnings
from memolith.files.folder import Folder
from memolith.files.journal import Journal, is_near, near_text
from memolith.files.ledger import Ledger, find_record, memory_files, no_record, records_with
from memolith.files.notes import is_note_path, notes, readable_note
from memolith.files.record_format import encode_json, is_utf16, not_utf8
from memolith.types import REPEATS, Record, Records
from memolith.visibility import visible


def read_record(folder: Folder, record_id: str, *, include_secret: bool) -> Record:
    """The record or note with this id, or with the only id that starts like this."""
    record = find_record(folder, record_id)
    ledger = Ledger.of(folder)
    found = shown([record], ledger, include_secret=include_secret)
    if not found:
        raise no_record(record_id)
    newer = ledger.newest(record)
    if newer.id == record.id:
        return found[0]
    return replace(found[0], warnings=(f"This record is superseded by {newer.id}.",))


def read_records(
    folder: Folder,
    journal: Journal,
    accepts: Callable[[Record], bool],
    *,
    include_secret: bool,
    include_past: bool,
) -> Records:
    """Every record of MEMORY.md and every note that is accepted, oldest first."""
    damages: list[Damage] = []
    closed = folder.leave_out_closed()
    every = (*_of_memory(folder, damages), *notes(folder, damages))
    read = [record for record in every if accepts(record)]
    ledger, now = Ledger.of(folder), journal.clock.now()
    if not include_past:
        read = [record for record in read if not ledger.is_past(record.id, now)]
    seen = shown(read, ledger, include_secret=include_secret)
    seen.sort(key=lambda record: record.created)
    warnings = (*closed.values(), *damage_warnings(damages))
    return Records(seen, warnings, hidden=len(read) - len(seen))


def _of_memory(folder: Folder, damages: list[Damage]) -> Iterable[Record]:
    """The records of both MEMORY.md files, in file order, each id once."""
    found: dict[str, Record] = {}
    for path in (layout.ROOT_MEMORY, layout.NESTED_MEMORY):
        data = folder.read(path) or b""
        if is_utf16(data):
            raise not_utf8(path, "its records cannot be read")
        for _, record in Document.parse(path, data).records(damages):
            found.setdefault(record.id, record)
    return found.values()


def newest(found: Records, limit: int | None, offset: int) -> Records:
    """The newest of these records, at most `limit`, without the newest `offset`; oldest first."""
    end = max(0, len(found) - max(0, offset))
    start = 0 if limit is None else max(0, end - max(0, limit))
    return Records(found[start:end], found.warnings, len(found), found.hidden)


def has_words(record: Record, keyword: str | None, metadata: Mapping[str, object] | None) -> bool:
    """Whether a record has this keyword, in any case, and each of these values in its metadata.

    A text also matches a number or truth value that JSON spells so, as on a command line.
    """
    if keyword is not None and keyword.casefold() not in map(str.casefold, record.keywords):
        return False
    return all(
        name in record.metadata
        and value in (record.metadata[name], _spelled(record.metadata[name]))
        for name, value in (metadata or {}).items()
    )


def _spelled(value: object) -> str:
    return value if isinstance(value, str) else encode_json(value).decode()


def ids_with(
    folder: Folder,
    keyword: str | None,
    metadata: Mapping[str, object] | None,
    *,
    include_secret: bool,
) -> frozenset[str]:
    """The ids of all records and notes that have these words, in whatever file of the memory.

    Without those of secret ones a caller cannot guess their words by what a search says.
    """
    key = b"keywords" if keyword is not None else b"metadata"  # few lines have either
    folder.leave_out_closed()
    found: list[Record] = []
    for path in memory_files(folder):
        data = folder.read(path) or b""
        found += records_with(path, data, (key,))
        if is_note_path(path) and key in data and (note := readable_note(path, data)):
            found.append(note)
    ids = {record.id for record in found if has_words(record, keyword, metadata)}
    return frozenset(ids if include_secret else ids - Ledger.of(folder).secret)


def shown(records: Iterable[Record], ledger: Ledger, *, include_secret: bool) -> list[Record]:
    """The records that may be seen, each as secret as the strictest of its copies."""
    found = map(ledger.strictest, records)
    if include_secret:
        return list(found)
    return [ledger.without_secrets(one) for one in found if visible(one, include_secret=False)]


def find_same_note(folder: Folder, record: Record, now: datetime) -> Record | None:
    """A note of the same category, session, sensitivity, expiry and text that still holds, or None.

    Texts that differ in case, spacing or a full stop alone are the same. Every note of the category
    is read, but only one that holds the text is parsed. Where repetition is news (`event` …), no
    note is the same.
    """
    if record.category in REPEATS:
        return None
    text = near_text(record.text)
    for path in folder.walk(f"{layout.DAILY_FOLDER}/{record.category}"):
        data = folder.read(path) or b""
        known = text in near_text(data.decode(errors="replace")) and readable_note(path, data)
        if known and is_near(known, record, now) and not Ledger.of(folder).is_past(known.id, now):
            return known
    return None
