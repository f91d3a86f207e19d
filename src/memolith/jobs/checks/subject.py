"""What `doctor` looks at: a profile, its settings, and every file and folder that is ours."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from memolith.approvals import PROFILE_FILE
from memolith.config.load import LoadedConfig
from memolith.config.sections import Config
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.profile import Profile

Kind = Literal["file", "folder", "link", "other"]

ROOT = "."
_OWN_FOLDERS = (layout.DAILY_FOLDER, STATE_FOLDER)
_OWN_FILES = (layout.ROOT_MEMORY, layout.USER, layout.CONVERSATIONS)
_HARMLESS = (PROFILE_FILE, ".git", ".gitignore", ".gitattributes", ".stfolder", ".stignore")
_OWN_STEMS = ("MEMORY", "USER", "conversation-history")
# The marks that Syncthing, Dropbox, Nextcloud and merge tools put into the loser's name.
_CONFLICT_MARKS = (".sync-conflict-", "conflicted copy")
_CONFLICT_ENDING = ".orig"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in the profile, as it stands there: links are not followed."""

    path: str
    kind: Kind
    mode: int = 0
    names: int = 1  # hard links
    closed: str = ""  # why a folder could not be listed

    @property
    def is_conflict(self) -> bool:
        """Whether a sync tool made it of a version it could not merge."""
        name = os.path.basename(self.path)
        return name.endswith(_CONFLICT_ENDING) or any(mark in name for mark in _CONFLICT_MARKS)

    @property
    def is_own(self) -> bool:
        """Whether it is ours: the root may be a project folder that holds other things too."""
        first = self.path.partition("/")[0]
        return self.path in (ROOT, *_OWN_FILES) or first in _OWN_FOLDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A profile as it was found."""

    profile: Profile
    loaded: LoadedConfig
    entries: tuple[Entry, ...]

    @property
    def root(self) -> str:
        """The profile's folder."""
        return self.profile.root

    @property
    def config(self) -> Config:
        """The profile's settings."""
        return self.loaded.config

    def memory_files(self) -> Iterator[str]:
        """Every Markdown file that may hold records; what a sync tool left is named elsewhere."""
        for entry in self.entries:
            if (
                entry.kind == "file"
                and not entry.is_conflict
                and self._may_hold_records(entry.path)
            ):
                yield entry.path

    def _may_hold_records(self, path: str) -> bool:
        inner = path.removeprefix(f"{layout.ARCHIVE_FOLDER}/")
        hidden = any(part.startswith(".") for part in inner.split("/"))
        return path == self.config.trim.archive_path or (path.endswith(".md") and not hidden)

    def read(self, path: str) -> bytes | None:
        """A file's bytes. Each read has its own handles: there may be thousands of folders."""
        with Folder(self.root) as folder:
            return folder.read(path)


def look_at(profile: Profile, loaded: LoadedConfig) -> Subject:
    """Take the inventory of a profile; a missing one is empty."""
    listed = list(_listed(profile.root, ""))
    entries = [entry for entry in listed if _concerns_us(entry)]
    waiting = [entry.path for entry in entries if entry.is_own and entry.kind == "folder"]
    while waiting:  # a loop, not a recursion: folders may be nested without end
        found = list(_listed(profile.root, waiting.pop()))
        entries += found
        waiting += [entry.path for entry in found if entry.kind == "folder" and not entry.closed]
    known = {entry.path for entry in entries}
    archive = loaded.config.trim.archive_path
    # A project folder that only has its memory in it may well be open to others.
    ours_alone = all(_concerns_us(entry) or entry.path in _HARMLESS for entry in listed)
    for path in (archive, *([ROOT] if ours_alone else [])):
        entry = _look(profile.root, path)
        if entry is not None and path not in known:
            entries.append(entry)
    return Subject(profile=profile, loaded=loaded, entries=tuple(entries))


def _concerns_us(entry: Entry) -> bool:
    conflict = entry.is_conflict and entry.path.startswith(_OWN_STEMS)
    return entry.is_own or entry.path.endswith(".md") or conflict


def _listed(root: str, path: str) -> Iterator[Entry]:
    try:
        names = sorted(os.listdir(os.path.join(root, path)))
    except FileNotFoundError:
        return
    except OSError as error:
        yield Entry(path=path, kind="folder", closed=error.strerror or str(error))
        return
    for name in names:
        entry = _look(root, f"{path}/{name}" if path else name)
        if entry is not None:
            yield entry


def _look(root: str, path: str) -> Entry | None:
    try:
        found = os.lstat(os.path.join(root, path))
    except OSError:
        return None  # gone since it was listed, or never there
    kind: Kind = "other"
    if stat.S_ISREG(found.st_mode):
        kind = "file"
    elif stat.S_ISDIR(found.st_mode):
        kind = "folder"
    elif stat.S_ISLNK(found.st_mode):
        kind = "link"
    return Entry(
        path=path,
        kind=kind,
        mode=stat.S_IMODE(found.st_mode),
        names=found.st_nlink if kind == "file" else 1,
    )
