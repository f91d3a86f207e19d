"""What a job is: a plan that only reads, a draft of its texts, and a judgement of the result."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from memolith.config.sections import SETTINGS, Config
from memolith.engines.choose import is_elsewhere
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.files.layout import CONVERSATIONS, EMBEDDINGS, index_folder
from memolith.files.ledger import Ledger, every_file, facts_in, memory_files, sources_of, tombstones
from memolith.files.transaction import Transaction
from memolith.jobs.changes import begins_with, inserted_lines, not_as_planned, snap
from memolith.jobs.reports import Change, Hunk, ScheduledRun, Snapped
from memolith.store import Store
from memolith.text.lines import short_id
from memolith.types import Stamp

if TYPE_CHECKING:  # it loads NumPy
    from memolith.finder import Finder

Reader = Callable[[str], bytes]  # the bytes of a file; none for a missing one


class Snapshot:
    """The files as a plan sees them: each is read once, so that a plan is made of one moment."""

    def __init__(self, folder: Folder) -> None:
        """Of the files in this folder."""
        self._folder = folder
        self.closed = folder.leave_out_closed()  # what may not be read: jobs do without it
        self._seen: dict[str, tuple[bytes | None, Stamp | None]] = {}
        self._listed: list[str] | None = None
        self._ledger: Ledger | None = None

    def read(self, path: str) -> bytes | None:
        """The bytes of a file, the same at every call."""
        if path not in self._seen:
            # The stamp before the bytes: what is written between is a change.
            stamp = self._folder.stamp(path)
            self._seen[path] = (self._folder.read(path), stamp)
        return self._seen[path][0]

    def stamp(self, path: str) -> Stamp | None:
        """The stamp of a file when it was read."""
        self.read(path)
        return self._seen[path][1]

    def files(self) -> list[str]:
        """Every Markdown file that may hold records, the same at every call."""
        if self._listed is None:
            self._listed = list(memory_files(self._folder))
        return list(self._listed)

    def files_and_archives(self, *archives: str) -> list[str]:
        """The same, with these archives and those that were written to before, wherever they are."""
        return list(dict.fromkeys((*self.files(), *every_file(self._folder), *archives)))

    def ledger(self) -> Ledger:
        """What all files say of each record, the same at every call."""
        if self._ledger is None:
            paths = self.files_and_archives()
            self._ledger = Ledger(facts_in(path, self.read(path) or b"") for path in paths)
        return self._ledger

    def forgotten(self) -> frozenset[str]:
        """The digests of all texts that were forgotten."""
        return frozenset(stone.digest for stone in tombstones(self.read) if stone.digest)

    def digests(self) -> dict[str, Snapped]:
        """Size and digest of each file of the memory that was read."""
        return {path: snap(data) for path, (data, _) in self._seen.items() if _is_memory(path)}

    def require_unchanged(self, changes: Iterable[Change]) -> None:
        """Raise FileChangedError if a file that was read no longer says what these changes quote."""
        listed = memory_files(self._folder) if self._listed is not None else ()
        changed: dict[str, Snapped] = {}
        for path in filter(_is_memory, dict.fromkeys((*self._seen, *listed))):
            data, stamp = self._seen.get(path, (None, None))
            if self._folder.stamp(path) != stamp:
                changed[path] = snap(data)
        _require_as_read(self._folder, changed, changes)


def require_unchanged(
    folder: Folder, read: Mapping[str, Snapped], changes: Iterable[Change]
) -> None:
    """The same for a plan of the past, by the digests of all files that it has read."""
    folder.leave_out_closed()
    new = dict.fromkeys(memory_files(folder), snap(None))
    _require_as_read(folder, {**new, **read}, changes)


def _require_as_read(
    folder: Folder, read: Mapping[str, Snapped], changes: Iterable[Change]
) -> None:
    """A file may have grown, unless a new line replaces or hides a record that would be shown."""
    sources: set[str] | None = None
    for path, seen in read.items():
        data = folder.read(path) or b""
        if not begins_with(data, seen):
            raise not_as_planned(path)
        if len(data) > seen.size:
            if sources is None:
                sources = set().union(*map(sources_of, inserted_lines(changes)))
            facts = facts_in(path, data[seen.size :])
            gone = facts.secret.union(one.supersedes for one in facts.records if one.supersedes)
            if not sources.isdisjoint((*gone, *map(short_id, gone))):
                raise not_as_planned(path)


def _is_memory(path: str) -> bool:
    return path.endswith(".md") or path == CONVERSATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a job is going to do, as a value; a job that writes texts adds their changes later."""

    lines: tuple[str, ...] = ()  # for people
    skipped: str = ""  # why there is nothing to do
    counts: Mapping[str, int] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()  # archives first, MEMORY.md last
    warnings: tuple[str, ...] = ()


