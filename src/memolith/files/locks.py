"""The writer lock: one kernel lock per profile, taken by every writer, freed when a process dies.

The lock file is never deleted, and it also holds the intent (see `transaction.py`): what the holder
is about to do, so that the next holder can finish it after a crash.
"""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from contextlib import AbstractContextManager, suppress

from memolith import clock
from memolith.errors import LocksUnavailableError, MemolithError, WriterBusyError
from memolith.files.folder import FOLDER_MODE, Folder, close_quietly, our_errors, storage_error
from memolith.files.sharing import shared

STATE_FOLDER = ".memolith"
LOCK_PATH = f"{STATE_FOLDER}/write.lock"
JOB_LOCK = f"{STATE_FOLDER}/job.lock"
SCHEDULE_LOCK = f"{STATE_FOLDER}/schedule.lock"
EMBED_LOCK = f"{STATE_FOLDER}/embed.lock"
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
# The lock file is padded to this size: a truncation would make the next fsync of our files dearer.
_STATE_BYTES = 4096
_open_handles: set[int] = set()


class OwnerLock(AbstractContextManager["OwnerLock"]):
    """A kernel lock on a file of the profile, held from the moment it is made until `release`."""

    def __init__(
        self, folder: Folder, path: str, timeout_seconds: float = 0.0, *, alone: bool = False
    ) -> None:
        """Take the lock; raises BlockingIOError if it is not free in time. `alone` is on this machine only."""
        self._folder, self._path = folder, path
        self.sharing = None if alone else shared.get(folder.root)
        deadline = clock.monotonic() + timeout_seconds
        while True:
            self._fd = _open_lock_file(folder, path)
            try:
                _take(self._fd, deadline)
                # A lock file that was deleted or replaced meanwhile may have let a second holder in:
                # only the file that still has the name counts.
                if self._is_named():
                    if self.sharing:
                        self.sharing.take(folder, path, max(0.0, deadline - clock.monotonic()))
                    return
            except BaseException:  # also Ctrl-C: nobody would free the lock; raised again
                close_handle(self._fd)
                raise
            close_handle(self._fd)

    def __exit__(self, *_: object) -> None:
        """Release it."""
        self.release()

    def has_its_name(self) -> bool:
        """Whether the file we hold still has its name; if not, another process may hold a new one."""
        return self._is_named() and (self.sharing is None or self.sharing.holds(self._path))

    def _is_named(self) -> bool:
        with our_errors(self._path), suppress(FileNotFoundError):
            found = os.stat(self._path, dir_fd=self._folder.fd, follow_symlinks=False)
            return os.path.samestat(found, os.fstat(self._fd))
        return False

    def release(self) -> None:
        """Free the lock, even if a forked child has a copy; the kernel does the same when we die."""
        if self.sharing:
            self.sharing.give_back(self._path)
        with suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        close_handle(self._fd)


class WriterLock(OwnerLock):
    """The lock of all writers; its file holds what the writer is about to do."""

    def __init__(self, folder: Folder, timeout_seconds: float) -> None:
        """Wait in line for at most `timeout_seconds`, then raise WriterBusyError."""
        try:
            super().__init__(folder, LOCK_PATH, timeout_seconds)
        except BlockingIOError as error:
            data = folder.read(LOCK_PATH, limit=200) or b""
            pid = data.partition(b'"pid": ')[2].partition(b",")[0].decode(errors="replace")
            raise WriterBusyError(
                f"Another process is writing to this profile (process {pid or 'unknown'}); "
                f"waited {timeout_seconds:g} seconds. Nothing was changed.",
                holder=pid or "unknown",
                waited_seconds=timeout_seconds,
                hint="Try again, or raise store.lock_timeout_seconds.",
            ) from error

    def read_state(self) -> bytes:
        """What the last holder left in the lock file."""
        return os.pread(self._fd, os.fstat(self._fd).st_size, 0)

    def write_state(self, data: bytes) -> None:
        """Leave this for the next holder, and nothing of what was there before.

        Not synced: it has to outlive this process, not this machine.
        """
        data = data.ljust(_STATE_BYTES)
        if os.pwrite(self._fd, data, 0) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if os.fstat(self._fd).st_size > len(data):
            os.ftruncate(self._fd, len(data))


def _open_lock_file(folder: Folder, path: str) -> int:
    with our_errors(path):
        try:
            fd, _ = folder.open(path, os.O_RDWR)
        except FileNotFoundError:
            make_state_folder(folder)
            fd, _ = folder.open(path, os.O_RDWR | os.O_CREAT)
    _open_handles.add(fd)  # before we wait: a child may be forked meanwhile
    return fd


def make_state_folder(folder: Folder) -> None:
    """Make the folder for everything that is not the memory itself: private, and not for git."""
    try:
        os.mkdir(STATE_FOLDER, FOLDER_MODE, dir_fd=folder.fd)
    except FileExistsError:
        return
    os.chmod(STATE_FOLDER, FOLDER_MODE, dir_fd=folder.fd)
    with folder.opened(f"{STATE_FOLDER}/.gitignore", os.O_WRONLY | os.O_CREAT) as fd:
        os.write(fd, b"*\n")


def _take(fd: int, deadline: float) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        seconds = deadline - clock.monotonic()
        if seconds <= 0:
            raise
        _wait(fd, seconds)
    except OSError as error:
        raise _cannot_lock(error) from error


def _wait(fd: int, seconds: float) -> None:
    """Wait for a lock in the queue of the kernel; raises BlockingIOError when the time is over.

    `flock` has no deadline, so a thread blocks in it, on a copy of the handle. A wait that is given up
    leaves the thread behind: it closes its copy as soon as it gets the lock, and that frees the lock.
    """
    copy = os.dup(fd)
    _open_handles.add(copy)
    is_ours = threading.Event()

    def block() -> None:
        with suppress(OSError):
            fcntl.flock(copy, fcntl.LOCK_EX)
            is_ours.set()
        close_handle(copy)

    try:
        threading.Thread(target=block, daemon=True).start()
    except RuntimeError:  # too many threads
        close_handle(copy)
        seconds = 0
    if not is_ours.wait(min(seconds, threading.TIMEOUT_MAX)):
        raise BlockingIOError(errno.EAGAIN, "the lock is held")


def _cannot_lock(error: OSError) -> MemolithError:
    if error.errno not in _NO_LOCKS_HERE:
        return storage_error(error, LOCK_PATH)
    return LocksUnavailableError(
        "This file system has no working file locks, so two writers could harm each other's words. "
        "Nothing was written.",
        path=LOCK_PATH,
        errno=error.errno or 0,
        hint="Keep the profile on a local disk, or mount the share with locking.",
    )


def close_handle(fd: int) -> None:
    """Close a handle of a lock file, unless a fork has closed it and its number belongs to another file."""
    if fd in _open_handles:
        _open_handles.discard(fd)
        close_quietly(fd)


def _close_in_child() -> None:
    """A forked child closes its copies: it must not keep the parent's lock alive."""
    while _open_handles:
        close_quietly(_open_handles.pop())


os.register_at_fork(after_in_child=_close_in_child)
