"""Chunks by their keys: what was asked for once is kept until somebody writes.

Questions come back to the same chunks, and reading rows, checking them and giving them their names again
takes a tenth of a search.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from memolith.index.database import DamageError, Database
from memolith.index.rows import FIND, Rows
from memolith.interfaces import Found

Seen = tuple[object, int]  # what changes whenever anybody writes
Naming = tuple[Mapping[int, str], Mapping[int, str]]  # names and paths by number

_MOST_KEPT = 4_000  # about a kilobyte each
_AT_ONCE = 10_000
T = TypeVar("T")


class Fetching:
    """Fetches chunks from one database, all as of one moment."""

    def __init__(
        self,
        database: Database,
        rows: Rows,
        look: Callable[[], Seen],
        read_names: Callable[[], Naming],
    ) -> None:
        """Nothing is read yet."""
        self.seen: Seen | None = None  # as of when the last were fetched
        self._db = database.connection
        self._rows = rows
        self._look = look
        self._read_names = read_names
        self._naming: Naming = ({}, {})
        self._kept: dict[int, Found] = {}

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        if len(self._kept) > _MOST_KEPT:
            self._kept = {}
        new = [key for key in keys if key not in self._kept]
        rows = self._read(new)
        if self._look() != self.seen:  # what is kept, and the names, may be older than these rows
            with self._db:  # one snapshot for all of it
                self.seen = self._look()
                rows = self._read(keys)
                self._naming = self._read_names()
            self._kept = {}
        names, paths = self._naming
        try:
            self._kept |= {row[0]: self._rows.found(row, names, paths) for row in rows}
        except KeyError as error:
            raise DamageError("a name is missing") from error
        return {key: self._kept[key] for key in keys if key in self._kept}

    def _read(self, keys: Sequence[int]) -> list[tuple[Any, ...]]:
        return [
            row
            for some in batches(keys)
            for row in self._db.execute(f"{FIND} ({marks(some)})", tuple(some))
        ]


def batches(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """As many at once as SQLite takes in one statement."""
    for at in range(0, len(values), _AT_ONCE):
        yield values[at : at + _AT_ONCE]


def marks(values: Collection[object]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))