P = TypeVar("P", bound=Plan)


class Job(ABC, Generic[P]):
    """One kind of job. Planning reads through the snapshot alone and changes nothing."""

    name: ClassVar[str]  # part of ids, backups and reports
    may_wait: ClassVar[bool] = True  # as a proposal, where the user wants to be asked
    is_the_users: ClassVar[bool] = False  # nobody else may take it back
    by_rules: bool = True  # asks no model: to plan and draft it again costs nothing
    sections: ClassVar[tuple[str, ...]] = ()  # of the settings that it looks at
    keeps_state: ClassVar[bool] = False  # writes machine state, also if there is nothing else to do

    by_hand: bool = True  # a caller asked for it; else a schedule did

    def __init__(self, store: Store) -> None:
        """A plan reads the files of the store through its snapshot."""
        self.store = store

    @classmethod
    def settings(cls) -> Iterator[str]:
        """The names of the settings that a plan depends on."""
        return (name for name in SETTINGS if name.partition(".")[0] in cls.sections)

    @staticmethod
    def is_wanted(config: Config, folder: Folder, last: ScheduledRun) -> bool:
        """Whether it is due before its time; `last` is its last run by a schedule."""
        del config, folder, last
        return False

    @staticmethod
    def notice(config: Config, folder: Folder, last: ScheduledRun) -> str:
        """What people should know of it now; "" if there is nothing."""
        del config, folder, last
        return ""

    @abstractmethod
    def plan(self, snapshot: Snapshot) -> P:
        """What is to be done."""

    def draft(self, plan: P, *, preview: bool) -> P:
        """The plan with its texts, if it has any; may be slow, and may fail. A preview costs nothing: rules only."""
        del preview
        return plan

    def problem(self, before: Reader, after: Reader) -> str:
        """What is wrong with the files after the change, judged by their bytes; "" when nothing is."""
        del before, after
        return ""

    def keep_state(
        self, transaction: Transaction, after: Mapping[str, bytes], *, is_skipped: bool
    ) -> None:
        """Write machine state of the last plan with its changes; `after` are the files as they will be.

        Raises FileChangedError if it has to be planned again.
        """

    @staticmethod
    def undo_state(transaction: Transaction, names: Collection[str]) -> None:
        """Take back what `keep_state` wrote of what a job covered, as a step of its undo."""

    @staticmethod
    def covered(path: str, hunk: Hunk) -> Iterable[str]:
        """What a change was about, by names that the next plan knows: undone, a schedule leaves it alone."""
        del path, hunk
        return ()


def index_changes(store: Store, finder: Callable[[], Finder]) -> tuple[str, ...]:
    """Bring an existing index in line with files we changed; returns a warning if that fails."""
    folder = index_folder(store.root, store.config.index.path)
    if os.path.isdir(folder) or is_elsewhere(store.config.index):
        try:
            finder().index.sync_now()
        except MemolithError as error:  # the files are the truth, and they are as they should be
            return (f"{error.message} The next search brings the index in line.",)
    return ()


def purge_index(store: Store, finder: Callable[[], Finder]) -> tuple[str, ...]:
    """Take what was forgotten out of an existing index, also out of its free pages; returns warnings."""
    index = index_folder(store.root, store.config.index.path)
    derived = (index, os.path.join(store.root, EMBEDDINGS))
    is_there = any(map(os.path.exists, derived)) or is_elsewhere(store.config.index)
    return finder().index.purge() if is_there else ()
