"""The writer lock: one kernel lock per profile, taken by every writer, freed when a process dies.

The lock file is never deleted, and it doubles as the place of the intent (see `transaction.py`):
what the holder was about to do, so that the next holder can finish it after a crash.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from time import sleep

from memolith import clock
from memolith.errors import LocksUnavailableError, WriterBusyError
from memolith.files.folder import (
    FILE_MODE,
    FOLDER_MODE,
    Folder,
    close_quietly,
    storage_error,
)

STATE_FOLDER = ".memolith"
LOCK_PATH = f"{STATE_FOLDER}/write.lock"
JOB_LOCK = f"{STATE_FOLDER}/job.lock"
SCHEDULE_LOCK = f"{STATE_FOLDER}/schedule.lock"
SYNC_LOCK = f"{STATE_FOLDER}/sync.lock"
_NO_LOCKS_HERE = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
# The lock file of ordinary appends; after a larger change it is cut back to this.
_ORDINARY_SIZE = 8192
_FIRST_NAP = 0.0005
_LONGEST_NAP = 0.008
_CLOSED = -1
_open_handles: set[int] = set()
_forks = 0  # how many times this process is a fork of a fork


class WriterLock:
    """The lock of one profile; its file holds what the writer is about to do."""

    __slots__ = ("_fd", "_file", "_folder", "_forks", "_size")

    def __init__(self, folder: Folder) -> None:
        """Not taken, and not even open."""
        self._folder = folder
        self._fd = _CLOSED
        self._file = (0, 0)  # inode and device of the open lock file
        self._forks = _forks
        self._size = 0

    def take(self, timeout_seconds: float) -> None:
        """Take the lock, waiting in line at most `timeout_seconds`."""
        deadline = clock.monotonic() + timeout_seconds
        while True:
            if self._fd == _CLOSED or self._forks != _forks:
                self._open()
            fd, self._fd = self._fd, _CLOSED  # whatever fails below closes it
            _take(fd, deadline, timeout_seconds)
            try:
                # Whoever replaced or deleted the lock file let a second holder in: only the file
                # that still has the name counts.
                found = os.stat(LOCK_PATH, dir_fd=self._folder.fd, follow_symlinks=False)
            except FileNotFoundError:
                close_handle(fd)
                continue
            except OSError as error:
                close_handle(fd)
                raise storage_error(error, LOCK_PATH) from error
            except BaseException:  # Ctrl-C while waiting: no handle stays open; raised again
                close_handle(fd)
                raise
            if (found.st_ino, found.st_dev) == self._file:
                break
            close_handle(fd)
        self._fd = fd
        self._size = found.st_size

    def release(self) -> None:
        """Let the next writer in, even if a forked child still has a copy of our handle."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        except OSError:
            self.close()  # that frees it too

    def close(self) -> None:
        """Close the lock file, and with it free the lock."""
        if self._fd != _CLOSED:
            close_handle(self._fd)
            self._fd = _CLOSED

    def _open(self) -> None:
        self._fd = _open_lock_file(self._folder)
        self._forks = _forks
        try:
            found = os.fstat(self._fd)
        except OSError as error:
            self.close()
            raise storage_error(error, LOCK_PATH) from error
        self._file = (found.st_ino, found.st_dev)

    def read_state(self) -> bytes:
        """What the last holder left in the lock file."""
        return os.pread(self._fd, self._size, 0)

    def write_state(self, data: bytes) -> bytes:
        """Leave this in the lock file for the next holder, and nothing of what stood there before.

        Returns what stands there now, which may be longer.

        Not synced: it only has to outlive this process, not this machine (see `transaction.py`).
        Blanked rather than cut: a truncation would make the next fsync of our files dearer by half.
        """
        data = data.ljust(min(self._size, _ORDINARY_SIZE), b" ")
        if os.pwrite(self._fd, data, 0) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        if self._size > len(data):
            os.ftruncate(self._fd, len(data))
        self._size = len(data)
        return data


