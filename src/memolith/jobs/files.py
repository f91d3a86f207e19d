"""`Memory.files`: whole files for an editor that is not on this disk, and backups, which can be put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from memolith.errors import RefusedError
from memolith.files import gate, layout
from memolith.files.backup import backups, copies, read_backup
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import memory_files
from memolith.files.notes import records_in
from memolith.files.passages import ledger_for
from memolith.jobs import note_files, reports
from memolith.jobs.changes import replaced
from memolith.jobs.diffs import changed_lines, diff
from memolith.jobs.edit import check_path, daily_logs, is_editable, read_file, write_file
from memolith.jobs.history import kept_jobs
from memolith.jobs.job import index_changes
from memolith.jobs.replace import Seen, look, replace_files
from memolith.jobs.timeline import days, one_day
from memolith.reports import Backup
from memolith.search.filters import as_day
from memolith.store import Store
from memolith.visibility import Patterns, raises_trust, trust

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder

T = TypeVar("T")


class Files:
    """The files of one memory as a whole."""

    def __init__(self, store: Store, channel: str, finder: Callable[[], Finder]) -> None:
        self._store = store
        self._channel = channel
        self._finder = finder

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
        gate.check_is_text(path=path)
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
        gate.check_is_text(path=path, content=content, version=version)
        check_path(path, self._store.journal.primary)
        report = write_file(self._store, self._channel, path, content, version)
        behind = index_changes(self._store, self._finder)
        return replace(report, warnings=(*report.warnings, *behind))

    def notes(self, folder: str = "memory", *, include_secret: bool = False) -> tuple[str, ...]:
        """The paths of the notes in a folder and in its folders, sorted; prose counts as a note."""
        gate.check_is_text(folder=folder)
        return self._read(
            lambda opened: note_files.note_paths(opened, folder, include_secret=include_secret), ()
        )

    def read_note(self, path: str, *, include_secret: bool = False) -> reports.NoteFile:
        """A note by its path, with the version that a change must name."""
        with self._store.existing() as folder:
            return note_files.read_note(folder, path, include_secret=include_secret)

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
        gate.check_is_text(path=path, text=text)
        gate.check_is_text_or_none(version=version)
        gate.check_metadata(metadata)
        return note_files.write_note(self._store, self._channel, path, text, version, metadata)

    def rename_notes(self, path: str, new_path: str) -> reports.EditReport:
        """Give a note, or every note in a folder, another path, which must be free."""
        gate.check_is_text(path=path, new_path=new_path)
        return note_files.rename_notes(self._store, path, new_path, self._channel)

    def delete_notes(self, path: str, *, version: str | None = None) -> reports.EditReport:
        """Delete a note, or every note in a folder; a backup keeps them, unlike `Memory.forget`."""
        gate.check_is_text(path=path)
        gate.check_is_text_or_none(version=version)
        return note_files.delete_notes(self._store, path, version, self._channel)

    def backups(self) -> tuple[Backup, ...]:
        """The backups that can be restored, oldest first."""
        return self._read(lambda folder: tuple(backups(folder)), ())

    def diff(self, name: str, *, include_secret: bool = False) -> str:
        """What restoring a backup would change, in lines that people read.

        A line stands for each secret record, unless asked for. Newer records would stay.
        """
        gate.check_is_text(name=name)
        with self._store.existing() as folder:
            found = [
                replaced(path, folder.read(path), data)
                for path, data in read_backup(folder, name).items()
            ]
            changes = [change for change in found if change]
            ledger = ledger_for(folder, changed_lines(changes).lines)
            return "\n".join(diff(changes, include_secret=include_secret, ledger=ledger))

    def restore(self, name: str) -> reports.RestoreReport:
        """Put the files of a backup back, byte for byte, and newer records behind; saves the current files first.

        A caller other than the user cannot bring back a lower mark, or more trust, of a record.
        """
        gate.check_is_text(name=name)
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


def _check_marks(path: str, restored: bytes, current: bytes, external: Patterns) -> None:
    """Refuse an agent a backup in which a record has a lower mark or more trust than it has now."""
    known = {record.id: record for record in records_in(path, current)}
    for record in records_in(path, restored):
        now = known.get(record.id, record)
        mark = gate.mark_after(now, record.sensitivity, by_user=False)
        channels = record.provenance.channel, now.provenance.channel
        if mark != record.sensitivity or raises_trust(*channels, external):
            raise RefusedError(
                f"In this backup {record.id} has a lower mark or more trust than now."
                " Only the user can give it that. Nothing was changed.",
                hint="Ask the user to run: memolith restore NAME",
            )


def _newer_lines(
    folder: Folder, name: str, path: str, restored: bytes, current: bytes
) -> list[bytes]:
    """The lines of records and turns that were acknowledged after the backup.

    The time of a record does not tell: it may be of the past. A record that an older backup holds was
    removed before this one was taken, as when one restore takes back another.
    """
    back = dict(_entries(path, restored))
    newer = {key: line for key, line in _entries(path, current) if key not in back}
    if newer:
        for copy in copies(folder, path, before=name):
            for key, _ in _entries(path, copy):
                newer.pop(key, None)
    for key in _written_by_jobs(folder, path, set(back)):
        newer.pop(key, None)
    return list(newer.values())


def _entries(path: str, data: bytes) -> Iterator[tuple[str | bytes, bytes]]:
    """What stands for a record or a turn in the file, and its whole line."""
    if path == layout.CONVERSATIONS:
        yield from ((line, line + b"\n") for line in data.split(b"\n") if line.strip())
    elif path.endswith(".md"):
        for line, record in Document.parse(path, data).records():
            yield record.id, line.data.rstrip(b"\r\n") + b"\n"


def _written_by_jobs(folder: Folder, path: str, back: set[str | bytes]) -> Iterator[str | bytes]:
    """The records that jobs made of others, where all of these come back: summaries of them go."""
    for job in kept_jobs(folder):
        for change in job.changes:
            if job.status != "done" or change.path != path:
                continue
            removed = {key for hunk in change.hunks for key, _ in _entries(path, hunk.removed)}
            if removed <= back:
                for hunk in change.hunks:
                    yield from (key for key, _ in _entries(path, hunk.inserted))
