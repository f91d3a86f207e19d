"""What `doctor` looks at, and how it notes what it finds: the first of each kind by name, the rest as a number."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
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
from memolith.text.wording import counted

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


# Twenty lines of a kind show the pattern; ten thousand would bury everything else.
MOST_SHOWN = 20

WORST_FIRST: tuple[CheckStatus, ...] = ("error", "warn", "info", "ok", "off")


class Findings:
    """The findings of one check; bounded, however much is wrong."""

    def __init__(self, check_id: str, label: str) -> None:
        """Start with nothing found."""
        self._id = check_id
        self._label = label
        self._found: list[Check] = []
        self._count: Counter[CheckStatus] = Counter()

    def add(self, status: CheckStatus, message: str, hint: str = "") -> None:
        """Note one finding."""
        self._count[status] += 1
        if self._count[status] <= MOST_SHOWN:
            self._found.append(self._check(status, message, hint))

    @property
    def found(self) -> list[Check]:
        """What was found, and nothing if nothing was."""
        return self.checks("") if self._found else []

    def checks(self, otherwise: str, status: CheckStatus = "ok") -> list[Check]:
        """What was found; if nothing was, that all is well, in the words of `otherwise`."""
        if not self._found:
            return [self._check(status, otherwise)]
        more = [
            self._check(status, f"And {self._count[status] - MOST_SHOWN:,} more of this kind.")
            for status in WORST_FIRST
            if self._count[status] > MOST_SHOWN
        ]
        return self._found + more

    def _check(self, status: CheckStatus, message: str, hint: str = "") -> Check:
        return Check(
            id=self._id, label=self._label, status=status, message=message, hint=hint or None
        )


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


def is_loopback(host: str | None) -> bool:
    """Whether a name or address is this machine's own, by its spelling alone: nothing is looked up.

    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.com")
    (True, False)
    """
    from ipaddress import ip_address

    if host is None or host.lower() == "localhost":
        return host is not None
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
