"""A folder that is a copy of files kept elsewhere in pieces: what was changed in it, and how it follows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b

from memolith.files import atomic_write
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.files.tail import QUARANTINE
from memolith.types import Stamp

PIECE = 1 << 16
_KNOWN = f"{STATE_FOLDER}/stored.json"
# What belongs to one machine, or can be made again.
_ONLY_HERE = (".git/", *(f"{STATE_FOLDER}/{name}" for name in (
    ".gitignore", "embeddings", "index", "open.html", "recalls", "server-", "staging", "stored",
)))  # fmt: skip

Pieces = list[str]  # the digest of each


@dataclass
class Known:
    """The files as they were when both sides were last the same."""

    version: int = 0
    files: dict[str, tuple[Stamp, Pieces]] = field(default_factory=dict)

    def pieces(self, path: str) -> Pieces | None:
        """The pieces of a file; None if it was not there."""
        return self.files[path][1] if path in self.files else None


class Copy:
    """The copies of one memory; a file beside them says what is known."""

    def __init__(self) -> None:
        self._read: tuple[Stamp | None, Known] = (None, Known())

    def known(self, folder: Folder) -> Known:
        """What both sides had."""
        stamp = folder.stamp(_KNOWN)
        if stamp is None:
            return Known()
        if self._read[0] != stamp:
            stored = json.loads(folder.read(_KNOWN) or b"{}")
            files = {path: (tuple(at), pieces) for path, (at, pieces) in stored["files"].items()}
            self._read = stamp, Known(stored["version"], files)
        return self._read[1]

    def note(self, folder: Folder, known: Known) -> None:
        """Both sides have this now."""
        stored = json.dumps({"version": known.version, "files": known.files})
        atomic_write.write_private_file(folder, _KNOWN, stored.encode())

    def as_it_is(self, folder: Folder) -> Known:
        """The files as they are here, as the next version."""
        known = self.known(folder)
        now = Known(known.version + 1)
        for path in _paths(folder):
            if stamp := folder.stamp(path):
                now.files[path] = stamp, self._pieces(folder, path, stamp, known)
        return now

    def follow(
        self,
        folder: Folder,
        version: int,
        stored: Mapping[str, Pieces],
        fetch: Callable[[str], bytes],
    ) -> None:
        """Take over what has changed there, and keep what was changed here without us.

        Where both have changed, ours goes to quarantine.
        """
        known, now = self.known(folder), Known(version)
        for path in stored.keys() | set(_paths(folder)):
            stamp, before, there = folder.stamp(path), known.pieces(path), stored.get(path)
            here = self._pieces(folder, path, stamp, known) if stamp else None
            if there not in (here, before):
                if here not in (None, before):
                    name = f"{QUARANTINE}/{os.urandom(4).hex()}-{os.path.basename(path)}"
                    atomic_write.write_private_file(folder, name, folder.read(path) or b"")
                if there is None:
                    atomic_write.remove(folder, path)
                else:
                    atomic_write.write_private_file(folder, path, fetch(path))
                    stamp, here = folder.stamp(path), there
            if there is not None:  # without its stamp it is looked at again, and published
                now.files[path] = stamp if stamp and here == there else (0, 0, 0), there
        self.note(folder, now)

    def _pieces(self, folder: Folder, path: str, stamp: Stamp, known: Known) -> Pieces:
        if path in known.files and known.files[path][0] == stamp:
            return known.files[path][1]
        data = folder.read(path) or b""
        return [
            blake2b(data[at : at + PIECE], digest_size=16).hexdigest()
            for at in range(0, max(1, len(data)), PIECE)
        ]


def _paths(folder: Folder) -> Iterator[str]:
    for path in folder.walk(suffix="", hidden=True):
        if not path.startswith(_ONLY_HERE) and not path.endswith(".lock"):
            yield path
