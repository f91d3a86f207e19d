"""The writer lock and what writers leave behind: intents, staged files, quarantine, backups."""

from __future__ import annotations

import fcntl
import os
import re
from hashlib import sha256

from memolith.clock import boot_id
from memolith.errors import MemolithError
from memolith.files.atomic_write import STAGING
from memolith.files.backup import MANIFEST, backup_path, backups
from memolith.files.folder import Folder, storage_error
from memolith.files.layout import BACKUP_FOLDER
from memolith.files.locks import LOCK_PATH
from memolith.files.steps import LockState
from memolith.files.tail import QUARANTINE
from memolith.jobs.checks.subject import Findings, Subject, named, number_of, shown
from memolith.jobs.reports import Check
from memolith.reports import Backup
from memolith.text.wording import counted

_PID = re.compile(rb'"pid": (\d+)')


def check_lock(subject: Subject) -> list[Check]:
    """Whether locks work here, who is writing, and whether a killed writer left work behind."""
    found = Findings("lock", "Writer lock")
    with Folder(subject.root) as folder:
        try:
            handle, _ = folder.open(LOCK_PATH)
        except FileNotFoundError:
            found.add("info", "Nothing was written yet, so there is no lock.")
            return found.checks("")
        except OSError as error:
            raise storage_error(error, LOCK_PATH) from error
        with open(handle, "rb", buffering=0) as file:
            held = _try_lock(file.fileno(), found)
            _look_at_intent(file.read(), found, held=held)
    return found.checks("locks work here, and nobody is writing")


def _try_lock(handle: int, found: Findings) -> bool:
    """Whether a writer holds the lock; a shared lock for a moment harms nobody."""
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        fcntl.flock(handle, fcntl.LOCK_UN)
    except BlockingIOError:
        return True
    except OSError as error:
        found.add(
            "error",
            f"This file system has no working file locks ({error.strerror}), so nothing is written.",
            "Keep the profile on a local disk, or mount the share with locking.",
        )
    return False


def _look_at_intent(data: bytes, found: Findings, *, held: bool) -> None:
    try:
        state = LockState.decode(data)
    except (ValueError, KeyError, TypeError, AttributeError):
        found.add(
            "error",
            f"{LOCK_PATH} was written by a version of Memolith that this one does not know.",
            "Use the newer Memolith.",
        )
        return
    if held:
        pid = _PID.search(data)
        last = f" (last one known: process {int(pid[1])})" if pid else ""
        found.add("info", f"Somebody is writing right now{last}.")
    elif state.steps and state.boot == boot_id():
        found.add(
            "warn",
            f"A writer was killed; {counted(len(state.steps), 'step')} of its work wait to be finished.",
            "The next write finishes them, or: memolith doctor --fix",
        )
    elif state.steps:
        found.add("info", "A writer was cut off by a restart; nothing acknowledged was lost.")


def staged_files(subject: Subject) -> list[str]:
    """Files that wait to be renamed into place; without a writer, they are left-overs."""
    return [
        entry.path
        for entry in subject.entries
        if entry.kind == "file" and entry.path.startswith(f"{STAGING}/")
    ]


def check_staging(subject: Subject) -> list[Check]:
    """Whether killed writers left half-made files behind."""
    found = Findings("staging", "Left-over files")
    staged = staged_files(subject)
    if staged:
        found.add(
            "info",
            f"{counted(len(staged), 'file')} in {STAGING}, from a writer at work or a killed one.",
            "Remove what is left over: memolith doctor --fix",
        )
    return found.checks("none")


def check_quarantine(subject: Subject) -> list[Check]:
    """Whether torn lines were set aside."""
    found = Findings("quarantine", "Quarantine")
    aside = [
        os.path.basename(entry.path)
        for entry in subject.entries
        if entry.kind == "file" and entry.path.startswith(f"{QUARANTINE}/")
    ]
    if aside:
        found.add(
            "warn",
            f"{counted(len(aside), 'torn line')} in {QUARANTINE}: {named(aside)}.",
            "A crash left it, and no record in it was acknowledged. If it holds words of yours, put them"
            " back; then delete the file.",
        )
    return found.checks("empty")


def check_backups(subject: Subject) -> list[Check]:
    """Whether each backup is whole: every file against its SHA-256."""
    found = Findings("backups", "Backups")
    with Folder(subject.root) as folder:
        known = backups(folder)
    for backup in known:
        for path in _damaged_files(subject, backup):
            found.add(
                "error",
                f"{shown(path)} in backup {shown(backup.name)} does not match its SHA-256.",
                "It will not be restored; the other backups are not concerned.",
            )
    whole = {backup.name for backup in known}
    for entry in subject.entries:
        name, _, rest = entry.path.removeprefix(f"{BACKUP_FOLDER}/").partition("/")
        if entry.path.startswith(BACKUP_FOLDER) and rest == MANIFEST and name not in whole:
            message = f"Backup {shown(name)} has a manifest that cannot be read."
            found.add("error", message, "Its files can still be copied by hand.")
    return found.checks(number_of(len(known), "backup"))


def _damaged_files(subject: Subject, backup: Backup) -> list[str]:
    damaged = []
    for path, expected in backup.files.items():
        try:
            data = subject.read(backup_path(backup.name, path))
        except MemolithError:
            data = None
        if data is None or sha256(data).hexdigest() != expected:
            damaged.append(path)
    return damaged
