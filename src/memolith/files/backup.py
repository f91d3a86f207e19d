"""Byte-exact copies of files taken before a rewrite, each with its SHA-256, restorable by name."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import chain, count, takewhile

from memolith.errors import BackupDamagedError, BackupNotFoundError, MemolithError
from memolith.files import atomic_write, layout
from memolith.files.folder import Folder, our_errors
from memolith.files.record_format import RecordFormatError, encode_time, parse_json, parse_time
from memolith.reports import Backup

MANIFEST = "manifest.json"
# The reasons of backups that are made often: each counts apart, so as not to push out the others.
CHATS, NOTES = "chats", "notes"


def save_backup(folder: Folder, files: Mapping[str, bytes], *, reason: str, now: datetime) -> str:
    """Copy the given bytes into a new backup and return its name; call under the writer lock.

    The manifest is written last, so a backup that a crash cut short is not taken for one.
    """
    base = f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03d}Z-{reason}"
    names = chain([base], (f"{base}-{number}" for number in count(2)))
    name = next(name for name in names if folder.stamp(backup_path(name, MANIFEST)) is None)
    backup = Backup(
        name=name,
        created=now,
        reason=reason,
        files={path: sha256(data).hexdigest() for path, data in files.items()},
    )
    with our_errors(backup_path(name, "")):
        for path, data in files.items():
            atomic_write.write_private_file(folder, backup_path(name, path), data)
        manifest = encode_manifest(backup)
        atomic_write.write_private_file(folder, backup_path(name, MANIFEST), manifest)
    return name


def backups(folder: Folder) -> list[Backup]:
    """Every complete backup, oldest first."""
    found = []
    for path in folder.walk(layout.BACKUP_FOLDER, suffix=MANIFEST):
        name, _, rest = path.removeprefix(f"{layout.BACKUP_FOLDER}/").partition("/")
        if rest == MANIFEST and (backup := _parse_manifest(name, folder.read(path) or b"")):
            found.append(backup)
    return sorted(found, key=lambda backup: (backup.created, len(backup.name), backup.name))


def read_backup(folder: Folder, name: str) -> dict[str, bytes]:
    """The files of a backup, each checked against its SHA-256."""
    backup = next((found for found in backups(folder) if found.name == name), None)
    if backup is None:
        hint = "List them with: memolith restore"
        raise BackupNotFoundError(f"There is no backup named {name!r}.", name=name, hint=hint)
    return {
        path: _read_checked(folder, name, path, digest) for path, digest in backup.files.items()
    }


def copies(folder: Folder, path: str, before: str = "") -> list[bytes]:
    """The copies of a file in all backups, or in those taken before one; damaged ones are empty."""
    found = []
    for backup in takewhile(lambda backup: backup.name != before, backups(folder)):
        if path in backup.files:
            found.append(b"")
            with suppress(BackupDamagedError):
                found[-1] = _read_checked(folder, backup.name, path, backup.files[path])
    return found


def prune_backups(folder: Folder, keep: int, *, reason: str = "") -> None:
    """Delete the oldest backups beyond `keep`; manifests go first, so none is ever half there.

    With `reason`, those of that reason alone; otherwise all but those that are made often.
    Only housekeeping: what cannot be deleted now is tried again after the next backup.
    """
    with suppress(OSError, MemolithError):
        found = backups(folder)
        own = [
            one
            for one in found
            if (one.reason == reason if reason else one.reason not in (CHATS, NOTES))
        ]
        for backup in own[:-keep]:
            atomic_write.remove(folder, backup_path(backup.name, MANIFEST))
            for path in backup.files:
                copy = backup_path(backup.name, path)
                atomic_write.remove(folder, copy)
                while (copy := os.path.dirname(copy)) != layout.BACKUP_FOLDER:
                    atomic_write.remove_empty_folder(folder, copy)


def encode_manifest(backup: Backup) -> bytes:
    """The manifest's bytes."""
    content = {
        "version": 1,
        "created": encode_time(backup.created),
        "reason": backup.reason,
        "files": dict(backup.files),
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode() + b"\n"


def backup_path(name: str, path: str) -> str:
    """Where a backup keeps its copy of a file."""
    return f"{layout.BACKUP_FOLDER}/{name}/{path}"


def _read_checked(folder: Folder, name: str, path: str, digest: str) -> bytes:
    data = folder.read(backup_path(name, path))
    if data is None or sha256(data).hexdigest() != digest:
        raise BackupDamagedError(
            f"{path} in backup {name} does not match its SHA-256, so nothing was restored.",
            path=path,
            hint="Choose another backup: memolith restore",
        )
    return data


def _parse_manifest(name: str, data: bytes) -> Backup | None:
    with suppress(RecordFormatError):
        match parse_json(data):
            case {"created": str(created), "reason": str(reason), "files": dict(files)}:
                return Backup(
                    name=name,
                    created=parse_time(created, "created"),
                    reason=reason,
                    files={path: str(digest) for path, digest in files.items()},
                )
    return None
