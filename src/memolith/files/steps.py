"""The steps a transaction is made of, and the intent that spells them in the lock file.

Each step can be done, taken back while nothing else was done, and after a crash found done or finished,
never done twice.
"""

from __future__ import annotations

import errno
import json
import os
from binascii import crc32
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from memolith import clock
from memolith.errors import FileChangedError, FileFormatError
from memolith.files import atomic_write
from memolith.files.folder import FILE_MODE, Folder, close_quietly
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
    fd: int | None = None
    content: bytes | None = b""  # of the file before; None if it is known and was not read
    lines: int = 0  # of the file before
    known: Known = field(default_factory=Known)
    is_synced: bool = False

    def do(self, folder: Folder) -> None:
        """Append, not yet synced; but a new file's name is on the disk before anybody can use it."""
        if self.fd is None:
            self.fd = atomic_write.create_for_append(folder, self.path)
        self.is_synced = False
        atomic_write.write_all(self.fd, self.data)
        if not self.inode:
            atomic_write.sync_parent(folder, self.path)

    def sync(self, folder: Folder) -> None:
        """Put what was appended on the disk."""
        if self.fd is not None and not self.is_synced:
            atomic_write.sync_data(folder, self.fd)
            self.is_synced = True

    def is_in_place(self, folder: Folder) -> bool:
        """Whether the file still has its name, and our bytes where we wrote them."""
        if self.fd is None:
            return True
        found = folder.stamp(self.path)
        has_name = found is not None and found[0] == os.fstat(self.fd).st_ino
        return has_name and os.pread(self.fd, len(self.data), self.size) == self.data

    def can_undo(self, _folder: Folder) -> bool:
        """Whether only our own bytes are behind the old end of the file."""
        if self.fd is None:
            return True
        there = os.pread(self.fd, len(self.data) + 1, self.size)
        return self.data.startswith(there)

    def undo(self, folder: Folder) -> None:
        """Cut off what we wrote; a file we made is gone again."""
        if self.fd is None:
            return
        atomic_write.cut(self.fd, self.size)
        found = folder.stamp(self.path)
        if not self.inode and found is not None and found[0] == os.fstat(self.fd).st_ino:
            atomic_write.remove(folder, self.path)

    def redo(self, folder: Folder) -> None:
        """Write what is missing of `data`, and nothing twice: a killed writer left it, or an editor
        has saved the file without it.
        """
        try:
            if self.inode:
                fd, _ = atomic_write.open_for_append(folder, self.path)
            else:
                fd = atomic_write.create_for_append(folder, self.path)
        except FileNotFoundError:
            return  # the user deleted the file since; the lines were never acknowledged
        try:
            atomic_write.write_all(fd, self._missing(fd))
            atomic_write.sync_data(folder, fd)
        finally:
            close_quietly(fd)
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
    """Put a staged file in the place of a file that still has this stamp (None: no file)."""

    path: str
    staged: str
    expected: Stamp | None

    @classmethod
    def prepare(cls, folder: Folder, path: str, data: bytes, expected: Stamp | None) -> Replace:
        """Stage `data`, with the mode of the file it will replace."""
        mode = FILE_MODE
        if expected is not None:
            parent, name = folder.parent(path)
            found = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if found.st_nlink > 1:
                raise OSError(errno.EMLINK, os.strerror(errno.EMLINK), path)
            mode = found.st_mode & 0o777
        return cls(path, atomic_write.stage(folder, data, mode=mode), expected)

    def check(self, folder: Folder) -> None:
        """Raise FileChangedError if somebody has edited the file since it was read."""
        if folder.stamp(self.path) != self.expected:
            raise FileChangedError(
                f"{self.path} was edited by somebody else just now, so it was left as it is.",
                path=self.path,
                hint="Try again.",
            )

    def do(self, folder: Folder) -> None:
        """Rename over the old file, if nobody has edited it since it was read."""
        self.check(folder)
        atomic_write.move(folder, self.staged, self.path)

    def can_undo(self, folder: Folder) -> bool:
        """Whether the rename has not happened yet."""
        return folder.stamp(self.staged) is not None

    def undo(self, folder: Folder) -> None:
        """Drop the staged file."""
        atomic_write.remove(folder, self.staged)

    def redo(self, folder: Folder) -> None:
        """Finish the rename; an edit made since the crash wins over it."""
        if folder.stamp(self.staged) is None:
            return
        if folder.stamp(self.path) == self.expected:
            atomic_write.move(folder, self.staged, self.path)
        else:
            atomic_write.remove(folder, self.staged)

    def as_json(self) -> list[object]:
        """The step as the intent spells it."""
        return ["replace", self.path, self.staged, self.expected]


@dataclass(eq=False, repr=False)
class Remove:
    """Delete a file that still has this stamp."""

    path: str
    expected: Stamp | None

    def do(self, folder: Folder) -> None:
        """Delete it."""
        if folder.stamp(self.path) == self.expected:
            atomic_write.remove(folder, self.path)

    def can_undo(self, folder: Folder) -> bool:
        """Whether the file is still there."""
        return folder.stamp(self.path) == self.expected

    def undo(self, folder: Folder) -> None:
        """Nothing was done, so nothing is taken back."""

    def redo(self, folder: Folder) -> None:
        """Delete it, if it is still the same file."""
        self.do(folder)

    def as_json(self) -> list[object]:
        """The step as the intent spells it."""
        return ["remove", self.path, self.expected]


Step = Append | Replace | Remove


def step_from_json(spelled: list[object]) -> Step:
    """The step that an intent spells; raises ValueError for anything else."""
    match spelled:
        case ["append", str(path), int(inode), int(size), str(data)]:
            return Append(path, inode, size, data.encode(*_BYTES))
        case ["replace", str(path), str(staged), expected]:
            return Replace(path, staged, _stamp(expected))
        case ["remove", str(path), expected]:
            return Remove(path, _stamp(expected))
    raise ValueError(f"unknown step {str(spelled)[:40]}")


def _stamp(spelled: object) -> Stamp | None:
    match spelled:
        case None:
            return None
        case [int(inode), int(size), int(mtime)]:
            return (inode, size, mtime)
    raise ValueError("not a stamp")


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
        raise FileFormatError(
            f"{LOCK_PATH} was written by a newer Memolith, whose unfinished work we cannot read.",
            path=LOCK_PATH,
            hint="Use that version, or update this one.",
        )

    def unfinished(self) -> Iterator[Step]:
        """The steps that a writer of this boot left unfinished when it died."""
        if self.boot != clock.boot_id():
            return
        for spelled in self.steps:
            try:
                yield step_from_json(spelled)
            except ValueError as error:
                raise FileFormatError(
                    f"{LOCK_PATH} holds unfinished work that this version cannot read: {error}.",
                    path=LOCK_PATH,
                    hint="Run the newer Memolith once more, so that it can finish.",
                ) from error

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