class OwnerLock:
    """A lock that is taken at once or not at all, and may be held for long: it stops no writer.

    One job at a time runs in a profile, and one process keeps its schedule.
    """

    __slots__ = ("_fd", "_folder", "_path")

    def __init__(self, folder: Folder, path: str) -> None:
        """Take the lock, or raise BlockingIOError when another process or thread has it."""
        self._folder, self._path = folder, path
        self._fd = self._taken()
        while not self.has_its_name():  # somebody deleted or replaced the file just then
            self.release()
            self._fd = self._taken()

    def _taken(self) -> int:
        fd = _open_lock_file(self._folder, self._path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            close_handle(fd)
            raise
        except OSError as error:
            close_handle(fd)
            raise _no_locks(error) from error
        return fd

    def has_its_name(self) -> bool:
        """Whether the file we hold still has its name; if not, another process may hold one that has."""
        try:
            found = os.stat(self._path, dir_fd=self._folder.fd, follow_symlinks=False)
            return os.path.samestat(found, os.fstat(self._fd))
        except OSError:
            return False

    def __enter__(self) -> OwnerLock:
        """The held lock."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of it."""
        self.release()

    def release(self) -> None:
        """Let go of it; the kernel does the same when we die."""
        with suppress(OSError):
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        close_handle(self._fd)


def _open_lock_file(folder: Folder, path: str = LOCK_PATH) -> int:
    try:
        try:
            fd, _ = folder.open(path, os.O_RDWR)
        except FileNotFoundError:
            make_state_folder(folder)
            fd, _ = folder.open(path, os.O_RDWR | os.O_CREAT)
            os.fchmod(fd, FILE_MODE)
    except OSError as error:
        raise storage_error(error, path) from error
    _open_handles.add(fd)  # before we wait: a child may be forked meanwhile
    return fd


def make_state_folder(folder: Folder) -> None:
    """Make the folder for what is not the memory itself: private, and not for git."""
    try:
        os.mkdir(STATE_FOLDER, FOLDER_MODE, dir_fd=folder.fd)
    except FileExistsError:
        return
    os.chmod(STATE_FOLDER, FOLDER_MODE, dir_fd=folder.fd)
    # Memory may be kept in git; what we derive or keep for recovery should not be.
    fd, _ = folder.open(f"{STATE_FOLDER}/.gitignore", os.O_WRONLY | os.O_CREAT)
    try:
        os.fchmod(fd, FILE_MODE)
        os.write(fd, b"*\n")
    finally:
        close_quietly(fd)


def _take(fd: int, deadline: float, timeout_seconds: float) -> None:
    """Take the lock, or close the handle."""
    try:
        if _is_free_soon(fd, deadline):
            return
    except OSError as error:
        close_handle(fd)
        raise _no_locks(error) from error
    except BaseException:  # Ctrl-C just when we got it: it must not stay with nobody; raised again
        close_handle(fd)
        raise
    _wait_in_line(fd, deadline, timeout_seconds)


def _is_free_soon(fd: int, deadline: float) -> bool:
    """Take the lock now or within a few naps, each twice as long as the one before.

    Whoever queues is woken in another thread, with the lock already taken, and all others wait for
    that switch. So only the unlucky queue: nobody who only polls has a place in line.
    """
    nap = _FIRST_NAP
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if nap > _LONGEST_NAP or clock.monotonic() + nap > deadline:
                return False
            sleep(nap)
            nap *= 2
        else:
            return True


def _wait_in_line(fd: int, deadline: float, timeout_seconds: float) -> None:
    """Block in the kernel's queue, in a thread that gives up for us at the deadline."""
    from memolith.files.lock_queue import Waiter  # threads are imported only when we must wait

    # Read before we wait: once we give up, the handle belongs to the waiter.
    holder = os.pread(fd, 200, 0).decode(errors="replace")
    holder = holder.partition('"pid": ')[2].partition(",")[0].strip(" }\n") or "unknown"
    try:
        if Waiter(fd, close_handle).wait(max(0.0, deadline - clock.monotonic())):
            return
    except OSError as error:
        raise _no_locks(error) from error
    raise WriterBusyError(
        f"Another process is writing to this profile (process {holder}); "
        f"waited {timeout_seconds:g} seconds. Nothing was changed.",
        holder=holder,
        waited_seconds=timeout_seconds,
        hint="Try again, or raise store.lock_timeout_seconds.",
    )


def _no_locks(error: OSError) -> LocksUnavailableError | Exception:
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
    """Close a handle of the lock file, unless a fork has closed it and its number is another's."""
    if fd in _open_handles:
        _open_handles.discard(fd)
        close_quietly(fd)


def _close_in_child() -> None:
    """A forked child closes its copies: it must not keep the parent's lock alive."""
    global _forks  # noqa: PLW0603 - a fork concerns the whole process
    _forks += 1
    while _open_handles:
        close_quietly(_open_handles.pop())


os.register_at_fork(after_in_child=_close_in_child)
