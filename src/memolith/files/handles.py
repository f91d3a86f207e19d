"""What a writer has open: the folder, the lock file, and the files it appends to.

They stay open between the writes of one `Memory`, because opening them costs more than writing a
line. Nothing is believed for being open: before each use the *name* is looked up, and if it no longer
leads to the very file we hold (renamed, restored, deleted, another owner or mode), it is opened anew.
After any error everything is closed, and a forked child gives up its copies.
"""

from __future__ import annotations

import os

from memolith.files import atomic_write
from memolith.files.fingerprints import FingerprintTable
from memolith.files.folder import Folder, close_quietly, stamp_of
from memolith.files.intent import FILES_KEPT, LockState
from memolith.files.locks import WriterLock
from memolith.types import Stamp

# Of how many memories one process keeps the handles; the one used longest ago is closed.
_MEMORIES_KEPT = 8

_NOTHING: tuple[str, os.stat_result | None] = ("", None)

# By keeper, those of writers that are not at work. One operation on a dict at a time needs no lock.
_idle: dict[int, Handles] = {}


class Handles:
    """What one writer has open; after a transaction without error it may be kept for the next."""

    __slots__ = (
        "_files",
        "_keeper",
        "_left",
        "_root",
        "_seen",
        "_state",
        "folder",
        "lock",
        "sync_seconds",
        "table",
    )

    def __init__(self, folder: Folder, keeper: int | None = None) -> None:
        """Nothing but the folder is open yet; it is ours to close. `keeper` gets what is kept."""
        self.folder = folder
        self.lock = WriterLock(folder)
        self.table: FingerprintTable | None = None
        self.sync_seconds = 0.0  # how long the disk took for the file that was synced last
        self._keeper = keeper
        self._root: tuple[int, int] | None = None  # which folder we hold, once it is asked for
        # Handle, and what must not have changed: mode, inode, device, links, owner, group.
        self._files: dict[str, tuple[int, tuple[float, ...]]] = {}
        self._seen = _NOTHING  # what `stamp` has looked up, for the append that follows
        self._state: LockState | None = None
        self._left: bytes | None = None  # what we left in the lock file, if that is no intent

    def take_lock(self, timeout_seconds: float) -> LockState:
        """Wait for our turn; returns what the last writer left behind."""
        self.lock.take(timeout_seconds)
        found = self.lock.read_state()
        if self._state is None or found != self._left:
            self._left = None
            self._state = LockState.decode(found)
        return self._state

    def write_intent(self, data: bytes) -> None:
        """Leave in the lock file what we are about to do."""
        self._left = None
        self.lock.write_state(data)

    def write_state(self, data: bytes) -> None:
        """Leave in the lock file that nothing is to be finished."""
        self._left = None
        self._left = self.lock.write_state(data)

    def stamp(self, path: str) -> Stamp | None:
        """Stamp of a file that is about to be appended to; None when there is none."""
        found = self._look(path)
        self._seen = (path, found)
        return stamp_of(found) if found is not None else self.folder.stamp(path)

    def open_for_append(self, path: str) -> tuple[int, os.stat_result]:
        """Handle and stat of an existing file; raises FileNotFoundError when there is none."""
        if self._seen[0] == path:
            found = self._seen[1]
            self._seen = _NOTHING
        else:
            found = self._look(path)
        if found is not None:
            return self._files[path][0], found
        fd, found = atomic_write.open_for_append(self.folder, path)
        self._files[path] = (fd, found[:6])
        return fd, found

    def _look(self, path: str) -> os.stat_result | None:
        """The stat of a file whose name still leads to the handle we hold; else the handle goes."""
        known = self._files.get(path)
        if known is None:
            return None
        try:
            found = os.stat(path, dir_fd=self.folder.fd, follow_symlinks=False)
        except OSError:
            found = None  # opening it says better what is wrong
        if found is None or found[:6] != known[1]:
            close_quietly(self._files.pop(path)[0])
            return None
        return found

    def adopt(self, path: str, fd: int | None) -> None:
        """Own the handle of a file that a transaction has made."""
        if fd is not None and path not in self._files:
            self._files[path] = (fd, ())

    def is_still(self, root: str) -> bool:
        """Whether the folder we hold is the one that `root` names now."""
        try:
            if self._root is None:
                self._root = _inode_of(os.fstat(self.folder.fd))
            return _inode_of(os.stat(root)) == self._root
        except OSError:
            return False

    def give_back(self) -> None:
        """Keep what the next write needs, or close everything."""
        if self._keeper is None:
            self.close()
            return
        self.folder.close_below()
        self._seen = _NOTHING
        while len(self._files) > FILES_KEPT:
            close_quietly(self._files.pop(next(iter(self._files)))[0])
        if _idle.setdefault(self._keeper, self) is not self:
            self.close()  # another thread has just given back its own
        if len(_idle) > _MEMORIES_KEPT:
            for keeper in list(_idle)[:-_MEMORIES_KEPT]:
                oldest = _idle.pop(keeper, None)
                if oldest is not None:
                    oldest.close()

    def close_table(self) -> None:
        """Close the table of fingerprints."""
        if self.table is not None:
            self.table.close()
            self.table = None

    def close(self) -> None:
        """Close everything."""
        self.close_table()
        while self._files:
            close_quietly(self._files.popitem()[1][0])
        self.lock.close()
        self.folder.close()


class Keeper:
    """Keeps the handles of one memory between its writes; a second thread gets handles of its own."""

    __slots__ = ("__weakref__",)

    def take(self, root: str, *, durable: bool) -> Handles:
        """The handles kept, or new ones; `root` is made when it is missing."""
        kept = _idle.pop(id(self), None)
        if kept is not None:
            if kept.is_still(root):
                kept.folder.durable = durable
                return kept
            kept.close()
        return Handles(Folder(root, create=True, durable=durable), id(self))

    def close(self, idle: dict[int, Handles] = _idle) -> None:
        """Close what is kept."""
        kept = idle.pop(id(self), None)
        if kept is not None:
            kept.close()

    __del__ = close


def _inode_of(found: os.stat_result) -> tuple[int, int]:
    return (found.st_ino, found.st_dev)


def _close_in_child() -> None:
    """A forked child shares our handles and, with them, our lock: it opens its own."""
    while _idle:
        _idle.popitem()[1].close()


os.register_at_fork(after_in_child=_close_in_child)
