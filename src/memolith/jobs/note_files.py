"""Notes by their path: for callers that keep files, such as the memory tool of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from memolith.errors import FileFormatError, NotFoundError, PathOutsideProfileError, RefusedError
from memolith.files import gate, layout
from memolith.files.backup import NOTES, prune_backups, save_backup
from memolith.files.document import Document
from memolith.files.folder import MAX_DEPTH, Folder, split_path
from memolith.files.front_matter import is_broken_secret, why_no_note
from memolith.files.notes import category_of, encode_record, file_date, is_note_path, parse_note
from memolith.files.record_format import RecordFormatError
from memolith.jobs.edit import require_version, version_of
from memolith.jobs.reports import EditReport, NoteFile
from memolith.jobs.update import changed_note
from memolith.store import Store, with_warnings
from memolith.text.cleaning import shown_path
from memolith.types import Citation, Provenance, Record, Stamp
from memolith.visibility import raises_trust, trust


def note_paths(folder: Folder, below: str, *, include_secret: bool = False) -> tuple[str, ...]:
    """The paths of the notes in a folder and its folders, sorted; without what cannot be read."""
    below = below.strip("/")
    if below != layout.DAILY_FOLDER:
        check_note_path(f"{below}/x.md")
    found = (path for path in folder.walk(below) if is_note_path(path))
    return tuple(path for path in found if _is_readable(folder, path, include_secret))


def _is_readable(folder: Folder, path: str, include_secret: bool) -> bool:
    try:
        return read_note(folder, path, include_secret=include_secret) is not None
    except (FileFormatError, NotFoundError):
        return False


def read_note(folder: Folder, path: str, *, include_secret: bool = False) -> NoteFile:
    """The note in a file. Prose without front matter is read as a note that nobody has signed."""
    check_note_path(path)
    data = folder.read(path)
    record = None if data is None else _note_in(folder, path, data)
    if record is None or (record.sensitivity == "secret" and not include_secret):
        hint = "List the notes there are: memory.files.notes()"
        raise NotFoundError(f"There is no note {shown_path(path)}.", name=path, hint=hint)
    return NoteFile(record=record, version=version_of(data), modified=_modified(folder, path))


def write_note(
    store: Store,
    channel: str,
    path: str,
    text: str,
    version: str | None,
    metadata: Mapping[str, object] | None,
) -> EditReport:
    """Create a note or replace its text; its other values stay, and its old bytes are backed up."""
    check_note_path(path)
    text = text.replace("\r\n", "\n").strip("\n")
    draft = store.draft(text, channel, category=category_of(path), metadata=metadata)
    gate.check_record(draft)
    with store.writing() as transaction:
        folder, now = transaction.folder, store.clock.now()
        stamp, data = folder.stamp(path), folder.read(path)
        require_version(path, version, version_of(data))
        old = None if data is None else _note_in(folder, path, data)
        new = replace(draft, created=now)
        if old is not None:
            _check_may_change(store, old, channel)
            was = old.provenance.channel
            # What an agent changes is the agent's from then on.
            raised = raises_trust(was, channel, store.config.trust.external)
            new = replace(
                old,
                text=draft.text,
                metadata=old.metadata if metadata is None else metadata,
                provenance=replace(old.provenance, channel=channel if raised else was),
            )
        if new == old:
            return EditReport(path=path, version=version_of(data))
        new = gate.mark_keys(new)
        gate.admit_forgotten(transaction, new, by_user=trust(channel) == "user")
        after = _encoded(path, data, old, new)
        backup = None
        if data is not None:
            backup = save_backup(folder, {path: data}, reason=NOTES, now=now)
        transaction.replace(path, after, stamp)
        transaction.commit()
        prune_backups(folder, store.config.store.backups_kept, reason=NOTES)
        warnings = with_warnings(new, new, transaction).warnings
    return EditReport(path=path, version=version_of(after), backup=backup, warnings=warnings)


def rename_notes(store: Store, path: str, new_path: str, channel: str) -> EditReport:
    """Give a note, or all notes in a folder, another path."""
    is_folder = not path.endswith(".md")
    for one in (path, new_path):
        check_note_path(f"{one}/x.md" if is_folder else one)
    with store.changing() as transaction:
        folder = transaction.folder
        found = _to_change(store, folder, path, channel)
        for old, (data, stamp) in found.items():
            new = new_path + old.removeprefix(path)
            require_version(new, "", version_of(folder.read(new)))
            transaction.replace(new, _moved(old, new, data), None)
            transaction.remove(old, stamp)
        transaction.commit()
        version = "" if is_folder else version_of(folder.read(new_path))
    return EditReport(path=new_path, version=version)


def delete_notes(store: Store, path: str, version: str | None, channel: str) -> EditReport:
    """Delete a note, or all notes in a folder; a backup keeps them."""
    check_note_path(path if path.endswith(".md") else f"{path}/x.md")
    with store.changing() as transaction:
        folder = transaction.folder
        found = _to_change(store, folder, path, channel)
        if path in found:
            require_version(path, version, version_of(found[path][0]))
        before = {one: data for one, (data, _) in found.items()}
        backup = save_backup(folder, before, reason=NOTES, now=store.clock.now())
        for one, (_, stamp) in found.items():
            transaction.remove(one, stamp)
        transaction.commit()
        prune_backups(folder, store.config.store.backups_kept, reason=NOTES)
    return EditReport(path=path, version="", backup=backup)


def check_note_path(path: str) -> None:
    """Only what may be a note by its place: memory/FOLDER/NAME.md, however deep."""
    gate.check_is_text(path=path)
    parts = split_path(path)
    is_odd = any(part.startswith(".") or not part.isprintable() for part in parts)
    is_in_file = any(part.endswith(".md") for part in parts[:-1])
    is_note = path.endswith(".md") and is_note_path(path) and len(parts) <= MAX_DEPTH
    if is_odd or is_in_file or not is_note:
        raise PathOutsideProfileError(
            f"{shown_path(path)} is not the path of a note.",
            path=path,
            hint="Give one such as memory/fact/release-key.md.",
        )


def _note_in(folder: Folder, path: str, data: bytes) -> Record:
    """The note, or the prose as one; raises FileFormatError for what must not be overwritten."""
    reason, text = "", ""
    try:
        if record := parse_note(path, data):
            return record
        reason, text = why_no_note(data), data.decode()
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    except RecordFormatError as error:
        reason = error.message
    if not reason and is_broken_secret(data):
        reason = "its mark is broken"
    hint = "Mend it by hand; memolith doctor names the line."
    if not reason and any(one.looks_like_record for one in Document.parse(path, data).lines):
        reason, hint = "it has records", "Change its records one by one: memolith update ID"
    if reason:
        message = f"{shown_path(path)} cannot be read as a note: {reason}."
        raise FileFormatError(message, path=path, hint=hint)
    day = file_date(path)
    return Record(
        id=path,
        text=text.replace("\r\n", "\n").strip("\n"),
        category=category_of(path),
        session="main",
        created=datetime(day.year, day.month, day.day, tzinfo=UTC)
        if day
        else _modified(folder, path),
        provenance=Provenance(channel="unknown"),
        citation=Citation(path, 1, data.count(b"\n") + (not data.endswith(b"\n"))),
    )


def _modified(folder: Folder, path: str) -> datetime:
    nanoseconds = (folder.stamp(path) or (0, 0, 0))[2]
    return datetime.fromtimestamp(nanoseconds // 10**6 / 1000, UTC)  # as precise as a header


def _to_change(
    store: Store, folder: Folder, path: str, channel: str
) -> dict[str, tuple[bytes, Stamp | None]]:
    """The notes at a path, each with bytes and stamp, if this channel may change them all."""
    paths = [path] if path.endswith(".md") else [*folder.walk(path)]
    found = {}
    for one in paths:
        stamp, data = folder.stamp(one), folder.read(one)
        if data is not None:
            _check_may_change(store, _note_in(folder, one, data), channel)
            found[one] = data, stamp
    if not found:
        raise NotFoundError(
            f"There is no note at {shown_path(path)}.",
            name=path,
            hint="List the notes there are: memory.files.notes()",
        )
    return found


def _check_may_change(store: Store, old: Record, channel: str) -> None:
    """Nobody but the user touches a secret note; a channel from outside only what came from outside."""
    by, of = (
        trust(name, store.config.trust.external) for name in (channel, old.provenance.channel)
    )
    is_foreign = by == "external" != of
    if is_foreign or (old.sensitivity == "secret" and by != "user"):
        place = shown_path(old.citation.path if old.citation else "")
        raise RefusedError(f"{place} may only be changed by the user.", hint="Choose another path.")


def _encoded(path: str, data: bytes | None, old: Record | None, new: Record) -> bytes:
    """The bytes of the note; raises RefusedError if they would not read back as it."""
    if data is not None and old is not None and parse_note(path, data) is not None:
        return changed_note(path, data, old, new)
    new = replace(new, id=gate.new_id()) if new.id == path else new
    after = encode_record(new)
    read = parse_note(path, after)
    if read is None or replace(read, provenance=new.provenance) != new:
        raise RefusedError(
            "The metadata cannot be kept in the front matter of a note.",
            hint="Make it shorter and plainer, or put it into the text.",
        )
    return after


def _moved(old: str, new: str, data: bytes) -> bytes:
    """The bytes for another folder: it is the note's category, unless the note says another."""
    record = parse_note(old, data)
    if (
        record is None
        or record.category != category_of(old)
        or category_of(old) == category_of(new)
    ):
        return data
    return changed_note(old, data, record, replace(record, category=category_of(new)))
