"""The folder: whether we may write there, whether memories are safe there, and whether each name in it is what it should be."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator

from memolith.config.load import DEFAULT, FSYNC, syncs, with_line
from memolith.files import layout
from memolith.files.folder import COPY_LINKED, LINK, REPLACE_LINK, SECOND_NAME, Folder, let_in
from memolith.files.locks import LOCK_PATH, STATE_FOLDER
from memolith.files.tail import QUARANTINE
from memolith.files.transaction import Transaction
from memolith.jobs.checks.subject import ROOT, Entry, Subject, found, named, shown
from memolith.jobs.machines import git, has_driver, remotes
from memolith.jobs.reports import Check
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

# What comes of it where we may not write. Who may write a file may not be allowed to make new ones.
_NOTHING = "nothing can be remembered"
_NO_NEW_DAY = "nothing can be remembered on a new day: its log cannot be made"
_NO_NEW_FILES = "no file can be made or replaced there: jobs, notes and corrections fail"

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


def check_profile(subject: Subject) -> Iterator[Check]:
    """Whether the folder and what we append to may be read and written."""
    root = shown(subject.root)
    if not subject.profile.exists:
        yield found("profile", "info", f"{root} does not exist yet.", "Make it: memolith init")
        return
    if not os.access(subject.root, os.R_OK | os.X_OK):
        yield found("profile", "error", f"{root} may not be read.", "Check who owns it: ls -ld")
    if os.statvfs(subject.root).f_flag & os.ST_RDONLY:
        message = f"{root} is on a read-only disk, so nothing can be remembered."
        yield found("profile", "error", message, "Mount it writable, or choose another --root.")
        return
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
            message = f"{shown(path or subject.root)} may not be written, so {so}."
            yield found("profile", "error", message, "Check owner and mode: ls -l")
    yield found("profile", "ok", root)


def check_settings(subject: Subject) -> Iterator[Check]:
    """Where the settings come from, and what of the files could not be taken."""
    for problem in subject.loaded.problems:
        yield found("settings", "error", shown(with_line(problem)), problem.hint)
    if not syncs():
        message = f"{FSYNC} is off: a power cut can lose what was acknowledged."
        yield found("settings", "warn", message, "Unset that variable: it is for tests.")
    origins = Counter(subject.loaded.origins.values())
    default = origins.pop(DEFAULT, 0)
    places = "".join(f", {number} from {shown(place)}" for place, number in origins.items())
    yield found("settings", "ok", f"{default} default{places}")


def check_starting_files(subject: Subject) -> Iterator[Check]:
    """Whether the two files that a session starts with are there."""
    wanted = (subject.config.profile.primary, layout.USER)
    for path in wanted:
        if all(entry.path != path for entry in subject.entries):
            hint = "Make it from its template: memolith init"
            yield found("files", "info", f"There is no {path} yet.", hint)
    yield found("files", "ok", " and ".join(wanted))


def check_space(subject: Subject) -> Iterator[Check]:
    """Whether the disk has room; a full one refuses every write."""
    disk = os.statvfs(subject.root)
    free = disk.f_bavail * disk.f_frsize
    if free < _LEAST_FREE_BYTES:
        yield found("space", "warn", f"Only {free / 1e6:.1f} MB are free.", "Free some space.")
    if disk.f_files and not disk.f_favail:
        yield found("space", "warn", "The disk can hold no more files.", "Delete some files.")
    yield found("space", "ok", f"{free / 1e9:.1f} GB")


def check_disk(subject: Subject) -> Iterator[Check]:
    """Whether the folder is synced or on a network: others then write without our lock."""
    real = os.path.realpath(subject.root)
    if syncer := _syncer(real):
        message = f"The profile is in a folder that {syncer} syncs: two machines may write at once."
        hint = (
            "Leave .memolith out of that. Where both wrote, this merges them: memolith doctor --fix"
        )
        yield found("place", "warn", message, hint)
    kind = file_system(real, _mounts())
    if kind in _NETWORK_SYSTEMS or kind.startswith("fuse."):
        message = (
            f"The profile is on a network file system ({shown(kind)}): locks may not hold there."
        )
        yield found("place", "warn", message, "Keep the profile on a local disk.")
    yield found("place", "ok", f"local ({shown(kind)})" if kind else "local")


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
    # The repository may be somebody else's: its configuration must not make git start a program.
    command = ["git", "-c", "core.fsmonitor=false", "ls-files", "-z", "-t"]
    command += ["--cached", "--others", "--exclude-standard", "--", *PRIVATE]
    listed = git(command, root, check=False)
    entries = [os.fsdecode(entry) for entry in listed.split(b"\0") if entry]
    others = [entry[2:] for entry in entries if entry.startswith("? ")]
    return sorted({entry[2:] for entry in entries} - set(others)), others


def ignore_private_files(root: str) -> None:
    """Add the private files to the `.gitignore` of this folder."""
    with Folder(root) as folder, Transaction(folder, _LOCK_TIMEOUT_SECONDS) as transaction:
        transaction.append(IGNORE_FILE, IGNORE_LINES.encode())
        transaction.commit()


def check_git(subject: Subject) -> Iterator[Check]:
    """Whether git would publish private files; nothing is said where git is not used."""
    in_git = has_driver(subject.root)
    if in_git is False:
        message = (
            "Git does not know here how to merge this memory: it would leave conflict marks in it."
        )
        hint = f"Once in each clone: memolith init --git {shlex.quote(subject.root)}"
        yield found("git", "warn", message, hint)
    tracked, others = private_files_in_git(subject.root)
    if in_git:  # by `memolith init --git`: its files are there on purpose
        if tracked and (names := remotes(subject.root)):
            to = f"Git can push this memory to {shown(', '.join(names))}"
            message = f"{to}: whoever can read that repository can read the memory, secret records included."
            yield found("git", "info", message)
    elif tracked:
        is_alone = any(entry.path == ROOT for entry in subject.entries)
        has_own = is_alone and os.path.exists(os.path.join(subject.root, ".git"))
        message = (
            f"Git tracks {counted(len(tracked), 'private file')}: {named(tracked)}."
            " Everybody who gets the repository can read them."
        )
        hint = (
            f"To take them out of git and keep them here: git -C {shlex.quote(subject.root)} rm"
            f" -r --cached --ignore-unmatch {' '.join(PRIVATE)}; then: memolith init"
        )
        # A repository of its own was made on purpose.
        yield found("git", "info" if has_own else "warn", message, hint)
    elif others:
        message = f"Git does not ignore {counted(len(others), 'private file')}: {named(others)}."
        hint = f"Add to {IGNORE_FILE}: {' '.join(IGNORE_LINES.split())} (memolith init offers it)."
        yield found("git", "info", message, hint)


def check_shapes(subject: Subject) -> Iterator[Check]:
    """Links, pipes, folders in the place of files: none of them is ever read or followed."""
    for entry in subject.entries:
        words, hint = _wrong(subject, entry)
        if words:
            is_needed = entry.closed or _wanted(subject, entry.path)
            message = f"{shown(entry.path)} {words}"
            yield found("shapes", "error" if is_needed else "warn", message, hint)
    yield found("shapes", "ok", counted(len(subject.entries), "name"))


def unusable(subject: Subject) -> tuple[str, ...]:
    """The paths that `check_shapes` calls errors: whatever is below them cannot be reached."""
    wrong = (entry for entry in subject.entries if _wrong(subject, entry)[0])
    return tuple(one.path for one in wrong if one.closed or _wanted(subject, one.path))


def _wanted(subject: Subject, path: str) -> str:
    """Of what kind a name must be that we cannot do without; "" if it may be any."""
    if path in (*_FILES, subject.config.trim.archive_path) or layout.is_daily_log(path):
        return "file"
    return "folder" if path in _FOLDERS else ""


def _wrong(subject: Subject, entry: Entry) -> tuple[str, str]:
    """What is wrong with a name and what to do, or nothing."""
    wanted = _wanted(subject, entry.path)
    words = hint = ""
    if entry.closed:
        words, hint = f"cannot be listed: {entry.closed}.", let_in(subject.root, entry.path)
    elif entry.kind == "link":
        words, hint = LINK, REPLACE_LINK
    elif entry.kind == "other":
        words, hint = "is neither file nor folder.", "Move it away."
    elif wanted and entry.kind != wanted:
        words = f"is a {entry.kind} where a {wanted} should be."
        hint = f"Move that {entry.kind} away."
    elif entry.names > 1:
        words, hint = SECOND_NAME, COPY_LINKED
    return words, hint


def too_open(subject: Subject) -> list[Entry]:
    """The files and folders that others than the user may read or write."""
    ours = (one for one in subject.entries if one.is_own and one.kind in ("file", "folder"))
    return [entry for entry in ours if not entry.closed and entry.mode & 0o077]


def linked_files(subject: Subject) -> list[str]:
    """The files that have a second name; those of the index are made again, not copied."""
    derived = (layout.INDEX_FOLDER, layout.EMBEDDINGS)
    return [
        one.path for one in subject.entries if one.names > 1 and not one.path.startswith(derived)
    ]


def check_modes(subject: Subject) -> Iterator[Check]:
    """Whether only the user may read the memory: folders 0700, files 0600."""
    wide = [
        f"{'the folder itself' if entry.path == ROOT else entry.path} ({entry.mode:04o})"
        for entry in too_open(subject)
    ]
    if wide:
        message = f"Other users of this machine may open {named(wide)}."
        yield found("modes", "warn", message, "Make them private: memolith doctor --fix")
    yield found("modes", "ok", "only you can open it")


def check_conflicts(subject: Subject) -> Iterator[Check]:
    """Versions a sync tool could not merge: their records may be nowhere else."""
    for entry in subject.entries:
        if entry.is_conflict:
            message = f"{shown(entry.path)} was left by a sync or merge tool and is not read."
            hint = "Bring what only it has into the real file: memolith doctor --fix"
            yield found("conflicts", "warn", message, hint)
    yield found("conflicts", "ok", "none")
