"""A profile's folder, held open: every path is walked from its handle and no link is followed.

Checking a path first and opening it afterwards can be raced by swapping in a symbolic link;
walking by handle with O_NOFOLLOW cannot.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress

from memolith.config.load import syncs
from memolith.errors import FileFormatError, PathOutsideProfileError, StorageError
from memolith.files.sharing import shared
from memolith.text.cleaning import shown_path
from memolith.types import Stamp

_MAX_HANDLES = 64
MAX_DEPTH = 50  # of folders: notes are not nested deeper, a loop of mounts is
_NO_NAMES = frozenset({"", ".", ".."})
LINK = "is a symbolic link, which is not followed."
REPLACE_LINK = "Delete the link, or put the file or folder itself in its place."
SECOND_NAME = "has a second name (a hard link), so it may belong to somebody else."
COPY_LINKED = "To make it a file of its own: memolith doctor --fix"

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_ROOT_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FOLDER_FLAGS = _ROOT_FLAGS | os.O_NOFOLLOW
# O_NONBLOCK: opening a named pipe must fail or return, never hang.
FILE_FLAGS = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

_REASONS = {
    errno.ENOENT: ("it does not exist", "Remember something first, or check --root."),
    errno.ENOSPC: ("the disk is full", "Free some space and try again."),
    errno.EDQUOT: ("your disk quota is used up", "Free some space and try again."),
    errno.EFBIG: ("the file would be larger than allowed", "Raise its limit (ulimit -f)."),
    errno.EROFS: ("the file system is read-only", "Mount it writable, or choose another --root."),
    errno.EACCES: ("permission denied", "Check its owner (ls -ld) and mode (chmod u+rwX)."),
    errno.EPERM: ("operation not permitted", "Check owner and attributes of the file (lsattr)."),
    errno.EISDIR: ("it is a folder where a file should be", "Move that folder away."),
    errno.ENOTDIR: ("it is a file where a folder should be", "Move that file away."),
    errno.ENOTEMPTY: ("it is a folder where a file should be", "Move that folder away."),
    errno.ENXIO: ("it is not an ordinary file", "Move it away."),
    errno.EIO: ("the disk reported an error", "Check the disk; nothing was acknowledged."),
    errno.EMFILE: ("too many files are open", "Raise the limit (ulimit -n) or close some."),
}


class Folder(AbstractContextManager["Folder"]):
    """An open folder. Use as a context manager, so that its handles are closed."""

    __slots__ = ("_below", "_closed", "fd", "root")

    def __init__(self, root: str, *, create: bool = False) -> None:
        """Open `root`; with `create`, make it (0700) when missing."""
        self.root = root
        self._below: dict[str, int] = {}  # handles of the folders used so far, by path
        self._closed: dict[str, str] | None = None
        with our_errors(root):
            if create and not os.path.isdir(root):
                _make_root(root)
            self.fd = os.open(root, _ROOT_FLAGS)
        self._below[""] = self.fd
        if sharing := shared.get(root):
            try:
                sharing.refresh(self)
            except BaseException:  # also Ctrl-C: nobody would close the handles; raised again
                self.close()
                raise

    def __exit__(self, *_: object) -> None:
        """Close the handles."""
        self.close()

    def close(self) -> None:
        """Close the handles."""
        while self._below:
            close_quietly(self._below.popitem()[1])

    def leave_out_closed(self) -> Mapping[str, str]:
        """From now on, a file with a second name, or one below `memory/` that may not be read, is as if missing.

        Gives what was left out, path by path, each with the sentence that says so.
        """
        if self._closed is None:
            self._closed = {}
        return self._closed

    @contextmanager
    def _leaving_out(self, path: str) -> Iterator[None]:
        """Pass over what is missing, and note what may be left out; our error for anything else."""
        try:
            yield
        except FileNotFoundError:
            return
        except OSError as error:
            from memolith.files.layout import may_be_left_out  # it needs us

            ours = storage_error(error, path)
            reason = f"{ours.message} It is left out."
            is_left_out = error.errno == errno.EMLINK
            if error.errno == errno.EACCES:
                ours.hint = let_in(self.root, path)
                reason = f"{shown_path(path)} may not be read, so it is left out."
                is_left_out = may_be_left_out(path)
            if self._closed is None or not is_left_out:
                raise ours from error
            self._closed[path] = f"{reason} {ours.hint}"

    def open(self, path: str, flags: int = os.O_RDONLY) -> tuple[int, os.stat_result]:
        """Open an ordinary file below the folder; raises OSError, or our error if it is not one.

        A file with a second name (a hard link) is refused with EMLINK: somebody may have linked a foreign
        file into the profile.
        """
        parent, name = self.parent(path)
        fd = os.open(name, flags | FILE_FLAGS, FILE_MODE, dir_fd=parent)
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            close_quietly(fd)
            number = errno.EISDIR if stat.S_ISDIR(found.st_mode) else errno.ENXIO
            raise storage_error(OSError(number, ""), path)
        if found.st_nlink > 1:
            close_quietly(fd)
            raise OSError(errno.EMLINK, os.strerror(errno.EMLINK), path)
        if flags & os.O_CREAT and not found.st_size:
            os.fchmod(fd, FILE_MODE)  # the umask may have taken away even our own rights
        return fd, found

    @contextmanager
    def opened(self, path: str, flags: int) -> Iterator[int]:
        """The handle of a file, open within the block; see `open`."""
        fd, _ = self.open(path, flags)
        try:
            yield fd
        finally:
            close_quietly(fd)

    def parent(self, path: str) -> tuple[int, str]:
        """The handle of the folder that holds `path`, and the last part of `path`; raises OSError."""
        *above, name = split_path(path)
        fd = self.fd
        walked = ""
        for part in above:
            walked = f"{walked}/{part}" if walked else part
            below = self._below.pop(walked, None)
            if below is None:
                below = _open_folder(part, fd, walked)
            self._below[walked] = fd = below  # last in the dict: used last
        while len(self._below) > _MAX_HANDLES:
            close_quietly(self._below.pop(next(path for path in self._below if path)))
        return fd, name

    def read(self, path: str, *, limit: int | None = None) -> bytes | None:
        """The bytes of a file, or None when there is no such file."""
        with self._leaving_out(path):
            fd, _ = self.open(path)
            with our_errors(path), open(fd, "rb", buffering=0) as file:
                return file.read(-1 if limit is None else limit)
        return None

    def stamp(self, path: str) -> Stamp | None:
        """Inode, size and mtime of a file: if it is unchanged, so is the file. None when missing."""
        with self._leaving_out(path):
            parent, name = self.parent(path)
            return stamp_of(os.stat(name, dir_fd=parent, follow_symlinks=False))
        return None

    def walk(
        self, path: str = "", *, suffix: str = ".md", hidden: bool = False, deep: bool = True
    ) -> Iterator[str]:
        """Paths of the files below `path` that end in `suffix`, sorted; links are left out."""
        waiting = [path]
        while waiting:
            folder = waiting.pop()
            entries, below = [], []
            with self._leaving_out(folder or self.root), self.scan(folder) as found:
                entries = sorted(
                    (entry.name, entry.is_dir(follow_symlinks=False))
                    for entry in found
                    if hidden or not entry.name.startswith(".")
                    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)
                )
            for name, is_folder in entries:
                entry = f"{folder}/{name}" if folder else name
                if is_folder:
                    below.append(entry)
                elif name.endswith(suffix):
                    yield entry
            if deep and folder.count("/") < MAX_DEPTH:
                waiting += reversed(below)

    @contextmanager
    def scan(self, path: str = "") -> Iterator[Iterator[os.DirEntry[str]]]:
        """The entries of a folder. Through a handle of its own: a shared one shares its position."""
        parent, name = self.parent(path) if path else (self.fd, ".")
        fd = _open_folder(name, parent, path)
        try:
            with os.scandir(fd) as entries:
                yield entries
        finally:
            close_quietly(fd)


def _open_folder(name: str, above: int, path: str) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=above)
    except NotADirectoryError as error:  # Linux says so of a link, too
        if stat.S_ISLNK(os.stat(name, dir_fd=above, follow_symlinks=False).st_mode):
            raise storage_error(OSError(errno.ELOOP, ""), path) from error
        raise


def close_quietly(fd: int) -> None:
    """Close a handle. It is closed even if the system reports an error; data was synced before."""
    try:  # noqa: SIM105 - `suppress` takes as long as closing, and a search closes some thirty
        os.close(fd)
    except OSError:
        pass


def split_path(path: str) -> list[str]:
    """The parts of a path inside a profile; raises for anything that could lead out of it.

    >>> split_path("memory/2026-04-09.md")
    ['memory', '2026-04-09.md']
    """
    parts = path.split("/")
    with suppress(UnicodeEncodeError):
        if b"\0" not in os.fsencode(path) and path[0:1] != "~" and _NO_NAMES.isdisjoint(parts):
            return parts
    raise PathOutsideProfileError(
        f"{path!r} is not a path inside the profile.",
        path=path,
        hint="Give a path relative to the profile's root, such as memory/2026-04-09.md.",
    )


def stamp_of(found: os.stat_result) -> Stamp:
    """The stamp of a stat result."""
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def change_stamp_of(found: os.stat_result) -> Stamp:
    """The same by the later of mtime and ctime: a program that sets mtime back cannot set ctime back.

    For readers only: a rename or a new mode changes ctime too.
    """
    return (found.st_ino, found.st_size, max(found.st_mtime_ns, found.st_ctime_ns))


def storage_error(
    error: OSError, path: str
) -> StorageError | PathOutsideProfileError | FileFormatError:
    """Our error for what the operating system said about `path`."""
    number, shown = error.errno or 0, shown_path(path)
    if number == errno.ELOOP:
        return PathOutsideProfileError(f"{shown} {LINK}", path=path, hint=REPLACE_LINK)
    if number == errno.EMLINK:
        return PathOutsideProfileError(f"{shown} {SECOND_NAME}", path=path, hint=COPY_LINKED)
    reason, hint = _REASONS.get(number, (error.strerror or str(error), "Run: memolith doctor"))
    if number == errno.ENOTDIR and "/" in path:
        above = path if os.path.isabs(path) else path.rpartition("/")[0]
        while os.path.isabs(above) and not os.path.lexists(above):
            above = os.path.dirname(above)
        reason = f"{shown_path(above)} is a file where a folder should be"
    return StorageError(f"Cannot use {shown}: {reason}.", path=path, errno=number, hint=hint)


@contextmanager
def our_errors(path: str) -> Iterator[None]:
    """Turn what the operating system says about `path` into our error."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, path) from error


def let_in(root: str, path: str) -> str:
    """The command by which its owner may read a file or folder again."""
    from shlex import quote

    return f"Let yourself in: chmod u+rwX {quote(os.path.join(root, path))}"


def _make_root(root: str) -> None:
    """Make the profile's folder and those above it, each private and synced into its parent."""
    missing = [os.path.abspath(root)]
    while not os.path.isdir(os.path.dirname(missing[-1])):
        missing.append(os.path.dirname(missing[-1]))
    for path in reversed(missing):
        try:
            os.mkdir(path, FOLDER_MODE)
            os.chmod(path, FOLDER_MODE)
        except FileExistsError:
            pass
        except FileNotFoundError as error:  # although the folder above exists, as in /proc
            raise OSError(errno.EROFS, "") from error
        if syncs():
            fd = os.open(os.path.dirname(path), _ROOT_FLAGS)
            with suppress(OSError):  # it may belong to somebody else
                os.fsync(fd)
            close_quietly(fd)
