"""Whether anything may have changed in some folders, told by the kernel: a hint that costs one call.

Looking at ten thousand files takes longer than searching them. Where the kernel keeps notices of
changes (inotify, Linux) an empty queue means that no file was touched since the last look. It is a
hint, not the truth: another machine's writes to a shared disk leave no notice, so whoever asks must
still look now and then.
"""

from __future__ import annotations

import os
import sys
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ctypes

_MODIFY, _ATTRIB, _CLOSE_WRITE, _MOVED, _CREATE, _DELETE = 0x2, 0x4, 0x8, 0xC0, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF, _ONLY_FOLDERS, _NO_LINKS = 0x400, 0x800, 0x1000000, 0x2000000
_CHANGES = (
    _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED | _CREATE | _DELETE | _DELETE_SELF | _MOVE_SELF
    | _ONLY_FOLDERS | _NO_LINKS
)  # fmt: skip
# The kernel gives a user some thousand watches in all; others need them too.
_MOST_FOLDERS = 2_000
_QUEUE_BYTES = 1 << 16


class ChangeHint:
    """Notices about some folders, of this process alone; without inotify it never says "quiet"."""

    def __init__(self) -> None:
        """Nothing is watched yet."""
        self._folders: set[str] = set()
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
        if self._fd == -2 or library is None:
            return
        if len(self._folders) >= _MOST_FOLDERS or (
            library.inotify_add_watch(self._fd, os.fsencode(path), _CHANGES) < 0
        ):
            self.close()
            self._fd = -2  # all folders or none: half a hint is a lie
            return
        self._folders.add(path)

    def is_quiet(self) -> bool:
        """Whether no watched folder has changed since this was last asked; False if in doubt."""
        if not self.works:
            return False
        quiet = True
        try:
            while os.read(self._fd, _QUEUE_BYTES):
                quiet = False
        except BlockingIOError:
            pass
        except OSError:
            return False
        if not quiet:
            self._folders.clear()  # one of them may have another place now
        return quiet

    def close(self) -> None:
        """Take no more notice of anything."""
        if self.works:
            os.close(self._fd)
        self._fd = -1
        self._folders.clear()


@cache
def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    import ctypes

    library = ctypes.CDLL(None)
    if not hasattr(library, "inotify_init1") or not hasattr(library, "inotify_add_watch"):
        return None
    library.inotify_add_watch.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32)
    return library


def _begin(library: ctypes.CDLL) -> int:
    fd = int(library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    return fd if fd >= 0 else -2
