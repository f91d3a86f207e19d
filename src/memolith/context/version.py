"""The version of a store: another one after every change, by Memolith or by hand."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence
from contextlib import suppress

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.discovery import Roots
from memolith.files.folder import Folder, change_stamp_of, close_quietly
from memolith.files.locks import LOCK_PATH


class StoreVersion:
    """Compares the stamps of the files that are searched; safe to share between threads."""

    def __init__(
        self, root: str, extra_paths: Sequence[str] = (), own_words: Sequence[str] = ()
    ) -> None:
        self.root = root
        self._extra_paths = extra_paths
        self._own_words = [os.path.join(root, path) for path in own_words]

    def __call__(self) -> tuple[Hashable, bool]:
        """The version now, and whether it is settled, so that any later change would show in it."""
        now = clock.file_time()
        written = _last_write(self.root)
        try:
            with Folder(self.root) as folder, Roots(folder, self._extra_paths) as roots:
                stamps, warnings = roots.discover()
        except MemolithError as error:  # a memory that does not exist yet
            return error.message, False
        for path in self._own_words:  # not searched, but other synonyms give other answers
            with suppress(OSError, ValueError):
                stamps[path] = change_stamp_of(os.lstat(path))
        newest = max((stamp[2] for stamp in stamps.values()), default=0)
        version = (written, hash(frozenset(stamps.items())), tuple(warnings))
        return version, newest < now - clock.FILE_TICK


def _last_write(root: str) -> tuple[bytes, int]:
    """What the lock file says about the last write, and when it was changed."""
    try:
        fd = os.open(f"{root}/{LOCK_PATH}", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return b"", 0
    try:
        return os.pread(fd, 8, 0), os.fstat(fd).st_mtime_ns
    except OSError:
        return b"", 0
    finally:
        close_quietly(fd)
