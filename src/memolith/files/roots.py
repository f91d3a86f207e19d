"""The folders that are searched: the profile's own, and others the user named, which are only read.

A path in another folder begins with its root id, as in `@notes-1a2b/garden/pond.md`, so that a
citation names one file whatever the folders are called.
"""

from __future__ import annotations

import os
import re
from hashlib import blake2b  # slow to load, and few name other folders

from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.discovery import discover, discover_below
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.text.cleaning import shown_path
from memolith.types import Stamp

MARK = "@"
_LONGEST_NAME = 30
_HASH_DIGITS = 4


class Roots:
    """The profile's folder and the others. Use as a context manager: the others are closed by it."""

    def __init__(self, own: Folder, extra_paths: str) -> None:
        """`extra_paths` is the setting; nothing is opened before it is needed."""
        self.own = own
        self._named = split_paths(extra_paths)
        self._extra: dict[str, Folder] | None = None
        self._problems: list[str] = []

    def __enter__(self) -> Roots:
        """The roots themselves."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the other folders; the profile's belongs to whoever opened it."""
        for folder in (self._extra or {}).values():
            folder.close()

    def open(self, path: str) -> tuple[int, os.stat_result]:
        """Open an ordinary file; see `Folder.open`."""
        folder, inside = self._place(path)
        return folder.open(inside)

    def read(self, path: str, *, single_name: bool = False) -> bytes | None:
        """The bytes of a file, or None when there is no such file; see `Folder.read`."""
        folder, inside = self._place(path)
        return folder.read(inside, single_name=single_name)

    def discover(self) -> tuple[dict[str, Stamp], list[str]]:
        """Every file that is searched, each once, with its stamp; and warnings."""
        found, warnings = discover(self.own)
        if not self._named:
            return found, warnings
        own = os.path.realpath(self.own.root)
        seen = {os.path.join(own, path) for path in (*found, layout.DREAM_DIARY)}
        for root_id, folder in self._others().items():
            below, problems = discover_below(folder)
            warnings += problems
            for path, stamp in below.items():
                place = os.path.join(folder.root, path)
                if place not in seen:
                    seen.add(place)
                    found[f"{root_id}/{path}"] = stamp
        return found, warnings + self._problems

    def called(self, place: str) -> str:
        """What a file or folder at a full path is called here, "" for the profile's own folder.

        What lies in none of the folders keeps its full path.
        """
        real = os.path.realpath(place)
        own = os.path.realpath(self.own.root)
        roots = {"": own, **{root_id: folder.root for root_id, folder in self._others().items()}}
        for root_id, root in roots.items():
            if real == root:
                return root_id
            if real.startswith(root.rstrip("/") + "/"):
                inside = real[len(root.rstrip("/")) + 1 :]
                return f"{root_id}/{inside}" if root_id else inside
        return real

    def _place(self, path: str) -> tuple[Folder, str]:
        if self._named and path.startswith(MARK):
            root_id, _, inside = path.partition("/")
            folder = self._others().get(root_id)
            if folder is not None:
                return folder, inside
        return self.own, path

    def _others(self) -> dict[str, Folder]:
        if self._extra is None:
            self._extra = {}
            for named in self._named:
                self._add(self._extra, os.path.realpath(os.path.expanduser(named)))
        return self._extra

    def _add(self, extra: dict[str, Folder], path: str) -> None:
        if any(folder.root == path for folder in extra.values()):
            return
        if STATE_FOLDER in path.split("/"):
            self._problems.append(
                f"{shown_path(path)} is inside {STATE_FOLDER} and is left out of search."
            )
            return
        if is_too_wide(path):
            self._problems.append(
                f"{shown_path(path)} is not searched: index.extra_paths names folders of notes, not a whole disk or home."
            )
            return
        digits = _HASH_DIGITS
        while (root_id := _root_id(path, digits)) in extra:
            digits += 2
        try:
            extra[root_id] = Folder(path)
        except MemolithError as error:
            self._problems.append(f"{error.message} It is left out of search (index.extra_paths).")


def split_paths(setting: str) -> list[str]:
    """The folders that the setting names.

    >>> split_paths("~/notes:/srv/wiki")
    ['~/notes', '/srv/wiki']
    """
    return [part.strip() for part in re.split("[:\n]", setting) if part.strip()]


def is_too_wide(path: str) -> bool:
    """Whether a folder, with links resolved, holds everything: no search could wait for that."""
    return path in ("/", os.path.realpath(os.path.expanduser("~")))


def _root_id(path: str, digits: int) -> str:
    """The folder's name for people, and some digits of where it really is against mix-ups."""

    name = re.sub(r"[\W_]+", "-", os.path.basename(path).casefold())[:_LONGEST_NAME].strip("-")
    digest = blake2b(os.fsencode(path), digest_size=16).hexdigest()
    return f"{MARK}{name or 'folder'}-{digest[:digits]}"
