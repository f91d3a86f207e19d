"""The folder: whether we may write there, whether memories are safe there, and whether each name in it is what it should be."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from collections.abc import Iterator

from memolith.config.load import DEFAULT, FSYNC, syncs
from memolith.config.sections import StoreConfig
from memolith.files import layout
from memolith.files.folder import COPY_LINKED, LINK, REPLACE_LINK, SECOND_NAME, let_in
from memolith.files.locks import LOCK_PATH, STATE_FOLDER
from memolith.files.tail import QUARANTINE
from memolith.jobs.checks.subject import ROOT, Entry, Subject, found, refused
from memolith.jobs.machines import add_lines, git, has_driver, remotes
from memolith.jobs.reports import Check

_LEAST_FREE_BYTES = 100_000_000
_SYNCED_FOLDERS = (
    "dropbox", "google drive", "icloud", "mobile documents", "nextcloud", "onedrive", "owncloud",
)  # fmt: skip
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

# What we cannot do without, besides the files that `layout.is_file_of_ours` names.
_FOLDERS = (
    layout.DAILY_FOLDER,
    STATE_FOLDER,
    layout.ARCHIVE_FOLDER,
    layout.BACKUP_FOLDER,
    QUARANTINE,
)
_FILES = (layout.TOMBSTONES, LOCK_PATH)


def check_profile(subject: Subject) -> Iterator[Check]:
    """Whether the folder and what we append to may be read and written."""
    root = subject.root
    if not subject.store.profile.exists:
        yield found("profile.missing", root=root)
        return
    if not os.access(root, os.R_OK | os.X_OK):
        yield found("profile.unreadable", root=root)
    if os.statvfs(root).f_flag & os.ST_RDONLY:
        yield found("profile.read-only", root=root)
        return
    places = ("", layout.DAILY_FOLDER, STATE_FOLDER, subject.config.profile.primary, LOCK_PATH)
    there = [path for path in places if os.path.exists(os.path.join(root, path))]
    closed = [path for path in there if not os.access(os.path.join(root, path), os.W_OK)]
    if closed:
        yield found("profile.unwritable", paths=[path or root for path in closed])
    yield found("profile.ok", root=root)


def check_settings(subject: Subject) -> Iterator[Check]:
    """Where the settings come from, and what of the files could not be taken."""
    loaded = subject.store.loaded
    for problem in loaded.problems:
        yield refused("settings", problem.message, problem.hint)
    if not syncs():
        yield found("settings.fsync", name=FSYNC)
    origins = Counter(loaded.origins.values())
    default = origins.pop(DEFAULT, 0)
    places = "".join(f", {number} from {place}" for place, number in origins.items())
    yield found("settings.ok", defaults=default, places=places)


def check_starting_files(subject: Subject) -> Iterator[Check]:
    """Whether the two files that a session starts with are there."""
    wanted = (subject.config.profile.primary, layout.USER)
    for path in wanted:
        if all(entry.path != path for entry in subject.entries):
            yield found("files.missing", path=path)
    yield found("files.ok", first=wanted[0], second=wanted[1])


def check_space(subject: Subject) -> Iterator[Check]:
    """Whether the disk has room; a full one refuses every write."""
    disk = os.statvfs(subject.root)
    free = disk.f_bavail * disk.f_frsize
    if free < _LEAST_FREE_BYTES:
        yield found("space.little", megabytes=f"{free / 1e6:.1f}")
    yield found("space.ok", gigabytes=f"{free / 1e9:.1f}")


def check_disk(subject: Subject) -> Iterator[Check]:
    """Whether the folder is synced or on a network: others then write without our lock."""
    real = os.path.realpath(subject.root)
    if syncer := _syncer(real):
        yield found("place.synced", syncer=syncer)
    kind = file_system(real, _mounts())
    if kind in _NETWORK_SYSTEMS or kind.startswith("fuse."):
        yield found("place.network", kind=kind)
    yield found("place.ok", kind=kind and f" ({kind})")


def _syncer(path: str) -> str:
    """Who syncs the folder, by its name or a mark in a folder above; "" for nobody."""
    while path != os.path.dirname(path):
        name = os.path.basename(path)
        if name.lower().startswith(_SYNCED_FOLDERS):
            return name
        if os.path.exists(os.path.join(path, ".stfolder")):
            return "Syncthing"
        path = os.path.dirname(path)
    return ""


def _mounts() -> bytes:
    try:
        with open("/proc/mounts", "rb") as file:
            return file.read()
    except OSError:  # not Linux
        return b""


def file_system(path: str, mounts: bytes) -> str:
    """The type of the file system that holds a folder; "" if the kernel's list does not say."""
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
    add_lines(os.path.join(root, IGNORE_FILE), IGNORE_LINES.encode(), StoreConfig())


