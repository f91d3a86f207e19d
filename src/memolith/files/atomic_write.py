"""Every system call that changes a file of a profile. Nothing else in Memolith writes.

An append is written and synced in place; any other change is a new file, synced, then renamed over
the old one, then the folder is synced: without that last step the rename itself may be lost.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from memolith.config.load import syncs
from memolith.files.folder import FILE_FLAGS, FILE_MODE, FOLDER_MODE, Folder, close_quietly
from memolith.files.locks import STATE_FOLDER

STAGING = f"{STATE_FOLDER}/staging"
_PIECE = 1 << 16
APPEND = os.O_RDWR | os.O_APPEND
# macOS: fsync only reaches the drive's cache; F_FULLFSYNC asks the drive to flush it.
_FULL_SYNC = getattr(fcntl, "F_FULLFSYNC", None)
_data_sync = getattr(os, "fdatasync", os.fsync)


def create_for_append(folder: Folder, path: str) -> int:
    """Open a file for appending; make it and its folders, private to the user, when missing."""
    make_folders(folder, path)
    return folder.open(path, APPEND | os.O_CREAT)[0]


def write_all(fd: int, data: bytes) -> None:
    """Write every byte, or raise.

    In pieces: Linux keeps what is written at once in one large page, and each later change of a few
    bytes in that page then takes ten times as long.
    """
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left[:_PIECE]) :]


def sync_file(folder: Folder, path: str) -> None:
    """Sync a file to the disk; a missing file is fine."""
    with suppress(FileNotFoundError), folder.opened(path, APPEND) as fd:
        sync_data(fd)


def sync_data(fd: int) -> None:
    """Put a file's content on the disk. A failure is final: a second fsync may lie."""
    if not syncs():
        return
    if _FULL_SYNC is not None:
        fcntl.fcntl(fd, _FULL_SYNC)
    else:
        _data_sync(fd)


def sync_parent(folder: Folder, path: str) -> None:
    """Put the names in a file's folder on the disk."""
    if syncs():
        os.fsync(folder.parent(path)[0])


def make_folders(folder: Folder, path: str) -> None:
    """Make the folders above `path`, each 0700 and synced into its parent."""
    parts = path.split("/")
    for depth in range(1, len(parts)):
        below = "/".join(parts[:depth])
        parent, name = folder.parent(below)
        try:
            os.mkdir(name, FOLDER_MODE, dir_fd=parent)
        except FileExistsError:
            continue
        os.chmod(name, FOLDER_MODE, dir_fd=parent)
        sync_parent(folder, below)


def stage(folder: Folder, data: bytes, *, mode: int = FILE_MODE) -> str:
    """Write a new file beside the profile's files, synced and ready to be renamed into place."""
    path = f"{STAGING}/{os.urandom(8).hex()}"
    make_folders(folder, path)
    with folder.opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as fd:
        try:
            write_all(fd, data)
            os.fchmod(fd, mode)
            sync_data(fd)
        except BaseException:  # half a file would only fill the disk; raised again
            with suppress(OSError):
                remove(folder, path)
            raise
    return path


def copy_linked(folder: Folder, path: str) -> None:
    """Replace a file that has a second name by a copy of its own; call under the writer lock."""
    parent, name = folder.parent(path)
    with open(os.open(name, os.O_RDONLY | FILE_FLAGS, dir_fd=parent), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode & 0o700
        staged = stage(folder, file.read(), mode=mode)
    move(folder, staged, path)


def move(folder: Folder, source: str, target: str) -> None:
    """Rename a staged file into place, durably."""
    make_folders(folder, target)
    source_fd, source_name = folder.parent(source)
    target_fd, target_name = folder.parent(target)
    os.rename(source_name, target_name, src_dir_fd=source_fd, dst_dir_fd=target_fd)
    sync_parent(folder, target)


def remove(folder: Folder, path: str) -> None:
    """Delete a file, durably; a missing file is fine."""
    with suppress(FileNotFoundError):
        parent, name = folder.parent(path)
        os.unlink(name, dir_fd=parent)
        sync_parent(folder, path)


def remove_empty_folder(folder: Folder, path: str) -> None:
    """Delete a folder that holds nothing any more; one that is missing or in use stays as it is."""
    with suppress(OSError):
        parent, name = folder.parent(path)
        os.rmdir(name, dir_fd=parent)


def cut(fd: int, size: int) -> None:
    """Take back what was written behind `size`."""
    os.ftruncate(fd, size)


def set_mode(folder: Folder, path: str, mode: int) -> None:
    """Change a file's or folder's mode; links are not followed."""
    parent, name = folder.parent(path)
    fd = os.open(name, os.O_RDONLY | FILE_FLAGS, dir_fd=parent)
    try:
        os.fchmod(fd, mode)
    finally:
        close_quietly(fd)


def write_private_file(folder: Folder, path: str, data: bytes) -> None:
    """Write a whole file that nobody else writes at the same time (backup, quarantine, settings)."""
    move(folder, stage(folder, data), path)


def write_elsewhere(path: str, data: bytes, *, mode: int = FILE_MODE) -> None:
    """Write a whole file that belongs to no profile, such as the settings of an agent host."""
    folder, name = os.path.split(path)
    os.makedirs(folder, FOLDER_MODE, exist_ok=True)
    staged = os.path.join(folder, f".{name}.{os.urandom(4).hex()}")
    fd = os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS, FILE_MODE)
    try:
        write_all(fd, data)
        os.fchmod(fd, mode)
        sync_data(fd)
        os.rename(staged, path)
    except BaseException:  # half a file would only confuse; raised again
        with suppress(OSError):
            os.unlink(staged)
        raise
    finally:
        close_quietly(fd)


def remove_elsewhere(path: str, folders: int = 0) -> None:
    """Delete a file that belongs to no profile, and this many empty folders above it."""
    with suppress(FileNotFoundError):
        os.unlink(path)
    with suppress(OSError):  # not empty: somebody else uses it
        for _ in range(folders):
            path = os.path.dirname(path)
            os.rmdir(path)


def append_hint(folder: Folder, path: str, data: bytes, *, older: str, most_bytes: int) -> None:
    """Add a line to a log that may be lost: one write, unsynced, no lock; a full log starts again.

    Only for machine state: two writers that find the log full at once may lose its older half.
    """
    with folder.opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT) as fd:
        os.write(fd, data)
        size = os.fstat(fd).st_size
    if size > most_bytes:
        parent, name = folder.parent(path)
        os.rename(name, folder.parent(older)[1], src_dir_fd=parent, dst_dir_fd=parent)
