"""Memolith's own export: the folder of a memory without lock, index and backups; and how it comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from memolith.config.load import parse_toml
from memolith.config.sections import SETTINGS
from memolith.errors import RefusedError
from memolith.files import atomic_write, layout
from memolith.files.chat_log import ARCHIVE
from memolith.files.folder import Folder
from memolith.files.ledger import archives_elsewhere
from memolith.importers import items
from memolith.importers.items import File, Item, Skip
from memolith.importers.opening import Source
from memolith.store import Store
from memolith.types import Plain, Progress

_OTHERS = (
    layout.CONVERSATIONS, layout.SETTINGS, ARCHIVE, layout.TOMBSTONES, layout.ARCHIVES,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport(Plain):
    """What was written, and where."""

    path: str
    files: int
    records: int
    secret: int  # of them


def export(store: Store, target: str, progress: Progress | None = None) -> ExportReport:
    """Write every file of this memory to a new folder, which is a memory again; nobody writes meanwhile."""
    if os.path.exists(target) and not (os.path.isdir(target) and not os.listdir(target)):
        hint = "Name a folder that is empty, or not there yet."
        raise RefusedError(f"{target} is not an empty folder. Nothing was written.", hint=hint)
    with store.changing() as transaction, Folder(target, create=True) as folder:
        names = _files(transaction.folder)
        for number, name in enumerate(names, start=1):
            atomic_write.make_folders(folder, name)
            data = transaction.folder.read(name) or b""
            atomic_write.write_private_file(folder, name, data)
            if progress is not None:
                progress(number, len(names))
        kept = store.records(include_secret=True, include_past=True)
    secret = sum(record.sensitivity == "secret" for record in kept)
    return ExportReport(path=folder.root, files=len(names), records=len(kept), secret=secret)


def _files(folder: Folder) -> list[str]:
    found = [*folder.walk(deep=False), *folder.walk(layout.DAILY_FOLDER, suffix="", hidden=True)]
    found += folder.walk(layout.ARCHIVE_FOLDER, suffix="", hidden=True)
    found += archives_elsewhere(folder)
    found += [name for name in _OTHERS if folder.stamp(name) is not None]
    return list(dict.fromkeys(found))


def read(source: Source) -> Iterator[Item]:
    """Whole files where this memory has none; of the others what is missing here."""
    with Folder(source.path) as folder:
        names = _files(folder)
    for name in source.expect(sorted(names, key=lambda name: (name != layout.ROOT_MEMORY, name))):
        data = source.read(name) or b""
        if name == layout.SETTINGS:
            for value in items.settings("memolith", parse_toml(source.path, data)):
                known = SETTINGS.get(value.name)
                is_of_machine = known is not None and known.trusted_only
                yield Skip("settings", "setting for one machine alone") if is_of_machine else value
        else:
            yield File(name, data)
