"""The view of the disk: which files are searched, and a version that every change makes another one.

Searched are the files of the profile, and those of extra folders, which are only read.

The path of a file in an extra folder begins with the folder's root id, as in
`@notes-1a2b/garden/pond.md`, so that a citation names one file whatever the folders are called.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import blake2b

from memolith import clock
from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.folder import (
    COPY_LINKED,
    MAX_DEPTH,
    SECOND_NAME,
    Folder,
    change_stamp_of,
    close_quietly,
    storage_error,
)
from memolith.files.locks import LOCK_PATH, STATE_FOLDER
from memolith.text.cleaning import shown_path
from memolith.types import Stamp

# Larger files are reported, and neither indexed nor compared with others.
MAX_FILE_BYTES = 64 * 1024 * 1024
# Folders that package managers fill.
_PACKAGES = frozenset(("node_modules", "bower_components", "site-packages", "__pycache__"))
# Each search walks all folders; a tree with more than this is not a folder of notes.
_MAX_FOLDERS = 20_000
# Copies that file synchronisers make when two machines wrote at once.
_CONFLICT_MARKS = (".sync-conflict-", "(conflicted copy", "'s conflicted copy")
# A folder that changed so short a time ago may change again without another time: some file systems
# count in steps of two seconds.
_LISTING_TICK = 2_500_000_000
_MAX_NAME_CHARS = 30
_HASH_DIGITS = 4


class Roots(AbstractContextManager["Roots"]):
    """The profile's folder and the extra folders. Leaving the context closes the extra folders."""

    def __init__(self, own: Folder, extra_paths: Sequence[str]) -> None:
        """`extra_paths` is the setting; the folders are opened at their first use."""
        self.own = own
        self.listings: Listings = {}  # who looks often keeps them
        self._extra_paths = extra_paths
        self._extra: dict[str, Folder] | None = None
        self._warnings: list[str] = []

    def __exit__(self, *_: object) -> None:
        for folder in (self._extra or {}).values():
            folder.close()

    def open(self, path: str) -> tuple[int, os.stat_result]:
        """Open an ordinary file; see `Folder.open`."""
        folder, inside = self._resolve(path)
        return folder.open(inside)

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, or None when there is no such file; see `Folder.read`."""
        folder, inside = self._resolve(path)
        return folder.read(inside)

    def discover(self) -> tuple[dict[str, Stamp], list[str]]:
        """Every file that is searched, each once, with its stamp; and warnings."""
        found, warnings = discover(self.own, listings=self.listings)
        extra = self._extra_folders()
        own = os.path.realpath(self.own.root) if extra else ""
        known = {os.path.join(own, path) for path in (*found, layout.DREAM_DIARY) if extra}
        for root_id, folder in extra.items():
            files, problems = discover(folder, is_profile=False, listings=self.listings)
            warnings += problems
            new = {path: os.path.join(folder.root, path) for path in files}
            found |= {f"{root_id}/{path}": files[path] for path in new if new[path] not in known}
            known.update(new.values())
        return found, warnings + self._warnings

    def path_of(self, place: str) -> str:
        """The path of a file or folder by its full path, "" for the profile's folder itself.

        A place in none of the folders keeps its full path.
        """
        real = os.path.realpath(place)
        extra = {root_id: folder.root for root_id, folder in self._extra_folders().items()}
        for root_id, root in {"": os.path.realpath(self.own.root), **extra}.items():
            if f"{real}/".startswith(f"{root}/"):
                return f"{root_id}{real[len(root) :]}".removeprefix("/")
        return real

    def _resolve(self, path: str) -> tuple[Folder, str]:
        root_id, _, inside = path.partition("/")
        folder = self._extra_folders().get(root_id) if path.startswith("@") else None
        return (self.own, path) if folder is None else (folder, inside)

    def _extra_folders(self) -> dict[str, Folder]:
        if self._extra is None:
            self._extra = {}
            paths, self._warnings = extra_folders(self._extra_paths)
            for path in paths:
                digits = _HASH_DIGITS
                while (root_id := _root_id(path, digits)) in self._extra:
                    digits += 2
                try:
                    self._extra[root_id] = Folder(path)
                except MemolithError as error:
                    problem = f"{error.message} It is left out of search (index.extra_paths)."
                    self._warnings.append(problem)
        return self._extra


class StoreVersion:
    """Compares the stamps of the files that are searched; safe to share between threads."""

    def __init__(
        self, root: str, extra_paths: Sequence[str] = (), own_words: Sequence[str] = ()
    ) -> None:
        self.root = root
        self._extra_paths = extra_paths
        self._own_words = [os.path.join(root, path) for path in own_words]

    def __call__(self) -> tuple[Hashable, bool]:
        """The version now, and whether it is settled, so that any later change would show in it."""
        now = clock.file_time()
        written = last_write(self.root)
        try:
            with Folder(self.root) as folder, Roots(folder, self._extra_paths) as roots:
                stamps, warnings = roots.discover()
        except MemolithError as error:  # a memory that does not exist yet
            return error.message, False
        for path in self._own_words:  # not searched, but other synonyms give other answers
            with suppress(OSError, ValueError):
                stamps[path] = change_stamp_of(os.lstat(path))
        newest = max((stamp[2] for stamp in stamps.values()), default=0)
        version = (written, hash(frozenset(stamps.items())), tuple(warnings))
        return version, newest < now - clock.FILE_TICK


def last_write(root: str) -> tuple[bytes, int]:
    """What the lock file says about the last write, and when it was changed."""
    with suppress(OSError):
        fd = os.open(f"{root}/{LOCK_PATH}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            return os.pread(fd, 8, 0), os.fstat(fd).st_mtime_ns
        finally:
            close_quietly(fd)
    return b"", 0


def extra_folders(extra_paths: Sequence[str]) -> tuple[list[str], list[str]]:
    """The real paths of the folders in `index.extra_paths`, and warnings about those left out."""
    folders: list[str] = []
    warnings = []
    for named in extra_paths:
        path = os.path.realpath(os.path.expanduser(named))
        if STATE_FOLDER in path.split("/"):
            warnings.append(f"{shown_path(path)} is left out of search: it is in {STATE_FOLDER}.")
        elif path in ("/", os.path.realpath(os.path.expanduser("~"))):
            reason = "index.extra_paths names folders of notes, not a whole disk or home."
            warnings.append(f"{shown_path(path)} is left out of search: {reason}")
        elif path not in folders:
            folders.append(path)
    return folders, warnings


def _root_id(path: str, digits: int) -> str:
    """The folder's name, and some digits of a hash of its path, so that two of one name differ."""
    name = re.sub(r"[\W_]+", "-", os.path.basename(path).casefold())[:_MAX_NAME_CHARS].strip("-")
    digest = blake2b(os.fsencode(path), digest_size=16).hexdigest()
    return f"@{name or 'folder'}-{digest[:digits]}"


