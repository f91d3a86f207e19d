"""A memory inside a git work tree: what git would publish of it, and how to keep it out."""

from __future__ import annotations

import os

from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.transaction import Transaction
from memolith.jobs.checks.findings import Findings, named
from memolith.jobs.checks.subject import ROOT, Subject
from memolith.reports import Check
from memolith.text.wording import counted

IGNORE_FILE = ".gitignore"
# `.memolith/` has an ignore file of its own.
PRIVATE = (
    layout.ROOT_MEMORY,
    layout.USER,
    layout.LONG_MEMORY,
    layout.DREAM_DIARY,
    f"{layout.CONVERSATIONS}*",
    f"{layout.DAILY_FOLDER}/",
)
IGNORE_LINES = "".join(f"/{pattern}\n" for pattern in PRIVATE)

_LOCK_TIMEOUT_SECONDS = 10.0
_GIT_TIMEOUT_SECONDS = 10.0


def private_files_in_git(root: str) -> tuple[list[str], list[str]]:
    """The private files that git tracks, and those it does not ignore; none without git."""
    import subprocess

    # The repository may be somebody else's: its configuration must not make git start a program.
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "-t"]
    command += ["--cached", "--others", "--exclude-standard", "--", *PRIVATE]
    try:
        listed = subprocess.run(  # noqa: S603 - arguments of our own
            command,
            cwd=root,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_TIMEOUT_SECONDS,
            check=True,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return [], []
    entries = [os.fsdecode(entry) for entry in listed.split(b"\0") if entry]
    others = [entry[2:] for entry in entries if entry.startswith("? ")]
    return sorted({entry[2:] for entry in entries} - set(others)), others


def ignore_private_files(root: str) -> None:
    """Add the private files to the `.gitignore` of this folder."""
    with Folder(root) as folder, Transaction(folder, _LOCK_TIMEOUT_SECONDS) as transaction:
        transaction.append(IGNORE_FILE, IGNORE_LINES.encode())
        transaction.commit()


def check_git(subject: Subject) -> list[Check]:
    """Whether git would publish private files; nothing is said where git is not used."""
    import shlex

    found = Findings("git", "Git")
    tracked, others = private_files_in_git(subject.root)
    if tracked:
        is_alone = any(entry.path == ROOT for entry in subject.entries)
        has_own = is_alone and os.path.exists(os.path.join(subject.root, ".git"))
        found.add(
            "info" if has_own else "warn",  # a repository of its own was made on purpose
            f"Git tracks {counted(len(tracked), 'private file')}: {named(tracked)}."
            " Everybody who gets the repository can read them.",
            f"To take them out of git and keep them here: git -C {shlex.quote(subject.root)} rm"
            f" -r --cached --ignore-unmatch {' '.join(PRIVATE)}; then: memolith init",
        )
    elif others:
        found.add(
            "info",
            f"Git does not ignore {counted(len(others), 'private file')}: {named(others)}.",
            f"Add to {IGNORE_FILE}: {' '.join(IGNORE_LINES.split())} (memolith init offers it).",
        )
    return found.found