def check_git(subject: Subject) -> Iterator[Check]:
    """Whether git would publish private files; nothing is said where git is not used."""
    root, in_git = shlex.quote(subject.root), has_driver(subject.root)
    if in_git is False:
        yield found("git.no-driver", root=root)
    tracked, others = private_files_in_git(subject.root)
    if in_git:  # by `memolith init --git`: its files are there on purpose
        if tracked and (names := remotes(subject.root)):
            yield found("git.pushed", remotes=", ".join(names))
    elif tracked:
        is_alone = any(entry.path == ROOT for entry in subject.entries)
        # A repository of its own was made on purpose.
        has_own = is_alone and os.path.exists(os.path.join(subject.root, ".git"))
        yield found(
            "git.tracked",
            status="info" if has_own else "warn",
            number=len(tracked),
            paths=tracked,
            root=root,
            private=" ".join(PRIVATE),
        )
    elif others:
        lines = " ".join(IGNORE_LINES.split())
        yield found("git.exposed", number=len(others), paths=others, lines=lines)


def check_shapes(subject: Subject) -> Iterator[Check]:
    """Links, pipes, folders in the place of files: none of them is ever read or followed."""
    needed = unusable(subject)
    for entry in subject.entries:
        words, hint = _wrong(subject, entry)
        if words:
            case = "shapes.unusable" if entry.path in needed else "shapes.odd"
            yield found(case, path=entry.path, words=words, hint=hint)
    yield found("shapes.ok", names=len(subject.entries))


def unusable(subject: Subject) -> frozenset[str]:
    """The paths that `check_shapes` calls errors: whatever is below them cannot be reached."""
    wrong = (entry for entry in subject.entries if _wrong(subject, entry)[0])
    return frozenset(one.path for one in wrong if one.closed or _wanted(subject, one.path))


def _wanted(subject: Subject, path: str) -> str:
    """Of what kind a name must be that we cannot do without; "" if it may be any."""
    is_file = path in (*_FILES, subject.config.trim.archive_path)
    if is_file or layout.is_file_of_ours(path):
        return "file"
    return "folder" if path in _FOLDERS else ""


def _wrong(subject: Subject, entry: Entry) -> tuple[str, str]:
    """What is wrong with a name and what to do, or nothing."""
    wanted = _wanted(subject, entry.path)
    if entry.closed:
        return f"cannot be listed: {entry.closed}.", let_in(subject.root, entry.path)
    if entry.kind == "link":
        return LINK, REPLACE_LINK
    if entry.kind == "other":
        return "is neither file nor folder.", "Move it away."
    if wanted and entry.kind != wanted:
        return f"is a {entry.kind} where a {wanted} should be.", f"Move that {entry.kind} away."
    return (SECOND_NAME, COPY_LINKED) if entry.names > 1 else ("", "")


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
    paths = [
        f"{'the folder itself' if entry.path == ROOT else entry.path} ({entry.mode:04o})"
        for entry in too_open(subject)
    ]
    yield found("modes.open", paths=paths) if paths else found("modes.ok")


def check_conflicts(subject: Subject) -> Iterator[Check]:
    """Versions a sync tool could not merge: their records may be nowhere else."""
    for entry in subject.entries:
        if entry.is_conflict:
            yield found("conflicts.left", path=entry.path)
    yield found("conflicts.ok")
