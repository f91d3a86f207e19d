"""Changes to several files that happen together, or not at all, even if we die half-way.

Before the first file is touched, the lock file gets the *intent*: the steps, with the size and inode
each file had. If we die, the next writer of the same boot finishes them (redo). We never undo after
a crash: after a power cut a stale intent may reappear, and undoing would remove acknowledged words.
An intent from another boot is ignored, because whatever was acknowledged had been synced.

Appended lines are synced after the lock is released: a process that dies cannot take them out of
the page cache, and the fsyncs of many writers share their work instead of queueing. Only then does
the `with` block end, and only then may the caller acknowledge.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress

from memolith.config.sections import StoreConfig
from memolith.errors import FileChangedError, MemolithError
from memolith.files import atomic_write
from memolith.files.folder import FILE_MODE, Folder, close_quietly, our_errors, storage_error
from memolith.files.layout import load_template
from memolith.files.locks import LOCK_PATH, WriterLock
from memolith.files.steps import Append, Fold, Known, LockState, Replace, Step
from memolith.files.tail import mend
from memolith.types import Stamp

# A file that another program keeps changing is read this many times before we give up.
_MAX_READS = 10
# Files whose content is known: for each memory in use, MEMORY.md and the log of the day.
_MAX_KNOWN = 4
_MAX_KNOWN_BYTES = 1 << 26
_known: dict[int, Known] = {}  # by inode


class Transaction(AbstractContextManager["Transaction"]):
    """The steps of one change, made under the writer lock.

    Nothing is written before `commit` (except that a line torn by a crash is moved to quarantine), and
    nothing is promised before the `with` block has ended without an error.
    """

    def __init__(
        self,
        folder: Folder,
        lock_timeout_seconds: float,
        check: Callable[[Folder, Sequence[Step]], object] = lambda *_: None,
    ) -> None:
        """Take the writer lock and finish what a killed writer left; closes the folder at its end.

        `check` may refuse the steps before anything is done.
        """
        self.folder = folder
        self._check = check
        self.recovered = False
        self.warnings: tuple[str, ...] = ()  # complete when the `with` block has ended
        self._lock_timeout_seconds = lock_timeout_seconds
        self._steps: list[Step] = []
        self._appends: dict[str, Append] = {}  # also of files that were only read
        self._intent_stays = False
        self._is_committed = False
        self._lock: WriterLock | None = None
        try:
            self._lock = WriterLock(folder, lock_timeout_seconds)
            self._state = self._recover(self._lock)
        except BaseException:  # Ctrl-C too: nobody would free the lock
            self.close()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Let the next writer in, then sync what was appended, and close everything."""
        try:
            if not self._intent_stays:
                for path in self.staged():
                    with suppress(OSError):
                        atomic_write.remove(self.folder, path)
            if kind is None:
                self._publish()
            self._release()
            if kind is None and self._is_committed:
                self._sync()
                self._keep_in_place()
        finally:
            self.close()

    def close(self) -> None:
        """Free the lock and close every file."""
        self._release()
        while self._appends:
            close_quietly(self._appends.popitem()[1].fd)
        self.folder.close()

    def read(self, path: str) -> bytes:
        """The content of a file that is about to be appended to; b"" when it is missing."""
        step = self._open(path)
        if step.content is None:
            step.content = os.pread(step.fd, step.size, 0)
        return step.content

    def folded(self, path: str, fold: Fold) -> bytearray:
        """The content with `fold` applied; it must treat each line alone. Kept in memory if possible."""
        known = self._open(path).known.folded
        if fold not in known:
            known[fold] = bytearray(fold(self.read(path)))
        return known[fold]

    def append(self, path: str, data: bytes, *, template: str = "") -> int:
        """Plan to append whole lines; returns the line number the first of them will have.

        A file that is missing or empty starts with the template of this name.
        """
        step = self._open(path)
        if not step.size and not step.data and template:
            step.data = load_template(template)
        number = step.lines + step.data.count(b"\n") + 1
        step.data += data
        if not any(step is planned for planned in self._steps):
            self._steps.append(step)
        return number

    def planned(self, path: str) -> bytes:
        """The content that a file will have after what is appended to it."""
        added = self._appends[path].data if path in self._appends else b""
        return (self.folder.read(path) or b"") + added

    def confirm(self, paths: Sequence[str]) -> None:
        """Make sure that these files are on the disk: a line that answers for a new one may be so
        fresh that its writer has not synced it yet.
        """
        for path in paths:
            with our_errors(path):
                atomic_write.sync_file(self.folder, path)
        with our_errors(LOCK_PATH):
            # A turn of our own: from now on the line's writer may not take it back.
            self._write_state(self._state.after())

    def replace(self, path: str, data: bytes, expected: Stamp | None) -> None:
        """Plan to put `data` in the place of a file that still has the stamp `expected`."""
        with our_errors(path):
            mode = FILE_MODE
            if expected is not None:
                fd, found = self.folder.open(path)  # refuses a file with a second name
                close_quietly(fd)
                mode = found.st_mode & 0o777
            staged = atomic_write.stage(self.folder, data, mode=mode)
        self._steps.append(Replace(path, staged, expected))

    def remove(self, path: str, expected: Stamp | None) -> None:
        """Plan to delete a file that has this stamp. Removals come last: they cannot be taken back."""
        self._steps.append(Replace(path, None, expected))

    def staged(self) -> set[str]:
        """The staged files of this transaction."""
        steps = (step for step in self._steps if isinstance(step, Replace))
        return {step.staged for step in steps if step.staged is not None}

    def commit(self) -> None:
        """Do every step, in order; what was appended is on the disk before anything is replaced."""
        if not self._steps:
            return
        done: list[Step] = []
        self._steps.sort(key=lambda step: isinstance(step, Replace) and step.staged is None)
        try:
            for step in self._steps:
                if isinstance(step, Replace):
                    step.check(self.folder)  # before anything is done that could not be undone
            self._check(self.folder, self._steps)
            with our_errors(LOCK_PATH):
                self._write_state(self._state.with_intent(self._steps))
            for step in self._steps:
                done.append(step)
                with our_errors(step.path):
                    if isinstance(step, Replace):
                        for append in self._planned_appends():
                            append.sync()
                    step.do(self.folder)
        except BaseException:  # also Ctrl-C half-way: what was not acknowledged goes
            self._take_back(done)
            raise
        self._is_committed = True
        with suppress(OSError):  # it is done; finding it done again does no harm
            if not (self._lock and self._lock.sharing):  # else it is done when it is published
                self._write_state(self._state.after())
            for append in self._planned_appends():
                _keep_known(append)

    def size_of(self, path: str) -> tuple[int, int]:
        """Bytes and lines of a file this transaction has appended to."""
        step = self._open(path)
        return step.size + len(step.data), step.lines + step.data.count(b"\n")

    def _open(self, path: str) -> Append:
        """A file opened for appending, read once, and mended if a crash has torn its end.

        If another program saves or extends it meanwhile, it is read again: a line appended to a file
        that has lost its name would be lost with it.
        """
        if path in self._appends:
            return self._appends[path]
        step = self._appends[path] = Append(path, 0, 0, b"")
        try:
            for _ in range(_MAX_READS):
                fd, step.fd = step.fd, -1
                close_quietly(fd)
                step.fd, found = self.folder.open(path, atomic_write.APPEND)
                known = _known.get(found.st_ino)
                if known is not None and known.stamp == _full_stamp(found):
                    step.inode, step.size = found.st_ino, found.st_size
                    step.known, step.content, step.lines = known, None, known.lines
                    return step
                content = os.pread(step.fd, found.st_size, 0)
                glue = mend(self.folder, step.fd, path, content)
                now = self.folder.stamp(path)
                if glue is None or now is None or now[:2] != (found.st_ino, len(content)):
                    continue
                step.inode, step.size, step.data = found.st_ino, found.st_size, glue
                step.content, step.lines = content, content.count(b"\n")
                return step
        except FileNotFoundError:
            return step
        except OSError as error:
            raise storage_error(error, path) from error
        message = f"Another program keeps changing {path}. Nothing was written."
        raise FileChangedError(message, path=path, hint="Try again when it is done.")

    def _recover(self, lock: WriterLock) -> LockState:
        with our_errors(LOCK_PATH):
            state = LockState.decode(lock.read_state())
            for step in state.unfinished():
                with our_errors(step.path):
                    step.redo(self.folder)
                self.recovered = True
            if self.recovered:
                lock.write_state(state.after())
        return state

    def _planned_appends(self) -> list[Append]:
        return [step for step in self._steps if isinstance(step, Append)]

    def _write_state(self, data: bytes) -> None:
        if self._lock is not None:
            self._lock.write_state(data)

    def _release(self) -> None:
        if self._lock is not None:
            lock, self._lock = self._lock, None
            lock.release()

    def _publish(self) -> None:
        """Where others have the same files: nothing is acknowledged before they can have it."""
        if self._lock and self._lock.sharing:
            self._lock.sharing.publish(self.folder)
            if self._is_committed:
                with suppress(OSError):
                    self._write_state(self._state.after())

    def _sync(self) -> None:
        for step in self._planned_appends():
            try:
                step.sync()
            except OSError as error:
                self._withdraw()
                raise storage_error(error, step.path) from error

    def _keep_in_place(self) -> None:
        """Append once more to a file that an editor has saved meanwhile, without our lines.

        After a change by another of our own writers they may be missing for a reason (trimmed), so then
        it is only reported.
        """
        lost = self._planned_appends()
        with suppress(OSError, MemolithError):
            lost = [step for step in lost if not step.is_in_place(self.folder)]
            if not lost:
                return
            self._lock = WriterLock(self.folder, self._lock_timeout_seconds)
            is_last = self._recover(self._lock).turn == self._state.turn
            for step in list(lost):
                if is_last:
                    step.redo(self.folder)
                if step.data.strip(b"\n") in (self.folder.read(step.path) or b""):
                    lost.remove(step)
        self.warnings = tuple(
            f"{step.path} was changed by another program in this moment, and may not hold the new lines."
            " Look into it, and write them again if they are missing."
            for step in lost
        )

    def _withdraw(self) -> None:
        """Take back lines that could not be synced, so that a retry really writes them again.

        If anybody has written or confirmed anything meanwhile they stay, whole but not acknowledged.
        """
        with suppress(OSError, MemolithError):
            self._lock = WriterLock(self.folder, self._lock_timeout_seconds)
            is_last = LockState.decode(self._lock.read_state()).turn == self._state.turn
            if is_last and all(step.can_undo(self.folder) for step in self._steps):
                for step in self._steps:
                    step.undo(self.folder)

    def _take_back(self, done: list[Step]) -> None:
        """Undo while that is still possible; else leave the intent, and the next writer finishes."""
        self._intent_stays = True
        with suppress(OSError, MemolithError):
            if all(step.can_undo(self.folder) for step in done):
                for step in reversed(done):
                    step.undo(self.folder)
                self._write_state(self._state.after())
                self._intent_stays = False


def _full_stamp(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _keep_known(step: Append) -> None:
    """Note what a file holds now, under the lock: the next append of this process need not read it."""
    found, known = os.fstat(step.fd), step.known
    _known.pop(found.st_ino, None)
    if found.st_size > _MAX_KNOWN_BYTES:
        return
    known.stamp, known.lines = _full_stamp(found), step.lines + step.data.count(b"\n")
    for fold, folded in known.folded.items():
        folded.extend(fold(step.data))
    _known[found.st_ino] = known
    while len(_known) > _MAX_KNOWN:
        del _known[next(iter(_known))]


def rewrite_file(path: str, change: Callable[[bytes], bytes], store: StoreConfig) -> bool:
    """Change one file under the writer lock of its folder; returns whether it is different now."""
    root, name = os.path.split(path)
    with (
        Folder(root, create=True) as folder,
        Transaction(folder, store.lock_timeout_seconds) as transaction,
    ):
        stamp = folder.stamp(name)
        before = folder.read(name) or b""
        after = change(before)
        if after != before:
            transaction.replace(name, after, stamp)
            transaction.commit()
    return after != before
