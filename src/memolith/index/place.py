"""Where the index of a memory is, and who opens it: SQLite and NumPy are loaded only when it is used.

It is among the files of the memory, or for one process alone in a temporary folder: where a memory may
be read but not written, or the index cannot be used, as on a full disk.
"""

from __future__ import annotations

import os
import shutil
import weakref
from tempfile import mkdtemp

from memolith.interfaces import Embedder, Index

_READ_ONLY = "This memory is read-only and has no index."
_TEMPORARY = "A temporary index is used instead, and made again by the next command."


class IndexPlace:
    """The folder of an index, as far as one process is concerned."""

    def __init__(self, folder: str) -> None:
        """Where it is, unless that cannot be."""
        self._own = self.folder = folder
        self._why = ""

    @property
    def is_temporary(self) -> bool:
        """Whether the index of the memory cannot be used."""
        return self.folder != self._own

    def choose(self) -> str:
        """Where it is to be opened: elsewhere, if none is there and none can be made; raises OSError."""
        if not self.is_temporary and not _has_or_may_have_index(self._own):
            self.use_temporary(_READ_ONLY)
        return self.folder

    def use_temporary(self, why: str) -> None:
        """Do without the one that cannot be used; raises OSError."""
        self.close()
        self.folder, self._why = os.path.realpath(mkdtemp(prefix="memolith-index-")), why
        # Also for a memory that nobody closes.
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def warnings(self) -> tuple[str, ...]:
        """That it is not the one of the memory, and why."""
        return (f"{self._why} {_TEMPORARY}",) if self.is_temporary else ()

    def close(self) -> None:
        """Leave nothing elsewhere."""
        if self.is_temporary:
            self._remove()
            self.folder = self._own


def _has_or_may_have_index(folder: str) -> bool:
    place = folder
    while not os.path.exists(place):
        place = os.path.dirname(place)
    # What cannot even be looked into says why when it is opened.
    is_readable = os.path.isdir(place) and os.access(place, os.X_OK)
    return place == folder or not is_readable or os.access(place, os.W_OK)


def open_index(folder: str, embedder: Embedder | None) -> Index:
    """Open the index in a folder of its own."""
    from memolith.index.sqlite import SqliteIndex

    return SqliteIndex(folder, (embedder.name, embedder.dimensions) if embedder else None)
