"""What `doctor` looks at, and the form in which its checks say what they found."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

from memolith.approvals import PROFILE_FILE
from memolith.config.sections import Config
from memolith.files import layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.jobs.reports import Check, CheckStatus
from memolith.reports import IndexStatus
from memolith.store import Store
from memolith.text.wording import counted

Kind = Literal["file", "folder", "link", "other"]

ROOT = "."
_KINDS: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFDIR: "folder", stat.S_IFLNK: "link"}
_OWN_FOLDERS = (layout.DAILY_FOLDER, STATE_FOLDER)
_OWN_FILES = (layout.ROOT_MEMORY, layout.USER, layout.CONVERSATIONS)
_HARMLESS = (PROFILE_FILE, ".git", ".gitignore", ".gitattributes", ".stfolder", ".stignore")
_OWN_STEMS = ("MEMORY", "USER", "conversation-history")
# What Syncthing puts in front of the ending of a file, and Dropbox and Nextcloud behind its name.
CONFLICT = re.compile(r"\.sync-conflict-[\w-]+?(?=\.|$)| ?\([^()]*conflicted copy[^()]*\)")

WORST_FIRST: tuple[CheckStatus, ...] = ("error", "warn", "info", "ok", "off")
# Twenty lines of a kind show the pattern; ten thousand would bury everything else.
MOST_SHOWN = 20
_FINDINGS = tomllib.loads(
    (resources.files("memolith.jobs.checks") / "findings.toml").read_text("utf-8")
)


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
        return name.endswith(".orig") or CONFLICT.search(name) is not None

    @property
    def is_own(self) -> bool:
        """Whether it is ours: the root may be a project folder that holds other things too."""
        first = self.path.partition("/")[0]
        return self.path in (ROOT, *_OWN_FILES) or first in _OWN_FOLDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A profile as it was found."""

    store: Store
    entries: tuple[Entry, ...]
    index: Callable[[], IndexStatus]
    rebuild: Callable[[], object]  # of the index

    @property
    def root(self) -> str:
        """The profile's folder."""
        return self.store.root

    @property
    def config(self) -> Config:
        """The profile's settings."""
        return self.store.config

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
        """A file's bytes."""
        with Folder(self.root) as folder:
            return folder.read(path)


def look_at(
    store: Store, index: Callable[[], IndexStatus], rebuild: Callable[[], object]
) -> Subject:
    """Take the inventory of a profile; a missing one is empty."""
    listed = list(_listed(store.root, ""))
    entries = [entry for entry in listed if _concerns_us(entry)]
    waiting = [entry.path for entry in entries if entry.is_own and entry.kind == "folder"]
    while waiting:  # a loop, not a recursion: folders may be nested without end
        below = list(_listed(store.root, waiting.pop()))
        entries += below
        waiting += [entry.path for entry in below if entry.kind == "folder" and not entry.closed]
    # A project folder that only has its memory in it may well be open to others.
    ours_alone = all(_concerns_us(entry) or entry.path in _HARMLESS for entry in listed)
    known = {entry.path for entry in entries}
    for path in {store.config.trim.archive_path, *([ROOT] if ours_alone else [])} - known:
        entries += _look(store.root, path)
    return Subject(store=store, entries=tuple(entries), index=index, rebuild=rebuild)


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


class _Counted(int):
    """A number that is printed with its noun, `{files:file}`, or as `none`: `{notes:note|none}`."""

    def __format__(self, form: str) -> str:
        noun, _, zero = form.partition("|")
        if zero and not self:
            return zero
        return counted(int(self), noun) if noun else str(int(self))


def found(
    case: str, *, status: CheckStatus | None = None, **values: str | int | Sequence[str]
) -> Check:
    """What findings.toml says of a case such as `lock.killed`; `status` where it depends."""
    name, _, kind = case.partition(".")
    usual, message, *hint = _FINDINGS[name][kind]
    printable = {
        key: _Counted(value) if isinstance(value, int) else _shown(value)
        for key, value in values.items()
    }
    texts = [text.format_map(printable) for text in (message, *hint)]
    return _check(name, status or usual, *texts)


def refused(name: str, message: str, hint: str | None) -> Check:
    """An error as a finding: of a check that could not be made, or of a setting."""
    return _check(name, "error", _shown(message), hint)


def _check(name: str, status: CheckStatus, message: str, hint: str | None = None) -> Check:
    label = _FINDINGS.get(name, {}).get("label", name.capitalize())
    return Check(id=name, label=label, status=status, message=message, hint=hint or None)


def _shown(value: str | Sequence[str]) -> str:
    """A text out of somebody's folder as a terminal may print it; of many the first, and how many more.

    >>> _shown(["a", "b", "c", "d", "e"]), _shown("red \\x1b")
    ('a, b, c and 2 more', "'red \\\\x1b'")
    """
    if isinstance(value, str):
        return value if value.isprintable() else ascii(value)
    first = ", ".join(map(_shown, value[:3]))
    return first if len(value) <= 3 else f"{first} and {len(value) - 3:,} more"


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
            yield _check(name, status, f"And {len(more):,} more of this kind.")
