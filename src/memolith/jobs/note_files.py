"""Notes by their path: for callers that keep files, such as the memory tool of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from memolith.errors import FileFormatError, NotFoundError, PathOutsideProfileError, RefusedError
from memolith.files import gate, layout
from memolith.files.backup import NOTES
from memolith.files.document import Document
from memolith.files.folder import MAX_DEPTH, Folder, split_path
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.notes import (
    category_of,
    file_date,
    is_note_path,
    note_bytes,
    note_or_reason,
    readable_note,
)
from memolith.jobs.replace import (
    Seen,
    admitted,
    look,
    replace_files,
    require_version,
    version_of,
)
from memolith.jobs.reports import EditReport, NoteFile
from memolith.jobs.update import changed_note
from memolith.store import Store, with_warnings
from memolith.text.cleaning import shown_path
from memolith.types import Citation, Provenance, Record
from memolith.visibility import trust

T = TypeVar("T")


@gate.checks_types
class Notes:
    """The notes of one memory by their paths."""

    def __init__(self, store: Store, channel: str) -> None:
        self._store, self._channel = store, channel

    def _read(self, work: Callable[[Folder], T], otherwise: T) -> T:
        """The result for the opened folder; something else where there is no memory yet."""
        if not self._store.profile.exists:
            return otherwise
        with Folder(self._store.root) as folder:
            folder.leave_out_closed()
            return work(folder)

    def notes(self, folder: str = "memory", *, include_secret: bool = False) -> tuple[str, ...]:
        """The paths of the notes in a folder and in its folders, sorted; prose counts as a note."""
        below = folder.strip("/")

        def paths(opened: Folder) -> Iterator[str]:
            if below != layout.DAILY_FOLDER:
                check_note_path(f"{below}/x.md")
            for path in filter(is_note_path, opened.walk(below)):
                with suppress(FileFormatError, NotFoundError):
                    _read_note(opened, path, include_secret=include_secret)
                    yield path

        return self._read(lambda opened: tuple(paths(opened)), ())

    def read_note(self, path: str, *, include_secret: bool = False) -> NoteFile:
        """A note by its path, with the version that a change must name."""
        check_note_path(path)
        with self._store.existing() as folder:
            return _read_note(folder, path, include_secret=include_secret)

    def write_note(
        self,
        path: str,
        text: str,
        *,
        version: str | None = None,
        metadata: Mapping[str, object] | None = None,
    ) -> EditReport:
        """Create a note, such as memory/fact/key.md, or replace its text; a backup keeps the old one.

        `version` is that of the note which was read, or "" for one that must be new; without it
        the last writer wins. Without `metadata` the note keeps its own.
        """
        check_note_path(path)
        text, channel = text.replace("\r\n", "\n").strip("\n"), self._channel
        draft = self._store.draft(text, channel, category=category_of(path), metadata=metadata)
        with self._store.writing() as transaction:
            file = look(transaction.folder, path)
            require_version(file, version)
            draft = replace(draft, created=self._store.clock.now())
            old = replace(draft, text="")
            if file.data is not None:
                old = _note_in(transaction.folder, path, file.data)
                self._check_may_change(old)
            kept = old.metadata if metadata is None else metadata
            new = replace(old, text=draft.text, metadata=kept)
            if new == old:
                return EditReport(path=path, version=file.version)
            new = admitted(self._store, transaction, old, new, channel)
            after = _encoded(file, old, new)
            reason = None if file.data is None else NOTES
            backup = replace_files(self._store, transaction, {file: after}, reason=reason)
        warnings = with_warnings(new, new, transaction).warnings
        return EditReport(path=path, version=version_of(after), backup=backup, warnings=warnings)

    def rename_notes(self, path: str, new_path: str) -> EditReport:
        """Give a note, or every note in a folder, another path, which must be free."""
        is_folder = not path.endswith(".md")
        for one in (path, new_path):
            check_note_path(f"{one}/x.md" if is_folder else one)
        with self._store.changing() as transaction:
            folder = transaction.folder
            changes: dict[Seen, bytes | None] = {}
            for old in self._to_change(folder, path):
                new = look(folder, new_path + old.path.removeprefix(path))
                require_version(new, "")
                changes |= {new: _moved(old, new.path), old: None}
            replace_files(self._store, transaction, changes, reason=None)
            version = "" if is_folder else look(folder, new_path).version
        return EditReport(path=new_path, version=version)

    def delete_notes(self, path: str, *, version: str | None = None) -> EditReport:
        """Delete a note, or every note in a folder; a backup keeps them, unlike `Memory.forget`."""
        check_note_path(path if path.endswith(".md") else f"{path}/x.md")
        with self._store.changing() as transaction:
            found = self._to_change(transaction.folder, path)
            if found[0].path == path:
                require_version(found[0], version)
            changes: dict[Seen, bytes | None] = dict.fromkeys(found)
            backup = replace_files(self._store, transaction, changes, reason=NOTES)
        return EditReport(path=path, version="", backup=backup)

    def _to_change(self, folder: Folder, path: str) -> list[Seen]:
        """The notes at a path, if this channel may change them all."""
        paths = [path] if path.endswith(".md") else folder.walk(path)
        found = [file for one in paths if (file := look(folder, one)).data is not None]
        for file in found:
            self._check_may_change(_note_in(folder, file.path, file.data or b""))
        if not found:
            raise _no_note(path)
        return found

    def _check_may_change(self, old: Record) -> None:
        """Nobody but the user touches a secret note; a channel from outside only what came from outside."""
        external = self._store.config.trust.external
        by, of = (trust(name, external) for name in (self._channel, old.provenance.channel))
        if (by == "external" != of) or (old.sensitivity == "secret" and by != "user"):
            place = shown_path(old.citation.path if old.citation else "")
            raise RefusedError(
                f"{place} may only be changed by the user.", hint="Choose another path."
            )


def _read_note(folder: Folder, path: str, *, include_secret: bool) -> NoteFile:
    """The note in a file. Prose without front matter is read as a note that nobody has signed."""
    data = folder.read(path)
    record = None if data is None else _note_in(folder, path, data)
    if record is None or (record.sensitivity == "secret" and not include_secret):
        raise _no_note(path)
    return NoteFile(record=record, version=version_of(data), modified=_modified(folder, path))


def check_note_path(path: str) -> None:
    """Only what may be a note by its place: memory/FOLDER/NAME.md, however deep."""
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
    record, reason = note_or_reason(path, data)
    if record is not None:
        return record
    text, lines = data.decode(errors="replace"), Document.parse(path, data).lines
    if text.encode() != data:
        reason = "it is not UTF-8"
    elif any(line.looks_like_record for line in lines):
        reason = reason or "it has records, which are changed one by one: memolith update ID"
    elif is_broken_secret(data):
        reason = reason or "its mark is broken"
    if reason:
        message = f"{shown_path(path)} cannot be read as a note: {reason}."
        hint = "Mend it by hand; memolith doctor names the line."
        raise FileFormatError(message, path=path, hint=hint)
    day = file_date(path)
    created = datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
    return Record(
        id=path,
        text=text.replace("\r\n", "\n").strip("\n"),
        category=category_of(path),
        session="main",
        created=created or _modified(folder, path),
        provenance=Provenance(channel="unknown"),
        citation=Citation(path, 1, len(lines)),
    )


def _modified(folder: Folder, path: str) -> datetime:
    nanoseconds = (folder.stamp(path) or (0, 0, 0))[2]
    return datetime.fromtimestamp(nanoseconds // 10**6 / 1000, UTC)  # as precise as a header


def _no_note(path: str) -> NotFoundError:
    hint = "List the notes there are: memory.files.notes()"
    return NotFoundError(f"There is no note at {shown_path(path)}.", name=path, hint=hint)


def _encoded(file: Seen, old: Record, new: Record) -> bytes:
    """The bytes of the note; raises RefusedError if they would not read back as it."""
    if file.data is not None and split_note(file.data):
        return changed_note(file.path, file.data, old, new)
    return note_bytes(replace(new, id=gate.new_id()) if new.id == file.path else new)


def _moved(old: Seen, path: str) -> bytes:
    """The bytes for another folder: it is the note's category, unless the note says another."""
    data, category = old.data or b"", category_of(path)
    record = readable_note(old.path, data)
    if record is None or record.category != category_of(old.path) or record.category == category:
        return data
    return changed_note(old.path, data, record, replace(record, category=category))
