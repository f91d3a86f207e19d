"""The folder: whether we may write there, whether memories are safe there, and whether each name in it is what it should be."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from memolith.config.load import DEFAULT, FSYNC, syncs, with_line
from memolith.files import layout
from memolith.files.folder import COPY_LINKED, LINK, REPLACE_LINK, SECOND_NAME, Folder, let_in
from memolith.files.locks import LOCK_PATH, STATE_FOLDER
from memolith.files.tail import QUARANTINE
from memolith.files.transaction import Transaction
from memolith.jobs.checks.subject import ROOT, Entry, Findings, Kind, Subject, named, shown
from memolith.jobs.reports import Check, CheckStatus
from memolith.text.wording import counted

_LEAST_FREE_BYTES = 100_000_000
_SYNCED_FOLDERS = ("dropbox", "onedrive", "icloud", "mobile documents", "google drive", "nextcloud")
_SYNC_MARKS = {
    ".stfolder": "Syncthing",
    ".dropbox.cache": "Dropbox",
    ".owncloudsync.log": "ownCloud",
}
_NETWORK_SYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "afs")

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

# What comes of it where we may not write. Who may write a file may not be allowed to make new ones.
_NOTHING = "nothing can be remembered"
_NO_NEW_DAY = "nothing can be remembered on a new day: its log cannot be made"
_NO_NEW_FILES = "no file can be made or replaced there: jobs, notes and corrections fail"


def check_profile(subject: Subject) -> list[Check]:
    """Whether the folder and what we append to may be read and written."""
    found = Findings("profile", "Profile folder")
    if not subject.profile.exists:
        found.add("info", f"{shown(subject.root)} does not exist yet.", "Make it: memolith init")
        return found.checks("")
    if not os.access(subject.root, os.R_OK | os.X_OK):
        found.add("error", f"{shown(subject.root)} may not be read.", "Check who owns it: ls -ld")
    if os.statvfs(subject.root).f_flag & os.ST_RDONLY:
        found.add(
            "error",
            f"{shown(subject.root)} is on a read-only disk, so nothing can be remembered.",
            "Mount it writable, or choose another --root.",
        )
        return found.checks("")
    places = {
        "": _NO_NEW_FILES,
        layout.DAILY_FOLDER: _NO_NEW_DAY,
        STATE_FOLDER: _NO_NEW_FILES,
        subject.config.profile.primary: _NOTHING,
        LOCK_PATH: _NOTHING,
    }
    for path, so in places.items():
        whole = os.path.join(subject.root, path)
        if os.path.exists(whole) and not os.access(whole, os.W_OK):
            found.add(
                "error",
                f"{shown(path or subject.root)} may not be written, so {so}.",
                "Check owner and mode: ls -l",
            )
    return found.checks(shown(subject.root))


def check_settings(subject: Subject) -> list[Check]:
    """Where the settings come from, and what of the files could not be taken."""
    found = Findings("settings", "Settings")
    for problem in subject.loaded.problems:
        found.add("error", shown(with_line(problem)), problem.hint)
    if not syncs():
        found.add(
            "warn",
            f"{FSYNC} is off: a power cut can lose what was acknowledged.",
            "Unset that variable: it is for tests.",
        )
    origins = Counter(subject.loaded.origins.values())
    default = origins.pop(DEFAULT, 0)
    places = "".join(f", {number} from {shown(place)}" for place, number in origins.items())
    return found.checks(f"{default} default{places}")


def check_starting_files(subject: Subject) -> list[Check]:
    """Whether the two files that a session starts with are there."""
    found = Findings("files", "First files")
    there = {entry.path for entry in subject.entries}
    primary = subject.config.profile.primary
    for path in (primary, layout.USER):
        if path not in there:
            found.add(
                "info", f"There is no {path} yet.", "Make it from its template: memolith init"
            )
    return found.checks(f"{primary} and {layout.USER}")


def check_space(subject: Subject) -> list[Check]:
    """Whether the disk has room; a full one refuses every write."""
    found = Findings("space", "Free space")
    disk = os.statvfs(subject.root)
    free = disk.f_bavail * disk.f_frsize
    if free < _LEAST_FREE_BYTES:
        found.add("warn", f"Only {free / 1e6:.1f} MB are free.", "Free some space.")
    if disk.f_files and not disk.f_favail:
        found.add("warn", "The disk can hold no more files.", "Delete some files.")
    return found.checks(f"{free / 1e9:.1f} GB")


def check_disk(subject: Subject) -> list[Check]:
    """Whether the folder is synced or on a network: others then write without our lock."""
    found = Findings("place", "Kind of disk")
    real = os.path.realpath(subject.root)
    syncer = _syncer(real)
    if syncer:
        found.add(
            "warn",
            f"The profile is in a folder that {syncer} syncs: two machines may write at once.",
            "Leave .memolith out of that. Where both wrote, this merges them: memolith doctor --fix",
        )
    kind = file_system(real, _mounts())
    if kind in _NETWORK_SYSTEMS or kind.startswith("fuse."):
        found.add(
            "warn",
            f"The profile is on a network file system ({shown(kind)}): locks may not hold there.",
            "Keep the profile on a local disk.",
        )
    return found.checks(f"local ({shown(kind)})" if kind else "local")


def _syncer(path: str) -> str:
    """Who syncs the folder, as far as its name or a mark in a folder above tells; "" for nobody."""
    while path != os.path.dirname(path):
        name = os.path.basename(path)
        if name.lower().startswith(_SYNCED_FOLDERS):
            return shown(name)
        for mark, syncer in _SYNC_MARKS.items():
            if os.path.exists(os.path.join(path, mark)):
                return syncer
        path = os.path.dirname(path)
    return ""


def _mounts() -> bytes:
    try:
        with open("/proc/mounts", "rb") as file:
            return file.read()
    except OSError:  # not Linux
        return b""


def file_system(path: str, mounts: bytes) -> str:
    """The type of the file system that holds a folder; "" where the kernel's list does not tell."""
    best, kind = b"", b""
    for line in mounts.split(b"\n"):
        mount = line.split(b" ")
        if len(mount) < 3:
            continue
        # The kernel writes a space in a name as \040.
        point = mount[1].decode("unicode_escape").encode("latin-1").rstrip(b"/") + b"/"
        # Of two mounts on the same point, the later one is what we see.
        if (os.fsencode(path) + b"/").startswith(point) and len(point) >= len(best):
            best, kind = point, mount[2]
    return kind.decode("ascii", "replace")


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

    from memolith.jobs.machines import has_driver, remotes

    found = Findings("git", "Git")
    in_git = has_driver(subject.root)
    if in_git is False:
        found.add(
            "warn",
            "Git does not know here how to merge this memory: it would leave conflict marks in it.",
            f"Once in each clone: memolith init --git {shlex.quote(subject.root)}",
        )
    tracked, others = private_files_in_git(subject.root)
    if in_git:  # by `memolith init --git`: its files are there on purpose
        if tracked and (names := remotes(subject.root)):
            found.add(
                "info",
                f"Git can push this memory to {shown(', '.join(names))}: whoever can read that"
                " repository can read the memory, secret records included.",
            )
    elif tracked:
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
