"""The steps a transaction is made of, and the intent that spells them in the lock file.

Each step can be done, taken back while nothing else was done, and after a crash found done or finished,
never done twice.
"""

from __future__ import annotations

import json
import os
from binascii import crc32
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from memolith import clock
from memolith.errors import FileChangedError, FileFormatError
from memolith.files import atomic_write
from memolith.files.folder import Folder, close_quietly
from memolith.files.locks import LOCK_PATH
from memolith.types import Stamp

# How intents spell bytes: any byte survives, and ordinary text stays readable in the lock file.
_BYTES = ("utf-8", "surrogateescape")


Fold = Callable[[bytes], bytes]


@dataclass(eq=False, repr=False)
class Known:
    """What a process knows of a file while nobody else changes it, so that it need not read it again."""

    stamp: tuple[int, ...] = ()
    lines: int = 0
    folded: dict[Fold, bytearray] = field(default_factory=dict)


@dataclass(eq=False, repr=False)
class Append:
    """Write `data` at the end of a file that had this inode (0: none yet) and this size."""

    path: str
    inode: int
    size: int
    data: bytes
    fd: int = -1  # not open
    content: bytes | None = b""  # of the file before; None if it is known and was not read
    lines: int = 0  # of the file before
    known: Known = field(default_factory=Known)
    is_synced: bool = False

    def do(self, folder: Folder) -> None:
        """Append, not yet synced; but a new file's name is on the disk before anybody can use it."""
        if self.fd < 0:
            self.fd = atomic_write.create_for_append(folder, self.path)
        self.is_synced = False
        atomic_write.write_all(self.fd, self.data)
        if not self.inode:
            atomic_write.sync_parent(folder, self.path)

    def sync(self) -> None:
        """Put what was appended on the disk."""
        if self.fd >= 0 and not self.is_synced:
            atomic_write.sync_data(self.fd)
            self.is_synced = True

    def is_in_place(self, folder: Folder) -> bool:
        """Whether the file still has its name, and our bytes where we wrote them."""
        return self._has_name(folder) and os.pread(self.fd, len(self.data), self.size) == self.data

    def _has_name(self, folder: Folder) -> bool:
        found = folder.stamp(self.path)
        return found is not None and found[0] == os.fstat(self.fd).st_ino

    def can_undo(self, _folder: Folder) -> bool:
        """Whether only our own bytes are behind the old end of the file."""
        if self.fd < 0:
            return True
        there = os.pread(self.fd, len(self.data) + 1, self.size)
        return self.data.startswith(there)

    def undo(self, folder: Folder) -> None:
        """Cut off what we wrote; a file we made is gone again."""
        if self.fd < 0:
            return
        atomic_write.cut(self.fd, self.size)
        if not self.inode and self._has_name(folder):
            atomic_write.remove(folder, self.path)

    def redo(self, folder: Folder) -> None:
        """Write what is missing of `data`, and nothing twice: a killed writer left it, or an editor
        has saved the file without it.
        """
        # The user may have deleted the file since; the lines were never acknowledged.
        with suppress(FileNotFoundError):
            if not self.inode:
                close_quietly(atomic_write.create_for_append(folder, self.path))
            with folder.opened(self.path, atomic_write.APPEND) as fd:
                atomic_write.write_all(fd, self._missing(fd))
                atomic_write.sync_data(fd)
            atomic_write.sync_parent(folder, self.path)

    def _missing(self, fd: int) -> bytes:
        found = os.fstat(fd)
        if self.inode in (0, found.st_ino) and found.st_size >= self.size:
            there = os.pread(fd, len(self.data), self.size)
            if there == self.data:
                return b""
            if self.data.startswith(there) and found.st_size == self.size + len(there):
                return self.data[len(there) :]
        # An editor has saved the file since: its copy may or may not hold our lines.
        content = os.pread(fd, found.st_size, 0)
        if self.data.strip(b"\n") in content:
            return b""
        return (b"" if content.endswith(b"\n") or not content else b"\n") + self.data.lstrip(b"\n")

    def as_json(self) -> list[object]:
        """The step as the intent spells it."""
        return ["append", self.path, self.inode, self.size, self.data.decode(*_BYTES)]


