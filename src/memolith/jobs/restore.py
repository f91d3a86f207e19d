"""Put the files of a backup back, byte for byte."""

from __future__ import annotations

from memolith.files.backup import prune_backups, read_backup, save_backup
from memolith.reports import RestoreReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from memolith.files.transaction import Transaction


def restore(transaction: Transaction, name: str, *, now: datetime, keep: int) -> RestoreReport:
    """Check the backup, save what stands there now, then replace; all files or none."""
    folder = transaction.folder
    files = read_backup(folder, name)
    stamps = {path: folder.stamp(path) for path in files}  # before they are read
    standing = {path: folder.read(path) for path in files}
    saved = save_backup(
        folder,
        {path: data for path, data in standing.items() if data is not None},
        reason="restore",
        now=now,
    )
    for path, data in files.items():
        transaction.replace(path, data, stamps[path])
    transaction.commit()
    prune_backups(folder, keep)
    return RestoreReport(backup=name, files=tuple(files), replaced_saved_as=saved)
