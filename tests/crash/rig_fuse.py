"""A file system that passes everything on to a folder, except locks: those it cannot do.

Usage: rig_fuse.py FOLDER MOUNT_POINT. It stays in the foreground until it is unmounted.
"""

from __future__ import annotations

import errno
import os
import sys

import mfusepy  # type: ignore[import-untyped]


class NoLocks(mfusepy.Operations):  # type: ignore[misc]
    """Like a network share mounted without a lock daemon: flock says ENOLCK."""

    use_ns = True

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def _real(self, path: str) -> str:
        return self._folder + path

    def flock(self, path: str, fh: int, op: int) -> int:
        raise mfusepy.FuseOSError(errno.ENOLCK)

    def getattr(self, path: str, fh: int | None = None) -> dict[str, int]:
        found = os.lstat(self._real(path))
        names = ("mode", "nlink", "uid", "gid", "size")
        attributes = {f"st_{name}": getattr(found, f"st_{name}") for name in names}
        times = {
            f"st_{name}": getattr(found, f"st_{name}_ns") for name in ("atime", "mtime", "ctime")
        }
        return attributes | times

    def readdir(self, path: str, fh: int) -> list[str]:
        return [".", "..", *os.listdir(self._real(path))]

    def open(self, path: str, flags: int) -> int:
        return os.open(self._real(path), flags)

    def create(self, path: str, mode: int, fi: object = None) -> int:
        return os.open(self._real(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)

    def read(self, path: str, size: int, offset: int, fh: int) -> bytes:
        return os.pread(fh, size, offset)

    def write(self, path: str, data: bytes, offset: int, fh: int) -> int:
        return os.pwrite(fh, data, offset)

    def truncate(self, path: str, length: int, fh: int | None = None) -> int:
        os.truncate(self._real(path), length)
        return 0

    def release(self, path: str, fh: int) -> int:
        os.close(fh)
        return 0

    def fsync(self, path: str, datasync: int, fh: int) -> int:
        os.fsync(fh)
        return 0

    def fsyncdir(self, path: str, datasync: int, fh: int) -> int:
        return 0

    def mkdir(self, path: str, mode: int) -> int:
        os.mkdir(self._real(path), mode)
        return 0

    def rmdir(self, path: str) -> int:
        os.rmdir(self._real(path))
        return 0

    def unlink(self, path: str) -> int:
        os.unlink(self._real(path))
        return 0

    def rename(self, old: str, new: str) -> int:
        os.rename(self._real(old), self._real(new))
        return 0

    def chmod(self, path: str, mode: int) -> int:
        os.chmod(self._real(path), mode)
        return 0


if __name__ == "__main__":
    mfusepy.FUSE(NoLocks(sys.argv[1]), sys.argv[2], foreground=True, nothreads=True)
