"""Which files belong to a memory, and what tells whether they have changed."""

from __future__ import annotations

import os
import stat

from memolith.files import layout
from memolith.files.folder import stamp_of, storage_error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memolith.files.folder import Folder
    from memolith.types import Stamp

_DEEPEST = 50
# What synchronising programs leave behind when two machines wrote at once: a copy, not a memory.
_CONFLICT_MARKS = (".sync-conflict-", "(conflicted copy", "'s conflicted copy")


def discover(folder: Folder) -> tuple[dict[str, Stamp], list[str]]:
    """Every file that is searched, with its stamp; and warnings about what could not be looked at.

    That is the Markdown at the top and below `memory/`, without hidden files, and the chat history.
    The dream diary is left out: it tells of recalls, and would answer questions with them.
    """
    found: dict[str, Stamp] = {}
    warnings: list[str] = []
    _scan(folder, "", found, warnings, deep=False)
    _scan(folder, layout.DAILY_FOLDER, found, warnings, deep=True)
    return found, warnings


def _scan(
    folder: Folder, top: str, found: dict[str, Stamp], warnings: list[str], *, deep: bool
) -> None:
    waiting = [top]
    while waiting:
        path = waiting.pop()
        prefix = f"{path}/" if path else ""
        try:
            with folder.scan(path) as entries:
                for entry in entries:
                    name = entry.name
                    if name.startswith(".") or prefix + name == layout.DREAM_DIARY:
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        if deep and path.count("/") < _DEEPEST:
                            waiting.append(prefix + name)
                    elif name.endswith(".md") or prefix + name == layout.CONVERSATIONS:
                        _note(entry, prefix + name, found)
        except FileNotFoundError:
            continue
        except OSError as error:
            warnings.append(storage_error(error, path or folder.root).message)


def _note(entry: os.DirEntry[str], path: str, found: dict[str, Stamp]) -> None:
    if any(mark in path for mark in _CONFLICT_MARKS):
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return  # gone since the folder was listed
    if stat.S_ISREG(status.st_mode):
        found[path] = stamp_of(status)
