"""Changes to several files that happen together, or not at all, even if we die half-way.

Before the first file is touched, the lock file gets the *intent*: the steps, with the size and inode
each file had. If we die, the next writer of the same boot finishes them (redo). We never undo after
a crash: after a power cut a stale intent may reappear, and undoing would remove acknowledged words.
An intent from another boot is ignored, because whatever was acknowledged had been synced.

Appended lines are synced after the lock is given up: a process that dies cannot take them out of
the page cache, and the fsyncs of many writers share their work instead of queueing. Only then does
the `with` block end, and only then may the caller acknowledge.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from memolith import clock
from memolith.errors import FileChangedError, MemolithError
from memolith.files import atomic_write
from memolith.files.companion import Companion
from memolith.files.folder import stamp_of, storage_error
from memolith.files.handles import Handles
from memolith.files.intent import LockState
from memolith.files.layout import load_template
from memolith.files.locks import LOCK_PATH
from memolith.files.steps import Append, Remove, Replace, Step
from memolith.files.tail import mend_holes, mend_tail
from memolith.types import Stamp

# A sync that takes longer is worth a second thread.
_SLOW_SYNC = 0.0003
# So often a file that others change meanwhile is looked at before it is given up.
_LOOKS = 10


class Transaction:
    """The steps of one change, made under the writer lock. Nothing is written before `commit` (but
    `append` moves a line torn by a crash to quarantine, whatever comes of the change), and nothing
    is promised before the `with` block has ended without an error.
    """

    def __init__(self, handles: Handles, lock_timeout_seconds: float) -> None:
        """Take the writer lock and finish what a killed writer left behind; `handles` are ours."""
        self.handles = handles
        self.folder = handles.folder
        self.recovered = False
        self._steps: list[Step] = []
        self._appends: list[Append] = []  # those of the steps that are appends
        self._intent_stays = False
        self._lock_timeout_seconds = lock_timeout_seconds
        self._has_lock = True
        try:
            self._state = self._begin()
        except BaseException:  # Ctrl-C too: nobody would free the lock; raised again
            handles.close()  # the lock is freed with it
            raise

    def __enter__(self) -> Transaction:
        """The transaction."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        """Let the next writer in, sync what was appended, keep or close what was opened."""
        whole = False
        try:
            try:
                self._drop_staged()
            finally:
                self.release()
            if kind is None:
                self._sync()
                whole = True
        finally:
            for step in self._appends:
                self.handles.adopt(step.path, step.fd)
            if whole:
                self.handles.give_back()
            else:
                self.handles.close()

    def release(self) -> None:
        """Let the next writer in, also before the block ends: then nothing more can be written."""
        if self._has_lock:
            self._has_lock = False
            self.handles.lock.release()

    def append(self, path: str, data: bytes, *, template: str = "") -> int:
        """Plan to append whole lines; returns the line number the first of them will have.

        A file that is missing or empty starts with the template of this name.
        """
        step = Append(path, 0, 0, data)
        self._steps.append(step)
        self._appends.append(step)
        try:
            lines, glue = self._look(step)
        except FileNotFoundError:
            return self._begin_file(step, template)
        except OSError as error:
            raise storage_error(error, path) from error
        if not step.size:
            return self._begin_file(step, template)
        step.data = glue + data
        return lines + len(glue) + 1

    def _look(self, step: Append) -> tuple[int, bytes]:
        """How many lines there are, and what to put before the next; what a crash left is mended first.

        A file that is not as we left it is read from its beginning. Who saves or adds to it meanwhile
        has it looked at again: what is appended to a file that has lost its name would be lost with it.
        """
        path = step.path
        for _ in range(_LOOKS):
            step.fd, found = self.handles.open_for_append(path)
            step.inode, step.size = found.st_ino, found.st_size
            lines = self._state.lines_of(path, stamp_of(found))
            if lines is not None:
                return lines, b""  # as we left it: whole lines, ending in a newline
            if mend_holes(self.folder, step.fd, path, found):
                continue
            step.size, glue = mend_tail(self.folder, step.fd, path, found.st_size)
            lines = self._state.count_lines(step, stamp_of(found))
            now = self.folder.stamp(path)
            if now is not None and now[:2] == (step.inode, step.size):
                return lines, glue
        raise FileChangedError(
            f"Another program keeps changing {path}. Nothing was written.",
            path=path,
            hint="Try again when it is done.",
        )

    def _begin_file(self, step: Append, template: str) -> int:
        self._state.forget_file(step.path)
        try:
            header = load_template(template) if template else b""
        except OSError as error:
            raise storage_error(error, f"the template of {template}") from error
        step.data = header + step.data
        return header.count(b"\n") + 1

    def confirm(self, paths: Sequence[str]) -> None:
        """Make sure that what stands in these files is on the disk: a line that answers for a new
        one may be so fresh that its writer has not synced it yet.
        """
        for path in paths:
            try:
                atomic_write.sync_file(self.folder, path)
                # A turn of our own: from now on the line's writer may not take it back.
                self.handles.write_state(self._state.after([]))
            except OSError as error:
                raise storage_error(error, path) from error

    def replace(self, path: str, data: bytes, expected: Stamp | None) -> None:
        """Plan to put `data` in the place of a file that still has the stamp `expected`."""
        try:
            self._steps.append(Replace.prepare(self.folder, path, data, expected))
        except OSError as error:
            raise storage_error(error, path) from error

    def staged(self) -> set[str]:
        """The staged files of this transaction."""
        return {step.staged for step in self._steps if isinstance(step, Replace)}

    def remove(self, path: str, expected: Stamp | None) -> None:
        """Plan to delete a file. Removals come last: they cannot be taken back."""
        self._steps.append(Remove(path, expected))

    def commit(self) -> None:
        """Do every step, in order; what was appended is on the disk before anything is replaced."""
        if not self._steps:
            return
        done: list[Step] = []
        path = self._steps[0].path
        try:
            for step in self._steps:
                path = step.path
                if isinstance(step, Replace):
                    step.check(self.folder)  # before anything is done that could not be undone
            self.handles.write_intent(self._state.with_intent(self._steps))
            for step in self._steps:
                path = step.path
                done.append(step)
                if not isinstance(step, Append):
                    self.handles.close_table()  # what it is a hint for may change
                    for earlier in done:
                        if isinstance(earlier, Append):
                            earlier.sync(self.folder)
                step.do(self.folder)
        except OSError as error:
            self._take_back(done)
            raise storage_error(error, path) from error
        except BaseException:  # Ctrl-C half-way: what was not acknowledged goes; raised again
            self._take_back(done)
            raise
        with suppress(OSError):  # it is done; finding it done again does no harm
            self.handles.write_state(self._state.after(self._steps))

    def left_behind(self, path: str) -> tuple[Stamp, int]:
        """Stamp and number of lines of a file this transaction has appended to."""
        inode, size, mtime, lines = self._state.files.get(path, (0, 0, 0, 0))
        return (inode, size, mtime), lines

    def _begin(self) -> LockState:
        path = LOCK_PATH
        try:
            state = self.handles.take_lock(self._lock_timeout_seconds)
            if state.steps:
                for step in state.unfinished():
                    path = step.path
                    step.redo(self.folder)
                    self.recovered = True
                if self.recovered:
                    self.handles.write_state(state.after([]))
        except OSError as error:
            raise storage_error(error, path) from error
        return state

    def _sync(self) -> None:
        beside = self._begin_beside()
        try:
            failed = self._sync_each(self._appends[:1] if beside else self._appends)
        finally:
            # Waited for in any case: nobody may cut or close a file that is being synced.
            error = beside.end() if beside else None
        if error and not failed:
            failed = error, self._appends[1].path
        if failed:
            self._withdraw()
            raise storage_error(*failed) from failed[0]

    def _begin_beside(self) -> Companion | None:
        """Sync the second of two files at the same time: the file system then needs one commit for
        both. Only where that takes longer than to wake a thread: not for the first record of a
        process, and not on a disk as fast as memory.
        """
        if len(self._appends) != 2 or self.handles.sync_seconds < _SLOW_SYNC:
            return None
        try:
            companion = Companion.take()
        except OSError:
            return None  # one after the other, then
        companion.begin(lambda: self._appends[1].sync(self.folder))
        return companion

    def _sync_each(self, appends: list[Append]) -> tuple[OSError, str] | None:
        begun = clock.monotonic()
        for step in appends:
            try:
                step.sync(self.folder)
            except OSError as error:
                return error, step.path
            if step is appends[0]:
                self.handles.sync_seconds = clock.monotonic() - begun
        return None

    def _withdraw(self) -> None:
        """Take back lines that could not be synced, so that a retry really writes them again.

        If anybody has written or confirmed anything meanwhile they stay, whole but not acknowledged.
        """
        with suppress(OSError, MemolithError):
            turn = self._state.turn
            is_last = self.handles.take_lock(self._lock_timeout_seconds).turn == turn
            try:
                if is_last and all(step.can_undo(self.folder) for step in self._steps):
                    for step in self._steps:
                        step.undo(self.folder)
            finally:
                self.handles.lock.release()

    def _drop_staged(self) -> None:
        for step in self._steps:
            if isinstance(step, Replace) and not self._intent_stays:
                with suppress(OSError):
                    atomic_write.remove(self.folder, step.staged)

    def _take_back(self, done: list[Step]) -> None:
        """Undo while that is still whole; else leave the intent, and the next writer finishes."""
        self._intent_stays = True
        with suppress(OSError, MemolithError):
            if all(step.can_undo(self.folder) for step in done):
                for step in reversed(done):
                    step.undo(self.folder)
                self.handles.write_state(self._state.after([]))
                self._intent_stays = False
