"""`Memory.files`: whole files for an editor that is not on this disk, and backups."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from memolith.files import gate
from memolith.files.backup import backups
from memolith.files.folder import Folder
from memolith.jobs.edit import Edit, daily_logs, read_file, write_file
from memolith.jobs.job import index_changes
from memolith.jobs.reports import EditReport, FileText, RestoreReport
from memolith.jobs.restore import restore
from memolith.reports import Backup
from memolith.store import Store
from memolith.visibility import trust

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder


class Files:
    """The files of one memory as a whole."""

    def __init__(self, store: Store, channel: str, finder: Callable[[], Finder]) -> None:
        self._store = store
        self._channel = channel
        self._finder = finder

    def list(self) -> tuple[str, ...]:
        """The daily logs, newest first."""
        return daily_logs(self._store.profile)

    def read(self, path: str, *, include_secret: bool = False) -> FileText:
        """MEMORY.md or a daily log as a whole, to be edited; a missing file is empty.

        A placeholder line takes the place of each secret record, unless asked for.
        """
        gate.check_is_text(path=path)
        return read_file(self._store.profile, path, include_secret=include_secret)

    def write(self, path: str, content: str, version: str = "") -> EditReport:
        """Replace MEMORY.md or a daily log, which must still have the version that was read.

        Without a version it is replaced as long as no record is removed.
        The old content is saved as a backup, and placeholder lines become their secret records again.
        If a caller other than the user changes the text of a record of the user's, that text becomes
        a new version of it.
        """
        gate.check_is_text(path=path, content=content, version=version)
        edit = Edit(
            path=path,
            content=content,
            version=version,
            channel=self._channel,
            external=self._store.config.trust.external,
        )
        with self._store.writing() as transaction:
            keep = self._store.config.store.backups_kept
            report = write_file(transaction, edit, self._store.journal, keep=keep)
        behind = index_changes(self._store, self._finder)
        return replace(report, warnings=(*report.warnings, *behind))

    def backups(self) -> tuple[Backup, ...]:
        """The backups that can be restored, oldest first."""
        if not self._store.profile.exists:
            return ()
        with Folder(self._store.root) as folder:
            return tuple(backups(folder))

    def restore(self, name: str) -> RestoreReport:
        """Put the files of a backup back, byte for byte, and newer records behind; saves the current files first.

        A caller other than the user cannot bring back a lower mark, or more trust, of a record.
        """
        gate.check_is_text(name=name)
        with self._store.changing() as transaction:
            by_user = trust(self._channel) == "user"
            return restore(transaction, name, self._store, by_user=by_user)
