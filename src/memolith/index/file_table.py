"""The files an index holds: read once, then kept in step, so that looking at them costs nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping

from memolith.index.database import DamageError, Database
from memolith.index.rows import Rows
from memolith.interfaces import FileState


class FileTable:
    """The table of files, as one connection sees it."""

    def __init__(self, database: Database, rows: Rows) -> None:
        """Nothing is read before it is asked for."""
        self._database = database
        self._db = database.connection
        self._rows = rows
        self.forget()

    def forget(self) -> None:
        """A transaction failed: what was noted of it may never have been written."""
        self._version: object = None
        self._read: dict[tuple[object, ...], tuple[str, FileState]] = {}
        self._states: dict[str, FileState] = {}
        self._flaws: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._paths: dict[int, str] = {}

    def states(self) -> Mapping[str, FileState]:
        """Every file by its path."""
        self._refresh()
        return self._states

    def flaws(self) -> Mapping[str, str]:
        """The flaws of those that have any."""
        self._refresh()
        return self._flaws

    def number(self, path: str) -> int | None:
        """The number of a file."""
        self._refresh()
        return self._numbers.get(path)

    def paths(self) -> Mapping[int, str]:
        """The path of every file by its number."""
        self._refresh()
        return self._paths

    def store(self, path: str, state: FileState, chunks: int) -> int:
        """Note a file, new or changed, as part of a transaction; gives its number."""
        number = self.number(path)
        if number is None:
            newest = "SELECT seq FROM sqlite_sequence WHERE name = 'files'"
            number = 1 + (self._database.one(newest) or 0)
        row = self._rows.file(number, path, state, chunks)
        self._db.execute("INSERT OR REPLACE INTO files VALUES (?,?,?,?,?,?)", row)
        self._note(number, path, state)
        return number

    def restamp(self, path: str, state: FileState) -> None:
        """Note that a file whose content is the same has a new stamp, as part of a transaction."""
        chunks = self._chunks(path)
        if chunks is not None:
            self.store(path, state, chunks)

    def grow(self, path: str, state: FileState, chunks: int) -> int:
        """Note that a file has so many chunks more, as part of a transaction; gives its number."""
        return self.store(path, state, (self._chunks(path) or 0) + chunks)

    def _chunks(self, path: str) -> int | None:
        count = "SELECT chunks FROM files WHERE path = ?"
        chunks: int | None = self._database.one(count, os.fsencode(path))
        return chunks

    def remove(self, path: str) -> None:
        """Forget a file, as part of a transaction."""
        number = self.number(path)
        if number is not None:
            self._db.execute("DELETE FROM files WHERE id = ?", (number,))
            del self._states[path], self._numbers[path], self._paths[number]
            self._flaws.pop(path, None)

    def _refresh(self) -> None:
        """Read everything again if another connection has written: our own writes are noted."""
        version = self._db.pragma("data_version")
        if version == self._version:
            return
        before = self._read
        self.forget()
        for row in self._db.execute("SELECT * FROM files"):
            # Nearly all are as they were, and need not be checked and taken apart again.
            read = self._read[row] = before.get(row) or self._rows.file_state(row)
            self._note(row[0], *read)
        if len(self._paths) != len(self._numbers):
            raise DamageError("files")
        self._version = version

    def _note(self, number: int, path: str, state: FileState) -> None:
        self._states[path] = state
        if state.flaws:
            self._flaws[path] = state.flaws
        else:
            self._flaws.pop(path, None)
        self._numbers[path] = number
        self._paths[number] = path
