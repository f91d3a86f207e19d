"""The version of a store: another one after every change, by Memolith or by hand, at little cost.

Every write of Memolith changes the lock file, whose first bytes are a checksum of what was done; files
edited by hand show it in their stamps. Folders whose own time is unchanged need not be listed again:
then a look costs one `stat` for each file. Of many files the kernel is asked which were touched.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

from memolith import clock
from memolith.files.change_hint import ChangeHint
from memolith.files.discovery import NOT_NOTES
from memolith.files.folder import change_stamp_of, close_quietly
from memolith.files.layout import DAILY_FOLDER
from memolith.files.locks import LOCK_PATH
from memolith.files.roots import is_too_wide, split_paths

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from memolith.types import Stamp

# So few files are looked at each time.
_FEW_FILES = 300
# Of more, the kernel is believed which were touched, for at most so long.
_BELIEVED_SECONDS = 1.0
_SEARCHED = (".md", ".jsonl")
_MISSING = -1  # the time of a folder that is not there


class StoreVersion:
    """Looks at the files that are searched; safe to share between threads."""

    def __init__(self, root: str, extra_paths: str = "", synonyms_path: str = "") -> None:
        """`root` is the profile, the others are settings; nothing is looked at yet."""
        self.root = root
        self._synonyms = os.path.join(root, synonyms_path) if synonyms_path else ""
        self._named = [os.path.expanduser(path) for path in split_paths(extra_paths)]
        self._extra: list[str] = []  # where they lead
        self._guard = threading.Lock()
        self._folders: dict[str, int] = {}
        self._files: dict[str, Stamp] = {}
        self._in_doubt = False  # whether a folder may have a new one in it that nobody has listed
        self._hint = ChangeHint()
        self._walked = float("-inf")
        self._seen = (0, 0)  # what the files look like, and when the newest was changed

    def __call__(self) -> tuple[Hashable, bool]:
        """The version now; and whether it is settled, so that any later change would show in it."""
        now = clock.file_time()
        with self._guard:
            written = _last_write(self.root)
            led = map(os.path.realpath, self._named)  # a link may lead elsewhere by now
            extra = [path for path in led if not is_too_wide(path)]
            if extra != self._extra:
                self._extra, self._in_doubt = extra, True
                self._walked = float("-inf")
            if not self._is_quiet():
                self._look()
            digest, newest = self._seen
            # Not searched, but a question is read by it: with other synonyms it has another answer.
            synonyms = _stamp_or_none(self._synonyms) if self._synonyms else None
            newest = max(newest, synonyms[2]) if synonyms else newest
            return (written, digest, synonyms), newest < now - clock.FILE_TICK

    def close(self) -> None:
        """Take no more notice of changes."""
        with self._guard:
            self._hint.close()
            self._walked = float("-inf")

    def _is_quiet(self) -> bool:
        return self._believes_the_kernel() and self._hint.is_quiet()

    def _believes_the_kernel(self) -> bool:
        return (
            len(self._files) > _FEW_FILES and clock.monotonic() - self._walked < _BELIEVED_SECONDS
        )

    def _look(self) -> None:
        touched = self._hint.take()
        if touched is None or not self._believes_the_kernel() or not self._look_at(touched):
            self._walk()
        newest = max((stamp[2] for stamp in self._files.values()), default=0)
        newest = max(newest, *self._folders.values(), 0)
        self._seen = (hash(frozenset(self._files.items())), newest)

    def _look_at(self, touched: Iterable[str]) -> bool:
        """Bring what is known in line with some files that were touched."""
        for path in touched:
            folder, name = os.path.split(path)
            try:
                modified = os.stat(folder).st_mtime_ns
            except OSError:
                return False
            # What came after the notices were read has its own notice, but changed this time as well.
            self._in_doubt |= modified != self._folders.get(folder)
            self._folders[folder] = modified
            if name.endswith(_SEARCHED):
                stamp = _stamp_or_none(path)
                if stamp is None:
                    self._files.pop(path, None)
                else:
                    self._files[path] = stamp
        return True

    def _walk(self) -> None:
        began = clock.monotonic()
        if len(self._files) > _FEW_FILES:
            for path in self._folders:
                self._hint.watch(path)
        if not self._unchanged_folders():
            self._look_at_all()
        self._walked = began

    def _unchanged_folders(self) -> bool:
        """Whether the folders are as they were; then the stamps of the files are brought up to date."""
        if not self._folders or self._in_doubt:
            return False
        try:
            for path, modified in self._folders.items():
                if (
                    os.stat(path).st_mtime_ns != modified
                    or modified > clock.file_time() - clock.FILE_TICK
                ):
                    return False
            for path in self._files:
                self._files[path] = change_stamp_of(os.lstat(path))
        except OSError:
            return False
        return True

    def _look_at_all(self) -> None:
        """List every folder: its time is taken first, so that what appears meanwhile is seen later."""
        self._folders, self._files = dict.fromkeys(self._extra, _MISSING), {}
        self._in_doubt = False
        waiting = [self.root, *self._extra]
        while waiting:
            folder = waiting.pop()
            is_profile = folder == self.root and folder not in self._extra
            if self._hint.works:
                self._hint.watch(folder)  # it may be new
            try:
                self._folders[folder] = os.stat(folder).st_mtime_ns
                with os.scandir(folder) as entries:
                    for entry in entries:
                        if entry.name.startswith(".") or entry.name in NOT_NOTES:
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            if not is_profile or entry.name == DAILY_FOLDER:
                                waiting.append(entry.path)
                        elif entry.name.endswith(_SEARCHED):
                            found = entry.stat(follow_symlinks=False)
                            self._files[entry.path] = change_stamp_of(found)
            except OSError:  # it may be readable a moment later, without another time
                self._in_doubt |= folder in self._folders


def _stamp_or_none(path: str) -> Stamp | None:
    try:
        return change_stamp_of(os.lstat(path))
    except (OSError, ValueError):
        return None


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
