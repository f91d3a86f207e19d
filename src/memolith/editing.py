"""Files as a whole: for those who show and edit them elsewhere than on this disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.files import gate
from memolith.store import Store

if TYPE_CHECKING:
    from memolith.reports import EditReport, FileText


class EditableStore(Store):
    """The store, with whole files to read and to replace."""

    def logs(self) -> tuple[str, ...]:
        """The daily logs there are, newest first."""
        from memolith.jobs.edit import daily_logs

        return daily_logs(self.profile)

    def read_file(self, path: str, *, include_secret: bool = False) -> FileText:
        """MEMORY.md or a daily log as a whole, to be edited; a missing file is empty.

        A line stands for each secret record, unless asked for.
        """
        from memolith.jobs.edit import read_file

        gate.check_is_text(path=path)
        return read_file(self.profile, path, include_secret=include_secret)

    def write_file(self, path: str, content: str, version: str) -> EditReport:
        """Replace MEMORY.md or a daily log, which must still have the version that was read.

        What stood there is saved as a backup, and lines that stand for secret records become those
        records again.
        """
        from memolith.jobs.edit import Edit, write_file

        gate.check_is_text(path=path, content=content, version=version)
        store = self.config.store
        edit = Edit(
            path=path,
            content=content,
            version=version,
            by_user=self._by_user,
            max_record_bytes=store.max_record_bytes,
        )
        with self._writing() as transaction:
            now = self._clock.now()
            return write_file(transaction, edit, now=now, keep=store.backups_kept)