@dataclass(eq=False, repr=False)
class Replace:
    """Put a staged file in the place of a file that still has this stamp (None: no file).

    Without a staged file the file is deleted.
    """

    path: str
    staged: str | None
    expected: Stamp | None

    def check(self, folder: Folder) -> None:
        """Raise FileChangedError if somebody has edited the file since it was read."""
        found = folder.stamp(self.path)
        if found != self.expected and (found or self.staged):  # what is gone need not be deleted
            message = f"{self.path} was edited by somebody else just now, so it was left as it is."
            raise FileChangedError(message, path=self.path, hint="Try again.")

    def do(self, folder: Folder) -> None:
        """Rename over the old file, or delete it, if nobody has edited it since it was read."""
        self.check(folder)
        if self.staged is not None:
            atomic_write.move(folder, self.staged, self.path)
        else:
            atomic_write.remove(folder, self.path)

    def can_undo(self, folder: Folder) -> bool:
        """Whether nothing has happened yet."""
        if self.staged is None:
            return folder.stamp(self.path) == self.expected
        return folder.stamp(self.staged) is not None

    def undo(self, folder: Folder) -> None:
        """Drop the staged file."""
        if self.staged is not None:
            atomic_write.remove(folder, self.staged)

    def redo(self, folder: Folder) -> None:
        """Finish what is not done; an edit made since the crash wins over it."""
        if self.staged is None or folder.stamp(self.staged) is not None:
            with suppress(FileChangedError):
                self.do(folder)
            self.undo(folder)

    def as_json(self) -> list[object]:
        """The step as the intent spells it."""
        if self.staged is None:
            return ["remove", self.path, self.expected]
        return ["replace", self.path, self.staged, self.expected]


Step = Append | Replace


def step_from_json(spelled: object) -> Step:
    """The step that an intent spells; raises FileFormatError for anything else."""
    match spelled:
        case ["append", str(path), int(inode), int(size), str(data)]:
            return Append(path, inode, size, data.encode(*_BYTES))
        case ["replace", str(path), str(staged), ([int(), int(), int()] | None) as stamp]:
            return Replace(path, staged, (stamp[0], stamp[1], stamp[2]) if stamp else None)
        case ["remove", str(path), ([int(), int(), int()] | None) as stamp]:
            return Replace(path, None, (stamp[0], stamp[1], stamp[2]) if stamp else None)
    raise _newer_version()


def _newer_version() -> FileFormatError:
    message = f"{LOCK_PATH} was written by a newer Memolith, whose unfinished work we cannot read."
    hint = "Run that version once more, or update this one."
    return FileFormatError(message, path=LOCK_PATH, hint=hint)


@dataclass(eq=False, repr=False)
class LockState:
    """The content of the lock file: unfinished steps, the boot they belong to, the number of changes."""

    boot: str = ""
    steps: list[list[object]] = field(default_factory=list)
    turn: int = 0

    @classmethod
    def decode(cls, data: bytes) -> LockState:
        """Read the lock file; an intent that is half-written does not count, nothing followed it yet."""
        line, newline, _ = data.partition(b"\n")
        checksum, _, body = line.partition(b" ")
        if not newline or checksum != b"%08x" % crc32(body):
            return cls()
        match json.loads(body):
            case {"boot": str(boot), "steps": list(steps), **rest}:
                turn = rest.get("turn")
                return cls(boot, steps, turn if type(turn) is int else 0)
        raise _newer_version()

    def unfinished(self) -> list[Step]:
        """The steps that a writer of this boot left unfinished when it died."""
        return list(map(step_from_json, self.steps)) if self.boot == clock.boot_id() else []

    def with_intent(self, steps: Sequence[Step]) -> bytes:
        """The content of the lock file while `steps` are being done."""
        return self._encode([step.as_json() for step in steps])

    def after(self) -> bytes:
        """The content of the lock file once everything is done; counts one more change."""
        self.turn += 1
        return self._encode([])

    def _encode(self, steps: list[list[object]]) -> bytes:
        content = {"pid": os.getpid(), "boot": clock.boot_id(), "turn": self.turn, "steps": steps}
        body = json.dumps(content).encode()
        return b"%08x %s\n" % (crc32(body), body)
