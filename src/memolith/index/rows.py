"""Files and chunks as rows of the database, and back; and which record replaced which."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.database import Database
from memolith.index.vectors import quantise
from memolith.interfaces import (
    ASSISTANT,
    NOBODY,
    PROSE,
    RECORD,
    TURN,
    USER,
    FileChange,
    FileState,
    Found,
    IndexedChunk,
    IndexReplacedError,
    Terms,
    Vectors,
)
from memolith.results import Chunk, ChunkKind, Filters

_KINDS: dict[ChunkKind, int] = {"record": RECORD, "turn": TURN, "prose": PROSE}
_ROLES = {"": NOBODY, "user": USER, "assistant": ASSISTANT}
_KIND_NAMES, _ROLE_NAMES = list(_KINDS), list(_ROLES)
_STATE = "inode, size, mtime, digest, flaws"
_PUT_FILE = (
    "INSERT INTO files (path, inode, size, mtime, digest, flaws) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (path) DO UPDATE SET inode = excluded.inode, size = excluded.size,"
    " mtime = excluded.mtime, digest = excluded.digest, flaws = excluded.flaws RETURNING id"
)
_INSERT = "INSERT INTO chunks VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_MOVE = "UPDATE chunks SET first_line = ?, last_line = ?, offset = ?, size = ? WHERE key = ?"
_FETCH = (
    "SELECT key, kind, path, first_line, last_line, offset, chunks.size, role, heading, dated,"
    " (SELECT name FROM names WHERE id = category), (SELECT name FROM names WHERE id = session),"
    " (SELECT name FROM names WHERE id = chat), (SELECT name FROM names WHERE id = channel),"
    " sensitivity, record_id, supersedes, expires, chunks.digest"
    " FROM chunks JOIN files ON files.id = file WHERE key IN (SELECT value FROM json_each(?))"
)
_NEWER = (
    "SELECT supersedes, record_id, record, key, file, first_line, sensitivity = 'secret', expires"
    " FROM chunks WHERE supersedes <> '' AND dated <= ?"
    " AND supersedes IN (SELECT value FROM json_each(?))"
)
# A longer chain of records is a loop made by hand.
_MAX_STEPS = 50


class Rows:
    """The tables of files and chunks of one database."""

    def __init__(self, database: Database) -> None:
        """Nothing is read before it is needed."""
        self._database = database
        self._db = database.connection
        self._version: object = None
        self._states = dict[str, FileState]()
        self._numbers = dict[str, int]()

    def states(self) -> Mapping[str, FileState]:
        """Every file by its path; read again only if somebody has written."""
        if (version := self._database.version()) != self._version:
            rows = self._db.execute(f"SELECT path, {_STATE} FROM files")  # noqa: S608 - our columns
            self._states = {os.fsdecode(row[0]): _state(*row[1:]) for row in rows}
            self._version = version
        return self._states

    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's chunks, and how often each occurs."""
        file = self._database.one("SELECT id FROM files WHERE path = ?", os.fsencode(path))
        return Counter({identity: len(keys) for identity, keys in self._known(file).items()})

    def replace(
        self, changes: Iterable[FileChange]
    ) -> tuple[list[int], dict[int, Terms], list[str]]:
        """Part of a transaction; gives removed keys, the terms of new ones, and files not as seen."""
        gone, terms, overtaken = list[int](), dict[int, Terms](), list[str]()
        self._numbers = {}
        for change in changes:
            keys = self._replace(change, terms)
            if keys is None:
                overtaken.append(change.path)
            gone += keys or ()
        self._db.executemany("DELETE FROM chunks WHERE key = ?", [(key,) for key in gone])
        return gone, terms, overtaken

    def _replace(self, change: FileChange, terms: dict[int, Terms]) -> list[int] | None:
        """Store one file; gives the keys of the chunks that it no longer has."""
        path = os.fsencode(change.path)
        rows = self._db.execute(f"SELECT id, {_STATE} FROM files WHERE path = ?", (path,))  # noqa: S608 - our columns
        row: Any = next(iter(rows), None)
        number, held = (row[0], _state(*row[1:])) if row else (None, None)
        if change.if_as_seen and held != change.seen:
            return None
        if change.state is None:
            known = self._known(number)
            self._db.execute("DELETE FROM files WHERE id = ?", (number,))
        elif number is None and change.chunks is None:
            return []
        else:
            values = (path, *change.state.stamp, change.state.digest, change.state.flaws)
            file = self._database.one(_PUT_FILE, *values)
            if change.chunks is None:
                return []
            known = {} if change.is_appended else self._known(file)
            self._store(file, change.path, change.chunks, known, terms)
        return [key for keys in known.values() for key in keys]

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
        path: str,
        items: Iterable[IndexedChunk],
        known: dict[bytes, list[int]],
        terms: dict[int, Terms],
    ) -> None:
        """Known chunks get their new places; others become rows."""
        key = self._database.one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        moved, new = [], []
        for item in items:
            chunk = item.chunk
            if keys := known.get(item.identity):
                place = (chunk.first_line, chunk.last_line, chunk.offset, chunk.size)
                moved.append((*place, keys.pop()))
            elif item.terms is None:
                raise IndexReplacedError(
                    f"Another process changed what is indexed of {path}.",
                    path=self._database.folder,
                )
            else:
                key += 1
                new.append(self._row(key, file, item, item.terms.length))
                terms[key] = item.terms
        self._db.executemany(_MOVE, moved)
        self._db.executemany(_INSERT, new)

    def _row(self, key: int, file: int, item: IndexedChunk, length: float) -> tuple[Any, ...]:
        chunk, name = item.chunk, self._number
        return (
            key, file, _KINDS[chunk.kind], chunk.first_line, chunk.last_line, chunk.offset,
            chunk.size, _ROLES.get(chunk.role, NOBODY), clean(chunk.heading),
            chunk.dated.toordinal() if chunk.dated else 0,
            name(chunk.category), name(chunk.session), name(chunk.chat), chunk.sensitivity,
            name(chunk.channel), clean(chunk.record_id), clean(chunk.supersedes),
            int(chunk.expires.timestamp()) if chunk.expires else 0, item.digest, item.identity,
            _record_number(chunk), length, item.tokens, vector_bytes(item.vector),
        )  # fmt: skip

    def _number(self, name: str) -> int:
        """The number of a name, which is given one if it has none."""
        if name not in self._numbers:
            text = clean(name)
            self._db.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (text,))
            self._numbers[name] = self._database.one("SELECT id FROM names WHERE name = ?", text)
        return self._numbers[name]

    def names(self, numbers: Iterable[int]) -> dict[int, str]:
        """The names with these numbers."""
        statement = "SELECT id, name FROM names WHERE id IN (SELECT value FROM json_each(?))"
        return dict(self._db.execute(statement, (json.dumps(list(numbers)),)))

    def files_covered(self, filters: Filters) -> list[int]:
        """The numbers of the files that the path of filters covers."""
        rows = self._db.execute("SELECT id, path FROM files")
        return [number for number, path in rows if filters.covers(os.fsdecode(path))]

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys, in this order."""
        rows = self._db.execute(_FETCH, (json.dumps(keys),))
        found = {row[0]: _found(*row) for row in rows}
        return {key: found[key] for key in keys if key in found}

    def newer(self, until: int, record_ids: Collection[str]) -> Iterable[tuple[Any, ...]]:
        """What `successors` asks for."""
        return self._db.execute(_NEWER, (until, json.dumps(list(record_ids))))


def _state(inode: int, size: int, changed: int, digest: str, flaws: str) -> FileState:
    return FileState((inode, size, changed), digest, flaws)


def _found(key: int, kind: int, path: bytes, *row: Any) -> Found:
    chunk = Chunk(
        kind=_KIND_NAMES[kind], text="", path=os.fsdecode(path),
        first_line=row[0], last_line=row[1], offset=row[2], size=row[3],
        role=_ROLE_NAMES[row[4]], heading=row[5],
        dated=date.fromordinal(row[6]) if row[6] else None,
        category=row[7], session=row[8], chat=row[9], channel=row[10],
        sensitivity=row[11], record_id=row[12], supersedes=row[13],
        expires=datetime.fromtimestamp(row[14], UTC) if row[14] else None,
    )  # fmt: skip
    return Found(key, chunk, row[15])


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


# From a day and ids of records to rows about those that replaced them; see `_NEWER`.
Newer = Callable[[int, Collection[str]], Iterable[tuple[Any, ...]]]


def successors(
    newer: Newer, record_ids: Collection[str], filters: Filters
) -> dict[str, tuple[int, ...]]:
    """For each of these records that was superseded, as of the day asked for, the chunks that followed.

    Those that the caller may not see, or that have expired, are left out of the chain, not the chain itself.
    """
    until = (filters.as_of or date.max).toordinal()
    by_clean = {clean(record_id): record_id for record_id in record_ids if record_id}
    steps = dict[str, list[tuple[Any, ...]]]()  # by the id of a record the rows of the next one
    new = set(by_clean)
    for _ in range(_MAX_STEPS):
        rows = dict[str, dict[str, list[tuple[Any, ...]]]]()
        for row in newer(until, new):
            rows.setdefault(row[0], {}).setdefault(row[1], []).append(row)
        for old, replacing in rows.items():  # of several the one that was written last
            steps[old] = max(replacing.values(), key=lambda same: max(row[3] for row in same))
        new = {steps[old][0][1] for old in rows} - steps.keys()
        if not new:
            break
    return {by_clean[old]: _chain(old, steps, filters) for old in by_clean if old in steps}


def _chain(
    record_id: str, steps: Mapping[str, list[tuple[Any, ...]]], filters: Filters
) -> tuple[int, ...]:
    now = filters.now.timestamp() if filters.now else 0
    keys, passed = list[int](), {record_id}
    while (rows := steps.get(record_id)) and rows[0][1] not in passed:
        record_id = rows[0][1]
        passed.add(record_id)
        # A record is as secret as the strictest of its files says.
        is_visible = filters.include_secret or not any(row[6] for row in rows)
        if is_visible and not any(0 < row[7] <= now for row in rows):
            # Not a copy if possible, the file that was added last, and of a long note its beginning.
            keys.append(min(rows, key=lambda row: (row[2] % 2, -row[4], row[5]))[3])
    return tuple(keys)
