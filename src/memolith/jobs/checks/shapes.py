"""Names in the folder that are not what they should be: links, folders for files, open modes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from memolith.files import layout
from memolith.files.folder import COPY_LINKED, LINK, REPLACE_LINK, SECOND_NAME, let_in
from memolith.files.locks import LOCK_PATH, STATE_FOLDER
from memolith.files.tail import QUARANTINE
from memolith.jobs.checks.findings import Findings, named, shown
from memolith.jobs.checks.subject import ROOT, Entry, Kind, Subject
from memolith.jobs.reports import Check, CheckStatus
from memolith.text.wording import counted

_FOLDERS = (
    layout.DAILY_FOLDER,
    STATE_FOLDER,
    layout.ARCHIVE_FOLDER,
    layout.BACKUP_FOLDER,
    QUARANTINE,
)
_FILES = (
    layout.ROOT_MEMORY,
    layout.NESTED_MEMORY,
    layout.USER,
    layout.CONVERSATIONS,
    layout.TOMBSTONES,
    LOCK_PATH,
)
_WIDER_THAN_OURS = 0o077


def check_shapes(subject: Subject) -> list[Check]:
    """Links, pipes, folders in the place of files: none of them is ever read or followed."""
    found = Findings("shapes", "Ordinary files")
    for wrong in _wrong(subject):
        status: CheckStatus = "error" if wrong.is_needed else "warn"
        found.add(status, f"{shown(wrong.path)} {wrong.words}", wrong.hint)
    return found.checks(counted(len(subject.entries), "name"))


def unusable(subject: Subject) -> tuple[str, ...]:
    """The paths that `check_shapes` calls errors: whatever stands below them cannot be reached."""
    return tuple(wrong.path for wrong in _wrong(subject) if wrong.is_needed)


@dataclass(frozen=True, slots=True)
class _Wrong:
    """A name that is not what it should be: what is wrong, and what to do."""

    path: str
    words: str
    hint: str
    is_needed: bool  # we cannot do without what should be there


def _wrong(subject: Subject) -> Iterator[_Wrong]:
    files = (*_FILES, subject.config.trim.archive_path)
    for entry in subject.entries:
        wanted: Kind | None = None
        if entry.path in files or layout.is_daily_log(entry.path):
            wanted = "file"
        elif entry.path in _FOLDERS:
            wanted = "folder"
        words, hint = _problem(entry, wanted)
        if entry.closed:
            words, hint = f"cannot be listed: {entry.closed}.", let_in(subject.root, entry.path)
        if words:
            yield _Wrong(entry.path, words, hint, bool(entry.closed or wanted))


def _problem(entry: Entry, wanted: Kind | None) -> tuple[str, str]:
    """What is wrong with it and what to do, or nothing."""
    words = hint = ""
    if entry.kind == "link":
        words, hint = LINK, REPLACE_LINK
    elif entry.kind == "other":
        words, hint = "is neither file nor folder.", "Move it away."
    elif entry.kind == "folder" and wanted == "file":
        words, hint = "is a folder where a file should be.", "Move that folder away."
    elif entry.kind == "file" and wanted == "folder":
        words, hint = "is a file where a folder should be.", "Move that file away."
    elif entry.names > 1:
        words, hint = SECOND_NAME, COPY_LINKED
    return words, hint


def too_open(subject: Subject) -> list[Entry]:
    """The files and folders that others than the user may read or write."""
    return [
        entry
        for entry in subject.entries
        if entry.is_own
        and entry.kind in ("file", "folder")
        and not entry.closed
        and entry.mode & _WIDER_THAN_OURS
    ]


def linked_files(subject: Subject) -> list[str]:
    """The files that have a second name; those of the index are made again, not copied."""
    return [
        entry.path
        for entry in subject.entries
        if entry.names > 1 and not entry.path.startswith((layout.INDEX_FOLDER, layout.EMBEDDINGS))
    ]


def check_modes(subject: Subject) -> list[Check]:
    """Whether only the user may read the memory: folders 0700, files 0600."""
    found = Findings("modes", "Private to you")
    wide = [
        f"{'the folder itself' if entry.path == ROOT else entry.path} ({entry.mode:04o})"
        for entry in too_open(subject)
    ]
    if wide:
        found.add(
            "warn",
            f"Other users of this machine may open {named(wide)}.",
            "Make them private: memolith doctor --fix",
        )
    return found.checks("only you can open it")


def check_conflicts(subject: Subject) -> list[Check]:
    """Versions a sync tool could not merge: their records may be nowhere else."""
    found = Findings("conflicts", "Sync conflicts")
    for entry in subject.entries:
        if entry.is_conflict:
            found.add(
                "warn",
                f"{shown(entry.path)} was left by a sync or merge tool and is not read.",
                "Bring what only it has into the real file: memolith doctor --fix",
            )
    return found.checks("none")
