"""Put the files of a backup back; records written since the backup follow behind them."""

from __future__ import annotations

from collections.abc import Iterator

from memolith.errors import RefusedError
from memolith.files import gate, layout
from memolith.files.backup import copies, prune_backups, read_backup, save_backup
from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.notes import records_in
from memolith.files.transaction import Transaction
from memolith.jobs.history import kept_jobs
from memolith.jobs.reports import RestoreReport
from memolith.store import Store
from memolith.visibility import Patterns, raises_trust


def restore(
    transaction: Transaction, name: str, store: Store, *, by_user: bool = True
) -> RestoreReport:
    """Check the backup, save the current files, then replace them; all files or none."""
    folder = transaction.folder
    files = read_backup(folder, name)
    stamps = {path: folder.stamp(path) for path in files}  # before they are read
    current = {path: folder.read(path) for path in files}
    if not by_user:
        for path, data in files.items():
            _check_marks(path, data, current[path] or b"", store.config.trust.external)
    newer = {
        path: _newer_lines(folder, name, path, data, current[path] or b"")
        for path, data in files.items()
    }
    saved = save_backup(
        folder,
        {path: data for path, data in current.items() if data is not None},
        reason="restore",
        now=store.clock.now(),
    )
    for path, data in files.items():
        glue = b"\n" if newer[path] and data and not data.endswith(b"\n") else b""
        transaction.replace(path, data + glue + b"".join(newer[path]), stamps[path])
    transaction.commit()
    prune_backups(folder, store.config.store.backups_kept)
    return RestoreReport(
        backup=name,
        files=tuple(files),
        replaced_saved_as=saved,
        appended=sum(map(len, newer.values())),
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
