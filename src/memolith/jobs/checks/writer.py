"""The writer lock and what writers leave behind: intents, staged files, quarantine, backups."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
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
from memolith.jobs.checks.subject import Subject, found, named, number_of, shown
from memolith.jobs.reports import Check
from memolith.text.wording import counted

_PID = re.compile(rb'"pid": (\d+)')


def check_lock(subject: Subject) -> Iterator[Check]:
    """Whether locks work here, who is writing, and whether a killed writer left work behind."""
    with Folder(subject.root) as folder:
        try:
            handle, _ = folder.open(LOCK_PATH)
        except FileNotFoundError:
            yield found("lock", "info", "Nothing was written yet, so there is no lock.")
            return
        except OSError as error:
            raise storage_error(error, LOCK_PATH) from error
        with open(handle, "rb", buffering=0) as file:
            is_held = False
            try:  # a shared lock for a moment harms nobody
                fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
                fcntl.flock(file.fileno(), fcntl.LOCK_UN)
            except BlockingIOError:
                is_held = True
            except OSError as error:
                message = f"This file system has no working file locks ({error.strerror}), so nothing is written."
                hint = "Keep the profile on a local disk, or mount the share with locking."
                yield found("lock", "error", message, hint)
            yield from _look_at_intent(file.read(), is_held=is_held)


def _look_at_intent(data: bytes, *, is_held: bool) -> Iterator[Check]:
    try:
        state = LockState.decode(data)
    except (ValueError, KeyError, TypeError, AttributeError):
        message = f"{LOCK_PATH} was written by a version of Memolith that this one does not know."
        yield found("lock", "error", message, "Use the newer Memolith.")
        return
    if is_held:
        pid = _PID.search(data)
        last = f" (last one known: process {int(pid[1])})" if pid else ""
        yield found("lock", "info", f"Somebody is writing right now{last}.")
    elif state.steps and state.boot == boot_id():
        steps = counted(len(state.steps), "step")
        message = f"A writer was killed; {steps} of its work wait to be finished."
        hint = "The next write finishes them, or: memolith doctor --fix"
        yield found("lock", "warn", message, hint)
    elif state.steps:
        message = "A writer was cut off by a restart; nothing acknowledged was lost."
        yield found("lock", "info", message)
    yield found("lock", "ok", "locks work here, and nobody is writing")


def check_staging(subject: Subject) -> Iterator[Check]:
    """Whether killed writers left half-made files behind."""
    if staged := subject.files_in(STAGING):
        message = (
            f"{counted(len(staged), 'file')} in {STAGING}, from a writer at work or a killed one."
        )
        yield found("staging", "info", message, "Remove what is left over: memolith doctor --fix")
    yield found("staging", "ok", "none")


def check_quarantine(subject: Subject) -> Iterator[Check]:
    """Whether torn lines were set aside."""
    if aside := [os.path.basename(path) for path in subject.files_in(QUARANTINE)]:
        message = f"{counted(len(aside), 'torn line')} in {QUARANTINE}: {named(aside)}."
        hint = (
            "A crash left it, and no record in it was acknowledged. If it holds words of yours, put them"
            " back; then delete the file."
        )
        yield found("quarantine", "warn", message, hint)
    yield found("quarantine", "ok", "empty")


def check_backups(subject: Subject) -> Iterator[Check]:
    """Whether each backup is whole: every file against its SHA-256."""
    with Folder(subject.root) as folder:
        known = backups(folder)
    for backup in known:
        for path, expected in backup.files.items():
            try:
                data = subject.read(backup_path(backup.name, path))
            except MemolithError:
                data = None
            if data is None or sha256(data).hexdigest() != expected:
                message = (
                    f"{shown(path)} in backup {shown(backup.name)} does not match its SHA-256."
                )
                hint = "It will not be restored; the other backups are not concerned."
                yield found("backups", "error", message, hint)
    whole = {backup.name for backup in known}
    for path in subject.files_in(BACKUP_FOLDER):
        name, _, rest = path.removeprefix(f"{BACKUP_FOLDER}/").partition("/")
        if rest == MANIFEST and name not in whole:
            message = f"Backup {shown(name)} has a manifest that cannot be read."
            yield found("backups", "error", message, "Its files can still be copied by hand.")
    yield found("backups", "ok", number_of(len(known), "backup"))
