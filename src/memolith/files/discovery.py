"""Which files belong to a memory, and what tells whether they have changed."""

from __future__ import annotations

import os
import stat

from memolith.files import layout
from memolith.files.folder import DEEPEST, SECOND_NAME, Folder, change_stamp_of, storage_error
from memolith.text.cleaning import shown_path
from memolith.types import Stamp

# Folders that programs fill with what others wrote.
NOT_NOTES = frozenset(("node_modules", "bower_components", "site-packages", "__pycache__"))
# A search waits until all folders are looked at; whoever has more named something else than notes.
_MOST_FOLDERS = 20_000
# Larger files are no memories: they are named, and neither indexed nor compared with others.
MAX_FILE_BYTES = 64 * 1024 * 1024
# What synchronising programs leave behind when two machines wrote at once: a copy, not a memory.
_CONFLICT_MARKS = (".sync-conflict-", "(conflicted copy", "'s conflicted copy")


class _Found:
    """What a walk has found so far."""

    def __init__(self) -> None:
        self.files: dict[str, Stamp] = {}
        self.warnings: list[str] = []
        self.second_names: list[str] = []

    def told(self) -> list[str]:
        """All warnings."""
        linked = (f"{shown_path(path)} {SECOND_NAME}" for path in self.second_names)
        return [*self.warnings, *(f"{named} It is left out of search." for named in linked)]


def discover(folder: Folder) -> tuple[dict[str, Stamp], list[str]]:
    """Every file that is searched, with its stamp; and warnings about what could not be looked at.

    That is the Markdown at the top and below `memory/`, without hidden files, and the chat history.
    The dream diary is left out: it tells of recalls, and would answer questions with them.
    """
    found = _Found()
    waiting = [layout.DAILY_FOLDER, ""]
    while waiting:
        path = waiting.pop()
        below = _look(folder, path, found, path or folder.root)
        if path:
            waiting += below
    return found.files, found.told()


def discover_below(folder: Folder) -> tuple[dict[str, Stamp], list[str]]:
    """The visible Markdown anywhere below a folder that is not a profile, and warnings."""
    found = _Found()
    waiting = [""]
    looked_at = 0
    while waiting:
        looked_at += 1
        if looked_at > _MOST_FOLDERS:
            found.warnings.append(
                f"{folder.root} has more than {_MOST_FOLDERS:,} folders; the rest of it is not searched."
                " Name the folders of your notes in index.extra_paths."
            )
            break
        path = waiting.pop()
        waiting += _look(folder, path, found, os.path.join(folder.root, path))
    notes = {path: stamp for path, stamp in found.files.items() if path.endswith(".md")}
    return notes, found.told()


def _look(folder: Folder, path: str, found: _Found, shown_as: str) -> list[str]:
    """Note the files of one folder and give the folders in it, unless they are too deep."""
    try:
        below = _note_files(folder, path, found)
    except FileNotFoundError:
        return []
    except OSError as error:
        found.warnings.append(storage_error(error, shown_as).message)
        return []
    return below if path.count("/") < DEEPEST else []


def _note_files(folder: Folder, path: str, found: _Found) -> list[str]:
    """Note the files of one folder and give the folders in it. Every search waits for this loop."""
    below = []
    prefix = f"{path}/" if path else ""
    chats = "" if path else layout.CONVERSATIONS
    with folder.scan(path) as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if entry.is_dir(follow_symlinks=False):
                if name in NOT_NOTES:
                    continue
                below.append(prefix + name)
                if layout.is_file_of_ours(prefix + name):
                    found.warnings.append(
                        f"{shown_path(prefix + name)} is a folder, where a file should be."
                    )
            elif (name.endswith(".md") or name == chats) and not _is_left_out(prefix + name):
                try:
                    status = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue  # gone since the folder was listed
                if status.st_nlink > 1 and stat.S_ISREG(status.st_mode):
                    found.second_names.append(prefix + name)
                elif stat.S_ISREG(status.st_mode):
                    found.files[prefix + name] = change_stamp_of(status)
    return below


def _is_left_out(path: str) -> bool:
    if path == layout.DREAM_DIARY:
        return True
    return "conflict" in path and any(mark in path for mark in _CONFLICT_MARKS)
