"""`Memory.files`: whole files, notes by their path, and backups, for editors and programs that are not on this disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, TypeVar

from memolith.errors import FileFormatError, NotFoundError, PathOutsideProfileError, RefusedError
from memolith.files import gate, layout
from memolith.files.backup import NOTES, backups, copies, read_backup
from memolith.files.document import Document
from memolith.files.folder import MAX_DEPTH, Folder, split_path
from memolith.files.front_matter import is_broken_secret, split_note
from memolith.files.ledger import memory_files, names_told
from memolith.files.notes import (
    category_of,
    file_date,
    is_note_path,
    note_bytes,
    note_or_reason,
    readable_note,
    records_in,
)
from memolith.files.record_format import readable_record
from memolith.jobs import reports
from memolith.jobs.changes import replaced
from memolith.jobs.diffs import diff_of
from memolith.jobs.edit import check_path, daily_logs, is_editable, read_file, write_file
from memolith.jobs.job import index_changes
from memolith.jobs.replace import (
    Seen,
    admitted,
    is_raised,
    look,
    replace_files,
    require_version,
    version_of,
)
from memolith.jobs.timeline import days, one_day
from memolith.jobs.update import changed_note
from memolith.reports import Backup
from memolith.search.filters import as_day
from memolith.store import Store, with_warnings
from memolith.text.cleaning import shown_path
from memolith.text.lines import short_id
from memolith.types import Citation, Provenance, Record
from memolith.visibility import Patterns, trust

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder

T = TypeVar("T")


@gate.checks_types
class Files:
    """The files of one memory: as a whole, as notes, and as they were in backups."""

    def __init__(self, store: Store, channel: str, finder: Callable[[], Finder]) -> None:
        self._store, self._channel, self._finder = store, channel, finder

    def _read(self, work: Callable[[Folder], T], otherwise: T) -> T:
        """The result for the opened folder; something else where there is no memory yet."""
        if not self._store.profile.exists:
            return otherwise
        with Folder(self._store.root) as folder:
            folder.leave_out_closed()
            return work(folder)

    def list(self) -> tuple[str, ...]:
        """The daily logs, newest first."""
        return self._read(daily_logs, ())

    def tree(self) -> tuple[reports.FileEntry, ...]:
        """Every Markdown file of the memory, archives last."""

        def entries(folder: Folder) -> tuple[reports.FileEntry, ...]:
            stamps = {path: folder.stamp(path) for path in memory_files(folder)}
            return tuple(
                reports.FileEntry(
                    path=path,
                    bytes=stamp[1],
                    editable=is_editable(path, self._store.journal.primary),
                )
                for path, stamp in stamps.items()
                if stamp
            )

        return self._read(entries, ())

    def days(self) -> tuple[reports.DayCounts, ...]:
        """How much was written, said, asked and tidied on each day, oldest first."""
        return self._read(lambda folder: days(folder, self._store.clock), ())

    def day(self, day: date | str) -> reports.Day:
        """The records, notes, turns and jobs of one day."""
        wanted = as_day("day", day, self._store.clock) or self._store.clock.today()
        return self._read(
            lambda folder: one_day(folder, self._store.clock, wanted), reports.Day(day=wanted)
        )

    def read(self, path: str, *, include_secret: bool = False) -> reports.FileText:
        """MEMORY.md or a daily log as a whole, to be edited; a missing file is empty.

        A placeholder line takes the place of each secret record, unless asked for.
        """
        check_path(path, self._store.journal.primary)
        return self._read(
            lambda folder: read_file(folder, path, include_secret=include_secret),
            reports.FileText(path=path, content=""),
        )

    def write(self, path: str, content: str, version: str = "") -> reports.EditReport:
        """Replace MEMORY.md or a daily log, which must still have the version that was read.

        Without a version it is replaced as long as no record is removed.
        The old content is saved as a backup, and placeholder lines become their secret records again.
        If a caller other than the user changes the text of a record of the user's, that text becomes
        a new version of it.
        """
        check_path(path, self._store.journal.primary)
        report = write_file(self._store, self._channel, path, content, version)
        behind = index_changes(self._store, self._finder)
        return replace(report, warnings=(*report.warnings, *behind))

    def backups(self) -> tuple[Backup, ...]:
        """The backups that can be restored, oldest first."""
        return self._read(lambda folder: tuple(backups(folder)), ())

    def diff(self, name: str, *, include_secret: bool = False) -> str:
        """What restoring a backup would change, in lines that people read.

        Secret records are placeholder lines, unless asked for. Newer records would stay.
        """
        with self._store.existing() as folder:
            found = [
                replaced(path, folder.read(path), data)
                for path, data in read_backup(folder, name).items()
            ]
            changes = [change for change in found if change]
            return diff_of(folder, changes, include_secret=include_secret)

    def restore(self, name: str) -> reports.RestoreReport:
        """Put the files of a backup back, byte for byte, and newer records behind; saves the current files first.

        A caller other than the user cannot bring back a lower mark, or more trust, of a record.
        """
        by_user = trust(self._channel) == "user"
        with self._store.changing() as transaction:
            folder = transaction.folder
            changes: dict[Seen, bytes | None] = {}
            appended = 0
            for path, data in read_backup(folder, name).items():
                current = look(folder, path)
                if not by_user:
                    external = self._store.config.trust.external
                    _check_marks(path, data, current.data or b"", external)
                newer = _newer_lines(folder, name, path, data, current.data or b"")
                glue = b"\n" if newer and data and not data.endswith(b"\n") else b""
                changes[current] = data + glue + b"".join(newer)
                appended += len(newer)
            saved = replace_files(self._store, transaction, changes, reason="restore")
        return reports.RestoreReport(
            backup=name,
            files=tuple(file.path for file in changes),
            replaced_saved_as=saved or "",
            appended=appended,
        )

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

    def read_note(self, path: str, *, include_secret: bool = False) -> reports.NoteFile:
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
    ) -> reports.EditReport:
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
                return reports.EditReport(path=path, version=file.version)
            new = admitted(self._store, transaction, old, new, channel)
            after = _encoded(file, old, new)
            reason = None if file.data is None else NOTES
            backup = replace_files(self._store, transaction, {file: after}, reason=reason)
        warnings = with_warnings(new, new, transaction).warnings
        return reports.EditReport(
            path=path, version=version_of(after), backup=backup, warnings=warnings
        )

    def rename_notes(self, path: str, new_path: str) -> reports.EditReport:
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
        return reports.EditReport(path=new_path, version=version)

    def delete_notes(self, path: str, *, version: str | None = None) -> reports.EditReport:
        """Delete a note, or every note in a folder; a backup keeps them, unlike `Memory.forget`."""
        check_note_path(path if path.endswith(".md") else f"{path}/x.md")
        with self._store.changing() as transaction:
            found = self._to_change(transaction.folder, path)
            if found[0].path == path:
                require_version(found[0], version)
            changes: dict[Seen, bytes | None] = dict.fromkeys(found)
            backup = replace_files(self._store, transaction, changes, reason=NOTES)
        return reports.EditReport(path=path, version="", backup=backup)

    def _to_change(self, folder: Folder, path: str) -> Sequence[Seen]:
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


def _check_marks(path: str, restored: bytes, current: bytes, external: Patterns) -> None:
    """Refuse an agent a backup in which a record has a lower mark or more trust than it has now."""
    known = {record.id: record for record in records_in(path, current)}
    for record in records_in(path, restored):
        if is_raised(known.get(record.id, record), record, external):
            raise RefusedError(
                f"In this backup {record.id} has a lower mark or more trust than now."
                " Only the user can give it that. Nothing was changed.",
                hint="Ask the user to run: memolith restore NAME",
            )


def _newer_lines(
    folder: Folder, name: str, path: str, restored: bytes, current: bytes
) -> list[bytes]:
    """The lines of records and turns that were acknowledged after the backup.

    The time of a record does not decide: it may be of the past. A record that an older backup holds was
    removed before this one was taken, as when one restore takes back another.
    """
    back = dict(_entries(path, restored))
    newer = {key: line for key, line in _entries(path, current) if key not in back}
    if newer:
        for copy in copies(folder, path, before=name):
            for key, _ in _entries(path, copy):
                newer.pop(key, None)
    ids = {short_id(key) for key in back if isinstance(key, str)}
    return [line for line in newer.values() if not _is_summary_of(line, ids)]


def _is_summary_of(line: bytes, ids: set[str]) -> bool:
    """Whether a line is a summary of nothing but these records."""
    record = readable_record(line)
    return record is not None and record.category == "compaction" and names_told(record.text) <= ids


def _entries(path: str, data: bytes) -> Iterator[tuple[str | bytes, bytes]]:
    """The key of a record or a turn in the file, and its whole line."""
    if path == layout.CONVERSATIONS:
        yield from ((line, line + b"\n") for line in data.split(b"\n") if line.strip())
    elif path.endswith(".md"):
        for line, record in Document.parse(path, data).records():
            yield record.id, line.data.rstrip(b"\r\n") + b"\n"


def _read_note(folder: Folder, path: str, *, include_secret: bool) -> reports.NoteFile:
    """The note in a file. Prose without front matter is read as a note that nobody has signed."""
    data = folder.read(path)
    record = None if data is None else _note_in(folder, path, data)
    if record is None or (record.sensitivity == "secret" and not include_secret):
        raise _no_note(path)
    return reports.NoteFile(
        record=record, version=version_of(data), modified=_modified(folder, path)
    )


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
