"""What may have changed in some folders, told by the kernel: a hint that costs one call.

Looking at ten thousand files takes longer than searching them. Where the kernel keeps notices of
changes (inotify, Linux) an empty queue means that no file was touched since the last look, and others
name the files that were. Writes of another machine leave no notice, so only disks are believed that no other
machine can write to. It is a hint, not the truth: whoever asks must still look at everything now and then.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from struct import Struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _ONLY_FOLDERS, _NO_LINKS = 0x400, 0x800, 0x1000000, 0x2000000
_CHANGES = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDERS | _NO_LINKS
)  # fmt: skip
_FOLDER_ITSELF = 0x40000000 | _DELETE_SELF | _MOVE_SELF  # or one below it
_LOST = 0x2000 | 0x4000 | 0x8000  # a disk was taken away, notices were dropped, a watch has ended
_NOTICE = Struct("iIII")  # watch, what happened, a number, length of the name that follows
# The kernel gives a user some thousand watches in all; others need them too.
_MOST_FOLDERS = 2_000
_QUEUE_BYTES = 1 << 16
# File systems that only this machine writes to, by the number that statfs tells. Shares are not among them,
# nor is whatever a program answers for (fuse), and of those we do not know we know nothing.
_LOCAL = frozenset((
    0xEF53, 0x58465342, 0x9123683E, 0x2FC12FC1, 0xF2F52010, 0xCA451A4E,  # ext, xfs, btrfs, zfs, f2fs, bcachefs
    0x01021994, 0x858458F6, 0x794C7630, 0xF15F, 0x52654973, 0x3153464A,  # tmpfs, ramfs, overlay, ecryptfs, …
    0x4D44, 0x2011BAB0, 0x7366746E, 0x482B,  # vfat, exfat, ntfs, hfs+
))  # fmt: skip
_STATFS_BYTES = 512  # more than any system fills


class ChangeHint:
    """Notices about some folders, of this process alone; without inotify it is always in doubt."""

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._folders: dict[str, int] = {}
        self._watched: dict[int, str] = {}
        self._noticed: set[str] | None = None
        self._fd = -1
        self._process = 0

    @property
    def works(self) -> bool:
        """Whether there are notices at all."""
        return self._fd >= 0 and self._process == os.getpid()

    def watch(self, path: str) -> None:
        """Begin to take notice of a folder; call it before the folder is looked at."""
        if path in self._folders or self._fd == -2:
            return
        library = _library()
        if self._fd == -1:
            self._fd = -2 if library is None else _begin(library)
            self._process = os.getpid()
            self._noticed = set()
        if self._fd == -2 or library is None:
            return
        watch = -1
        if len(self._folders) < _MOST_FOLDERS and is_local(_file_system(library, path)):
            watch = library.inotify_add_watch(self._fd, os.fsencode(path), _CHANGES)
        if watch < 0:
            self.close()
            self._fd = -2  # all folders or none: half a hint is a lie
            return
        self._folders[path] = watch
        self._watched[watch] = path

    def is_quiet(self) -> bool:
        """Whether nothing visible has changed since the last `take`; False if in doubt."""
        if not self.works:
            return False
        try:
            while notices := os.read(self._fd, _QUEUE_BYTES):
                self._note(notices)
        except BlockingIOError:
            pass
        except OSError:
            self._noticed = None
        return self._noticed == set()

    def take(self) -> set[str] | None:
        """The visible files that were touched since this was last asked; None if in doubt.

        Whoever is in doubt looks at all folders, and has them watched anew: they may have other places.
        """
        self.is_quiet()
        noticed, self._noticed = self._noticed, set()
        if noticed is None or not self.works:
            self._folders.clear()
            self._watched.clear()
            return None
        return noticed

    def _note(self, notices: bytes) -> None:
        """Note the names; what happens to folders, or is not told in full, means doubt."""
        at = 0
        while at < len(notices) and self._noticed is not None:
            watch, happened, _, length = _NOTICE.unpack_from(notices, at)
            at += _NOTICE.size + length
            name = notices[at - length : at].rstrip(b"\0")
            folder = self._watched.get(watch)
            if happened & _LOST or folder is None:
                self._noticed = None
            elif name.startswith(b"."):
                continue
            elif happened & _FOLDER_ITSELF or not name:
                self._noticed = None
            else:
                self._noticed.add(os.path.join(folder, os.fsdecode(name)))

    def close(self) -> None:
        """Take no more notice of anything."""
        if self.works:
            os.close(self._fd)
        self._fd = -1
        self._noticed = None
        self._folders.clear()
        self._watched.clear()

    def __del__(self) -> None:
        """Give the notices back if nobody did: the kernel has 128 of them for all of a user's programs."""
        if self._fd >= 0:
            self.close()


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "inotify_init1") or not hasattr(library, "inotify_add_watch"):
        return None
    library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    library.statfs.argtypes = (ctypes.c_char_p, ctypes.c_char_p)
    return library


def is_local(file_system: int) -> bool:
    """Whether no other machine can write to a file system of this kind."""
    return file_system in _LOCAL


def _file_system(library: ctypes.CDLL, path: str) -> int:
    """Which kind of file system a folder is on; 0 if that cannot be told."""
    import ctypes

    told = ctypes.create_string_buffer(_STATFS_BYTES)
    if library.statfs(os.fsencode(path), told):
        return 0
    # The first word of the answer; 32 bits of it count, whatever its size.
    return ctypes.c_long.from_buffer(told).value & 0xFFFFFFFF


def _begin(library: ctypes.CDLL) -> int:
    fd = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    return fd if fd >= 0 else -2
