"""`Memory.files`: whole files for an editor that is not on this disk, and backups, which can be put back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from memolith.errors import RefusedError
from memolith.files import gate, layout
from memolith.files.backup import backups, copies, read_backup
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import memory_files, names_told
from memolith.files.notes import records_in
from memolith.files.record_format import readable_record
from memolith.jobs import reports
from memolith.jobs.changes import replaced
from memolith.jobs.diffs import diff_of
from memolith.jobs.edit import check_path, daily_logs, is_editable, read_file, write_file
from memolith.jobs.job import index_changes
from memolith.jobs.note_files import Notes
from memolith.jobs.replace import Seen, is_raised, look, replace_files
from memolith.jobs.timeline import days, one_day
from memolith.reports import Backup
from memolith.search.filters import as_day
from memolith.store import Store
from memolith.text.lines import short_id
from memolith.visibility import Patterns, trust

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder


@gate.checks_types
class Files(Notes):
    """The files of one memory: as a whole, as notes, and as they were in backups."""

    def __init__(self, store: Store, channel: str, finder: Callable[[], Finder]) -> None:
        super().__init__(store, channel)
        self._finder = finder

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

        A line stands for each secret record, unless asked for. Newer records would stay.
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

    The time of a record does not tell: it may be of the past. A record that an older backup holds was
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
    """What stands for a record or a turn in the file, and its whole line."""
    if path == layout.CONVERSATIONS:
        yield from ((line, line + b"\n") for line in data.split(b"\n") if line.strip())
    elif path.endswith(".md"):
        for line, record in Document.parse(path, data).records():
            yield record.id, line.data.rstrip(b"\r\n") + b"\n"
