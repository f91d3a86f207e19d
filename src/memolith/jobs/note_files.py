"""Notes by their path: for callers that keep files, such as the memory tool of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from memolith.errors import FileFormatError, NotFoundError, PathOutsideProfileError, RefusedError
from memolith.files import gate, layout
from memolith.files.backup import NOTES
from memolith.files.document import Document
from memolith.files.folder import MAX_DEPTH, Folder, split_path
from memolith.files.front_matter import is_broken_secret, why_no_note
from memolith.files.notes import category_of, file_date, is_note_path, note_bytes, parse_note
from memolith.files.record_format import RecordFormatError
from memolith.jobs.replace import Seen, look, replace_files, require_version, version_of
from memolith.jobs.reports import EditReport, NoteFile
from memolith.jobs.update import changed_note
from memolith.store import Store, with_warnings
from memolith.text.cleaning import shown_path
from memolith.types import Citation, Provenance, Record
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
        raise _no_note(path)
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
        file = look(transaction.folder, path)
        require_version(file, version)
        old = None if file.data is None else _note_in(transaction.folder, path, file.data)
        new = replace(draft, created=store.clock.now())
        if old is not None:
            _check_may_change(store, old, channel)
            was = old.provenance
            # What an agent changes is the agent's from then on.
            raised = raises_trust(was.channel, channel, store.config.trust.external)
            new = replace(
                old,
                text=draft.text,
                metadata=old.metadata if metadata is None else metadata,
                provenance=replace(was, channel=channel) if raised else was,
            )
        if new == old:
            return EditReport(path=path, version=file.version)
        new = gate.mark_keys(new)
        gate.admit_forgotten(transaction, new, by_user=trust(channel) == "user")
        after = _encoded(file, old, new)
        reason = NOTES if old else None
        backup = replace_files(store, transaction, {file: after}, reason=reason)
    warnings = with_warnings(new, new, transaction).warnings
    return EditReport(path=path, version=version_of(after), backup=backup, warnings=warnings)


def rename_notes(store: Store, path: str, new_path: str, channel: str) -> EditReport:
    """Give a note, or all notes in a folder, another path."""
    is_folder = not path.endswith(".md")
    for one in (path, new_path):
        check_note_path(f"{one}/x.md" if is_folder else one)
    with store.changing() as transaction:
        folder = transaction.folder
        changes: dict[Seen, bytes | None] = {}
        for old in _to_change(store, folder, path, channel):
            new = look(folder, new_path + old.path.removeprefix(path))
            require_version(new, "")
            changes |= {new: _moved(old, new.path), old: None}
        replace_files(store, transaction, changes, reason=None)
        version = "" if is_folder else look(folder, new_path).version
    return EditReport(path=new_path, version=version)


def delete_notes(store: Store, path: str, version: str | None, channel: str) -> EditReport:
    """Delete a note, or all notes in a folder; a backup keeps them."""
    check_note_path(path if path.endswith(".md") else f"{path}/x.md")
    with store.changing() as transaction:
        found = _to_change(store, transaction.folder, path, channel)
        if found[0].path == path:
            require_version(found[0], version)
        backup = replace_files(store, transaction, dict.fromkeys(found), reason=NOTES)
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


def _to_change(store: Store, folder: Folder, path: str, channel: str) -> list[Seen]:
    """The notes at a path, if this channel may change them all."""
    paths = [path] if path.endswith(".md") else folder.walk(path)
    found = [file for one in paths if (file := look(folder, one)).data is not None]
    for file in found:
        _check_may_change(store, _note_in(folder, file.path, file.data or b""), channel)
    if not found:
        raise _no_note(path)
    return found


def _no_note(path: str) -> NotFoundError:
    hint = "List the notes there are: memory.files.notes()"
    return NotFoundError(f"There is no note at {shown_path(path)}.", name=path, hint=hint)


def _check_may_change(store: Store, old: Record, channel: str) -> None:
    """Nobody but the user touches a secret note; a channel from outside only what came from outside."""
    by, of = (
        trust(name, store.config.trust.external) for name in (channel, old.provenance.channel)
    )
    is_foreign = by == "external" != of
    if is_foreign or (old.sensitivity == "secret" and by != "user"):
        place = shown_path(old.citation.path if old.citation else "")
        raise RefusedError(f"{place} may only be changed by the user.", hint="Choose another path.")


def _encoded(file: Seen, old: Record | None, new: Record) -> bytes:
    """The bytes of the note; raises RefusedError if they would not read back as it."""
    if file.data is not None and old is not None and parse_note(file.path, file.data) is not None:
        return changed_note(file.path, file.data, old, new)
    return note_bytes(replace(new, id=gate.new_id()) if new.id == file.path else new)


def _moved(old: Seen, path: str) -> bytes:
    """The bytes for another folder: it is the note's category, unless the note says another."""
    data, category = old.data or b"", category_of(path)
    record = parse_note(old.path, data)
    if record is None or record.category != category_of(old.path) or record.category == category:
        return data
    return changed_note(old.path, data, record, replace(record, category=category))
