"""What `doctor` looks at, and the form in which its checks say what they found."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from memolith.approvals import PROFILE_FILE
from memolith.config.load import LoadedConfig
from memolith.config.sections import Config
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.jobs.reports import Check, CheckStatus
from memolith.profile import Profile
from memolith.reports import IndexStatus
from memolith.text.wording import counted

Kind = Literal["file", "folder", "link", "other"]

ROOT = "."
_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
_OWN_FOLDERS = (layout.DAILY_FOLDER, STATE_FOLDER)
_OWN_FILES = (layout.ROOT_MEMORY, layout.USER, layout.CONVERSATIONS)
_HARMLESS = (PROFILE_FILE, ".git", ".gitignore", ".gitattributes", ".stfolder", ".stignore")
_OWN_STEMS = ("MEMORY", "USER", "conversation-history")
# The marks that Syncthing, Dropbox, Nextcloud and merge tools put into the loser's name.
_CONFLICT_MARKS = (".sync-conflict-", "conflicted copy")
_CONFLICT_ENDING = ".orig"

WORST_FIRST: tuple[CheckStatus, ...] = ("error", "warn", "info", "ok", "off")
# Twenty lines of a kind show the pattern; ten thousand would bury everything else.
MOST_SHOWN = 20
# The labels of checks that are more than their ids.
LABELS = {
    "profile": "Profile folder",
    "hosts": "Agent hosts",
    "files": "First files",
    "shapes": "Ordinary files",
    "read": "Readable files",
    "text": "Plain UTF-8",
    "forgotten": "Forgotten records",
    "turns": "Conversation history",
    "modes": "Private to you",
    "conflicts": "Sync conflicts",
    "lock": "Writer lock",
    "staging": "Left-over files",
    "place": "Kind of disk",
    "space": "Free space",
    "server": "Server token",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in the profile, as it is there: links are not followed."""

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
    index: Callable[[], IndexStatus]
    rebuild: Callable[[], object]  # of the index

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
            inner = entry.path.removeprefix(f"{layout.ARCHIVE_FOLDER}/")
            is_hidden = any(part.startswith(".") for part in inner.split("/"))
            may_hold = entry.path.endswith(".md") and not is_hidden
            is_wanted = may_hold or entry.path == self.config.trim.archive_path
            if is_wanted and entry.kind == "file" and not entry.is_conflict:
                yield entry.path

    def files_in(self, folder: str) -> list[str]:
        """The files below a folder."""
        below = (one for one in self.entries if one.path.startswith(f"{folder}/"))
        return [entry.path for entry in below if entry.kind == "file"]

    def read(self, path: str) -> bytes | None:
        """A file's bytes. Each read has its own handles: there may be thousands of folders."""
        with Folder(self.root) as folder:
            return folder.read(path)


def look_at(
    profile: Profile,
    loaded: LoadedConfig,
    index: Callable[[], IndexStatus],
    rebuild: Callable[[], object],
) -> Subject:
    """Take the inventory of a profile; a missing one is empty."""
    listed = list(_listed(profile.root, ""))
    entries = [entry for entry in listed if _concerns_us(entry)]
    waiting = [entry.path for entry in entries if entry.is_own and entry.kind == "folder"]
    while waiting:  # a loop, not a recursion: folders may be nested without end
        found = list(_listed(profile.root, waiting.pop()))
        entries += found
        waiting += [entry.path for entry in found if entry.kind == "folder" and not entry.closed]
    # A project folder that only has its memory in it may well be open to others.
    ours_alone = all(_concerns_us(entry) or entry.path in _HARMLESS for entry in listed)
    known = {entry.path for entry in entries}
    for path in {loaded.config.trim.archive_path, *([ROOT] if ours_alone else [])} - known:
        entries += _look(profile.root, path)
    return Subject(
        profile=profile, loaded=loaded, entries=tuple(entries), index=index, rebuild=rebuild
    )


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
        yield from _look(root, f"{path}/{name}" if path else name)


def _look(root: str, path: str) -> Iterator[Entry]:
    try:
        found = os.lstat(os.path.join(root, path))
    except OSError:
        return  # gone since it was listed, or never there
    kind = _KINDS.get(stat.S_IFMT(found.st_mode), "other")
    names = found.st_nlink if kind == "file" else 1
    yield Entry(path=path, kind=kind, mode=stat.S_IMODE(found.st_mode), names=names)


def found(name: str, status: CheckStatus, message: str, hint: str | None = None) -> Check:
    """One finding of the check with this id."""
    label = LABELS.get(name, name.capitalize())
    return Check(id=name, label=label, status=status, message=message, hint=hint or None)


def bounded(checks: Iterable[Check]) -> Iterator[Check]:
    """Of each check the first findings, and the number of the others; that all is well only if it is.

    What several checks were refused for is reported once.
    """
    by_kind: dict[tuple[str, CheckStatus], list[Check]] = {}
    refusals = set[tuple[str, str | None]]()
    for check in checks:
        if check.status == "error":
            if (check.message, check.hint) in refusals:
                continue
            refusals.add((check.message, check.hint))
        by_kind.setdefault((check.id, check.status), []).append(check)
    troubled = {name for name, status in by_kind if status not in ("ok", "off")}
    for (name, status), alike in by_kind.items():
        if status in ("ok", "off") and name in troubled:
            continue
        yield from alike[:MOST_SHOWN]
        if more := alike[MOST_SHOWN:]:
            yield found(name, status, f"And {len(more):,} more of this kind.")


def shown(name: str) -> str:
    """A name out of somebody's folder as a terminal may print it."""
    return name if name.isprintable() else ascii(name)


def number_of(count: int, noun: str) -> str:
    """How many of them were looked at.

    >>> number_of(0, "backup"), number_of(2, "backup")
    ('none', '2 backups')
    """
    return counted(count, noun) if count else "none"


def named(names: list[str]) -> str:
    """The first few names, and how many there are beyond.

    >>> named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    first = ", ".join(map(shown, names[:3]))
    return first if len(names) <= 3 else f"{first} and {len(names) - 3:,} more"
