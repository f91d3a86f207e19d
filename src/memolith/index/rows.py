"""Files and chunks as rows of the database, and back."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.database import DamageError, Database
from memolith.index.vectors import quantise
from memolith.index.words import unpack_terms
from memolith.interfaces import (
    FileChange,
    FileState,
    Found,
    IndexedChunk,
    IndexReplacedError,
    Vectors,
)
from memolith.results import Chunk

_MAX_KEPT = 4_000  # fetched chunks, about a kilobyte each
_BATCH = 10_000  # values in one statement
_FILES = "SELECT id, path, inode, size, mtime, digest, flaws FROM files"
_FIND = (
    "SELECT key, file, kind, first_line, last_line, offset, size, role, heading, dated, category,"
    " session, chat, sensitivity, channel, record_id, supersedes, expires, digest FROM chunks"
)
_INSERT = "INSERT INTO chunks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_MOVE = "UPDATE chunks SET first_line = ?, last_line = ?, offset = ?, size = ? WHERE key = ?"


class Rows:
    """The tables of one database, as one connection sees them."""

    def __init__(self, database: Database) -> None:
        """Nothing is read before it is needed."""
        self._database = database
        self._db = database.connection
        self._files_read: dict[tuple[Any, ...], tuple[str, FileState]] = {}
        self.forget()

    def forget(self) -> None:
        """A transaction failed, or names were erased: what was noted may not be in the database."""
        self._files_version: object = None
        self._states: dict[str, FileState] = {}
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {"": 0}
        self._names: dict[int, str] = {0: ""}
        self._found: dict[int, Found] = {}
        self._found_version: object = None

    def states(self) -> Mapping[str, FileState]:
        """Every file by its path; read again only if another connection has written."""
        version = self._db.pragma("data_version")
        if version != self._files_version:
            before, self._files_read = self._files_read, {}
            for row in self._db.execute(_FILES):
                self._files_read[row] = before.get(row) or (
                    os.fsdecode(row[1]),
                    FileState(row[2:5], *row[5:]),
                )
            self._states = dict(self._files_read.values())
            self._paths = {row[0]: path for row, (path, _) in self._files_read.items()}
            self._files_version = version
        return self._states

    def paths(self) -> Mapping[int, str]:
        """The path of every file by its number."""
        self.states()
        return self._paths

    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's chunks, and how often each occurs."""
        known = self._known(self._file(path))
        return Counter({identity: len(keys) for identity, keys in known.items()})

    def replace(self, change: FileChange, terms: dict[int, bytes]) -> list[int] | None:
        """Part of a transaction; gives the keys of removed chunks, or None if the file is not as seen.

        The terms of new chunks are added to `terms`, for `add_postings`.
        """
        states = self.states()
        if change.if_as_seen and states.get(change.path) != change.seen:
            return None
        number = self._file(change.path)
        if change.state is None:
            return self._remove_file(change.path, number)
        if change.chunks is None and number is None:
            return []
        number = self._store_file(number, change.path, change.state)
        if change.chunks is None:
            return []
        known = {} if change.is_appended else self._known(number)
        self._store(number, change, known, terms)
        gone = [key for keys in known.values() for key in keys]
        self._db.executemany("DELETE FROM chunks WHERE key = ?", [(key,) for key in gone])
        return gone

    def _file(self, path: str) -> int | None:
        number: int | None = self._database.one(
            "SELECT id FROM files WHERE path = ?", os.fsencode(path)
        )
        return number

    def _store_file(self, number: int | None, path: str, state: FileState) -> int:
        values = (*state.stamp, state.digest, state.flaws)
        if number is None:
            self._db.execute(
                "INSERT INTO files (path, inode, size, mtime, digest, flaws) VALUES (?,?,?,?,?,?)",
                (os.fsencode(path), *values),
            )
            number = self._db.last_insert_rowid()
        else:
            self._db.execute(
                "UPDATE files SET inode=?, size=?, mtime=?, digest=?, flaws=? WHERE id=?",
                (*values, number),
            )
        self._states[path], self._paths[number] = state, path
        return number

    def _remove_file(self, path: str, number: int | None) -> list[int]:
        if number is None:
            return []
        rows = self._db.execute("SELECT key FROM chunks WHERE file = ?", (number,))
        gone = [key for (key,) in rows]
        self._db.execute("DELETE FROM chunks WHERE file = ?", (number,))
        self._db.execute("DELETE FROM files WHERE id = ?", (number,))
        del self._states[path], self._paths[number]
        return gone

    def _known(self, file: int | None) -> dict[bytes, list[int]]:
        known: dict[bytes, list[int]] = {}
        for identity, key in self._db.execute(
            "SELECT identity, key FROM chunks WHERE file = ? ORDER BY key DESC", (file,)
        ):
            known.setdefault(identity, []).append(key)
        return known

    def _store(
        self,
        file: int,
        change: FileChange,
        known: dict[bytes, list[int]],
        terms: dict[int, bytes],
    ) -> None:
        """Known chunks get their new places; others become rows."""
        key = self._database.one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        moved, new = [], []
        for item in change.chunks or ():
            chunk = item.chunk
            if keys := known.get(item.identity):
                place = (chunk.first_line, chunk.last_line, chunk.offset, chunk.size)
                moved.append((*place, keys.pop()))
            elif item.terms is None:
                raise IndexReplacedError(
                    f"Another process changed what is indexed of {change.path}.",
                    path=self._database.folder,
                )
            else:
                key += 1
                new.append(self._row(key, file, item))
                terms[key] = item.terms
        self._db.executemany(_MOVE, moved)
        self._db.executemany(_INSERT, new)

    def _row(self, key: int, file: int, item: IndexedChunk) -> tuple[Any, ...]:
        chunk, name = item.chunk, self._number
        length = unpack_terms(item.terms or b"\0\0\0\0")[2]
        return (
            key, file, chunk.kind, chunk.first_line, chunk.last_line, chunk.offset, chunk.size,
            chunk.role, clean(chunk.heading), chunk.dated.toordinal() if chunk.dated else 0,
            name(chunk.category), name(chunk.session), name(chunk.chat), chunk.sensitivity,
            name(chunk.channel), clean(chunk.record_id), clean(chunk.supersedes),
            int(chunk.expires.timestamp()) if chunk.expires else 0, item.digest, item.identity,
            _record_number(chunk), length, item.tokens, vector_bytes(item.vector),
        )  # fmt: skip

    def _number(self, name: str) -> int:
        """The number of a name, which is given one if it has none."""
        number = self._numbers.get(name)
        if number is None:
            text = clean(name)
            self._db.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (text,))
            number = self._database.one("SELECT id FROM names WHERE name = ?", text)
            self._numbers[name] = number
        return number

    def names(self) -> Mapping[int, str]:
        """All names by number, read again only when there are more of them."""
        last = self._database.one("SELECT max(id) FROM names") or 0
        if last not in self._names:
            self._names = {0: "", **dict(self._db.execute("SELECT id, name FROM names"))}
        return self._names

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; what was fetched once is kept until somebody writes."""
        version = self._db.pragma("data_version"), self._db.total_changes()
        if version != self._found_version or len(self._found) > _MAX_KEPT:
            self._found, self._found_version = {}, version
        new = [key for key in keys if key not in self._found]
        if new:
            with self._db, _complete():  # names and rows as of one moment
                names, paths = self.names(), self.paths()
                for at in range(0, len(new), _BATCH):
                    some = new[at : at + _BATCH]
                    for row in self._db.execute(f"{_FIND} WHERE key IN ({marks(some)})", some):
                        self._found[row[0]] = _found(row, names, paths)
        return {key: self._found[key] for key in keys if key in self._found}


@contextmanager
def _complete() -> Iterator[None]:
    """A chunk without its name or file is damage."""
    try:
        yield
    except KeyError as error:
        raise DamageError(f"{error} is missing") from error


def _found(row: tuple[Any, ...], names: Mapping[int, str], paths: Mapping[int, str]) -> Found:
    chunk = Chunk(
        kind=row[2], text="", path=paths[row[1]], first_line=row[3], last_line=row[4],
        offset=row[5], size=row[6], role=row[7], heading=row[8],
        dated=date.fromordinal(row[9]) if row[9] else None,
        category=names[row[10]], session=names[row[11]], chat=names[row[12]],
        sensitivity=row[13], channel=names[row[14]], record_id=row[15], supersedes=row[16],
        expires=datetime.fromtimestamp(row[17], UTC) if row[17] else None,
    )  # fmt: skip
    return Found(row[0], chunk, row[18])


def vector_bytes(vector: Vectors | None) -> bytes | None:
    """A vector as it is stored; a refused one is empty."""
    if vector is None:
        return None
    return quantise(vector[None])[0].tobytes() if vector.size else b""


def _record_number(chunk: Chunk) -> int:
    """The same for a record in whichever file, and one more for a copy made of it."""
    if not chunk.record_id:
        return 0
    return _even_number(chunk.copy_of or chunk.record_id) + bool(chunk.copy_of)


def record_numbers(ids: Iterable[str]) -> NDArray[np.int64]:
    """The numbers of records, not of copies made of them."""
    return np.array([_even_number(record_id) for record_id in ids], np.int64)


def _even_number(record_id: str) -> int:
    name = record_id.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=7).digest(), "little") * 2


def clean(text: str) -> str:
    """The text as SQLite can keep it: half a surrogate pair is no character."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def marks(values: Sequence[object]) -> str:
    """A question mark for each value."""
    return ",".join("?" * len(values))