# What folders held when they were listed: the stamp of each, names of files that are searched, and paths of
# folders. One with the same stamp need not be listed again; without one it may have changed since.
Listings = dict[tuple[str, str], tuple[Stamp | None, list[str], list[str]]]


def discover(
    folder: Folder, *, is_profile: bool = True, listings: Listings | None = None
) -> tuple[dict[str, Stamp], list[str]]:
    """Every visible file of a folder that is searched, with its stamp; and warnings.

    In a profile that is the Markdown at the top and below `memory/` and the chat history, elsewhere all
    Markdown. The dream diary is left out: it quotes recalled statements and would answer with them.
    """
    files: dict[str, Stamp] = {}
    warnings: list[str] = []
    waiting = [layout.DAILY_FOLDER, ""] if is_profile else [""]
    walked = 0
    while waiting:
        path = waiting.pop()
        walked += 1
        if walked > _MAX_FOLDERS and not is_profile:
            warnings.append(
                f"{folder.root} has more than {_MAX_FOLDERS:,} folders; the rest of it is not searched."
                " Name the folders of your notes in index.extra_paths."
            )
            break
        try:
            names, below = _listed(folder, path, {} if listings is None else listings)
            _add_stamps(folder, names, files, warnings)
        except FileNotFoundError:
            continue
        except OSError as error:
            place = path if is_profile else os.path.join(folder.root, path)
            warnings.append(storage_error(error, place or folder.root).message)
            continue
        if (path or not is_profile) and path.count("/") < MAX_DEPTH:
            waiting += below
        warnings += [
            f"{shown_path(name)} is a folder, where a file should be."
            for name in below
            if name.endswith((".md", ".jsonl")) and layout.is_file_of_ours(name)
        ]
    if not is_profile:
        files.pop(layout.CONVERSATIONS, None)
    return files, warnings


def _listed(folder: Folder, path: str, listings: Listings) -> tuple[list[str], list[str]]:
    """The files and folders in a folder, as listed before if its stamp says that nothing came or went."""
    stamp = change_stamp_of(os.stat(path or ".", dir_fd=folder.fd, follow_symlinks=False))
    before, files, below = listings.get((folder.root, path), (None, [], []))
    if before == stamp:
        return files, below
    files, below, prefix = [], [], f"{path}/" if path else ""
    with folder.scan(path) as entries:
        for entry in entries:
            name = prefix + entry.name
            if entry.name[0] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _PACKAGES:
                    below.append(name)
            elif _is_searched(name):
                files.append(name)
    is_lasting = stamp[2] < clock.file_time() - _LISTING_TICK
    listings[folder.root, path] = (stamp if is_lasting else None, files, below)
    return files, below


def _add_stamps(
    folder: Folder, names: Sequence[str], files: dict[str, Stamp], warnings: list[str]
) -> None:
    """Add the stamps of the ordinary ones of some files. Every search waits for this loop."""
    handle, look = folder.fd, os.stat
    for name in names:
        try:
            status = look(name, dir_fd=handle, follow_symlinks=False)
        except FileNotFoundError:  # removed since the folder was listed
            continue
        if not stat.S_ISREG(status.st_mode):
            continue
        if status.st_nlink > 1:
            warnings.append(
                f"{shown_path(name)} {SECOND_NAME} It is left out of search. {COPY_LINKED}"
            )
        else:  # no name at all: a rename puts another file in its place right now
            files[name] = change_stamp_of(status)


def _is_searched(path: str) -> bool:
    if not path.endswith(".md"):
        return path == layout.CONVERSATIONS
    is_conflict = "conflict" in path and any(mark in path for mark in _CONFLICT_MARKS)
    return path != layout.DREAM_DIARY and not is_conflict
