"""The files of an index by generation: a damaged database is never repaired, the next one is made.

A live database file must not be renamed, replaced or deleted under a process that has it open: that
process would go on writing into nothing. So a new one gets a new name, everybody looks for the
newest name before every operation, and only what nobody can mistake for the newest is deleted.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

from memolith.errors import PathOutsideProfileError
from memolith.index.schema import VERSION

_NAME = re.compile(rf"index-v{VERSION}-(\d+)\.db", re.ASCII)
# Of one generation: the database, its log and its map.
_PART = re.compile(rf"index-v{VERSION}-(\d+)\.db(?:-wal|-shm|-journal)?", re.ASCII)
_ANY_VERSION = re.compile(r"index-v(\d+)-.*", re.ASCII | re.DOTALL)
_UNFINISHED = ".new"
# Whatever has been unfinished for so long had a maker that was killed.
_HOUR = 3600


def resolve(path: str) -> str:
    """The path of something in `.memolith`, as SQLite opens it without following links.

    Links above the memory are the user's own choice. `.memolith` and what is in it may not be one: a
    memory that somebody else made could lead out of itself.
    """
    root, *parts = path.rsplit(os.sep, 2)
    path = os.path.realpath(root or os.sep)
    for part in parts:
        path = os.path.join(path, part)
        if os.path.islink(path):
            raise PathOutsideProfileError(
                f"{path} is a symbolic link, which is not followed.",
                path=path,
                hint="Delete the link; the index is made again from the files.",
            )
    return path


def database_path(folder: str, generation: int) -> str:
    """The database of a generation."""
    return os.path.join(folder, f"index-v{VERSION}-{generation:06}.db")


def newest(folder: str) -> int:
    """The number of the newest generation; 0 when there is none."""
    try:
        names = os.listdir(resolve(folder))
    except FileNotFoundError:
        return 0
    return max((int(found[1]) for found in map(_NAME.fullmatch, names) if found), default=0)


def following(folder: str) -> int:
    """The number of the next generation; a log that lost its database must not meet another one."""
    parts = map(_PART.fullmatch, os.listdir(folder))
    return 1 + max((int(found[1]) for found in parts if found), default=0)


def unfinished_path(folder: str) -> str:
    """Where a new database is made before it gets its name."""
    return os.path.join(folder, f"index-v{VERSION}-{os.urandom(8).hex()}{_UNFINISHED}")


def publish(unfinished: str, folder: str, generation: int) -> None:
    """Give a finished, closed database its name, unless another process was faster."""
    path = database_path(folder, generation)
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    except OSError:  # no hard links here; a rename may replace a file made in this very moment
        if not os.path.lexists(path):
            os.rename(unfinished, path)
            return
    discard(unfinished)


def make_folder(path: str) -> None:
    """Make the folder of an index, for the user alone; one that is there keeps its mode."""
    if not os.path.isdir(path):
        os.makedirs(path, mode=0o700, exist_ok=True)
        os.chmod(path, 0o700)  # whatever the umask


def make_private(path: str) -> None:
    """Make an empty file that only the user may open, unless there is one; SQLite's own follow its mode.

    One that is there is not even opened: to close it would free the locks that SQLite has on it.
    """
    with suppress(FileExistsError):
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(fd, 0o600)  # whatever the umask
        finally:
            os.close(fd)


def discard(path: str) -> None:
    """Delete a derived file, if that can be done."""
    with suppress(OSError):
        os.unlink(path)


def clean(folder: str, generation: int) -> None:
    """Delete what older generations left; whoever still has it open finds out at his next operation."""
    try:
        now = os.stat(database_path(folder, generation)).st_mtime
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        path = os.path.join(folder, name)
        found = _PART.fullmatch(name)
        if found and int(found[1]) < generation:
            discard(path)
        elif name.endswith(_UNFINISHED):
            with suppress(OSError):
                if os.lstat(path).st_mtime < now - _HOUR:
                    os.unlink(path)


def delete_other_versions(folder: str) -> None:
    """Delete what other versions of the program keep; one that runs makes it again from the files."""
    for name in os.listdir(folder):
        found = _ANY_VERSION.fullmatch(name)
        if found and int(found[1]) != VERSION:
            with suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def identity(path: str) -> tuple[int, int] | None:
    """What tells whether a name still means the same file; None when there is no ordinary file."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISREG(found.st_mode) else None
