"""Files and chunks as rows of the database, and back; and which record replaced which."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import wraps
from hashlib import blake2b
from itertools import chain
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from memolith.index.arrays import quantise
from memolith.index.database import Database
from memolith.interfaces import (
    FileChange,
    FileState,
    Found,
    IndexedChunk,
    IndexReplacedError,
    RecordStates,
    Terms,
    Vectors,
)
from memolith.reports import IndexStatus
from memolith.results import Chunk, Filters

Method = TypeVar("Method", bound=Callable[..., Any])

# The columns of a chunk that engines with SQL have, by name.
COLUMNS = (
    "kind", "first_line", "last_line", "start", "size", "role", "heading", "dated", "category",
    "session", "chat", "channel", "sensitivity", "record_id", "supersedes", "expires",
)  # fmt: skip
_ALL = ("key", "file", *COLUMNS, "record", "digest", "identity", "length", "tokens", "vector")
_STATE = "inode, size, mtime, digest, flaws"
_FILE = f"SELECT id, {_STATE} FROM files WHERE path = ?"  # noqa: S608 - our columns
_PUT_FILE = (
    "INSERT INTO files (path, inode, size, mtime, digest, flaws) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (path) DO UPDATE SET inode = excluded.inode, size = excluded.size,"
    " mtime = excluded.mtime, digest = excluded.digest, flaws = excluded.flaws RETURNING id"
)
_INSERT = f"INSERT INTO chunks ({', '.join(_ALL)}) VALUES (:{', :'.join(_ALL)})"  # noqa: S608 - our columns
_MOVE = "UPDATE chunks SET first_line = ?, last_line = ?, start = ?, size = ? WHERE key = ?"
_FOUND = (
    f"SELECT key, path, c.digest, c.{', c.'.join(COLUMNS)} FROM chunks c"  # noqa: S608 - our columns
    " JOIN files ON files.id = file WHERE"
)
_FETCH = f"{_FOUND} key IN (SELECT value FROM json_each(?))"  # noqa: S608 - our columns
_ANY_WAITING = "SELECT 1 FROM chunks WHERE vector IS NULL LIMIT 1"
_WAITING = f"{_FOUND} vector IS NULL AND key < ? ORDER BY key DESC LIMIT ?"
_NEWER = (
    "SELECT supersedes, record_id, record, key, file, first_line, sensitivity = 'secret', expires"
    " FROM chunks WHERE supersedes <> '' AND dated <= ?"
    " AND supersedes IN (SELECT value FROM json_each(?))"
)
_COUNTED = (
    "SELECT (SELECT count(*) FROM files), count(*), count(*) - count(vector),"
    " count(*) FILTER (WHERE length(vector) = 0) FROM chunks"
)
_NO_KEY = 1 << 62
# A longer chain of records is a loop made by hand.
_MAX_STEPS = 50


def operation(method: Method) -> Method:
    """Check that the database is still the right one, and raise only our errors."""

    @wraps(method)
    def guarded(self: Rows, /, *args: Any, **kwargs: Any) -> Any:
        with self._database.operation():
            return method(self, *args, **kwargs)

    return cast("Method", guarded)


class Rows:
    """The part of the index that is plain SQL: files, chunks and records."""

    def __init__(self, database: Database) -> None:
        """Nothing is read before it is needed."""
        self._database = database
        self._db = database.connection
        self._version: object = None
        self._states = dict[str, FileState]()
        self._has_vectors = False  # all chunks, in this version

    @operation
    def files(self) -> Mapping[str, FileState]:
        """The state of each indexed file; read again only if somebody has written."""
        if (version := self._database.version()) != self._version:
            rows = self._db.execute(f"SELECT path, {_STATE} FROM files")  # noqa: S608 - our columns
            self._states = {os.fsdecode(row[0]): _state(*row[1:]) for row in rows}
            self._has_vectors = not self._database.one(_ANY_WAITING)
            self._version = version
        return self._states

    @operation
    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's indexed chunks, and how often each occurs."""
        file = self._database.one("SELECT id FROM files WHERE path = ?", os.fsencode(path))
        return Counter({identity: len(keys) for identity, keys in self._known(file).items()})

    @operation
    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys, in this order; keys of replaced chunks are left out."""
        rows = self._db.execute(_FETCH, (json.dumps(keys),))
        found = {row[0]: found_in(*row) for row in rows}
        return {key: found[key] for key in keys if key in found}

    @operation
    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, newest first, with keys below `before`."""
        if self._has_vectors and self._database.version() == self._version:
            return []
        asked = (_NO_KEY if before is None else before, limit)
        return [found_in(*row) for row in self._db.execute(_WAITING, asked)]

    @operation
    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> dict[str, tuple[int, ...]]:
        """The superseded ones of these records, each with its chain of successors."""
        return successors(
            lambda until, ids: self._db.execute(_NEWER, (until, json.dumps(list(ids)))),
            record_ids,
            filters,
        )

    @operation
    def record_states(self) -> RecordStates:
        """Which records are secret in any file, and which are superseded."""
        secret = self._db.execute(
            "SELECT record_id FROM chunks WHERE sensitivity = 'secret' AND record_id <> ''"
        )
        old = self._db.execute("SELECT supersedes FROM chunks WHERE supersedes <> ''")
        return RecordStates(
            frozenset(name for (name,) in secret), frozenset(name for (name,) in old)
        )

    @operation
    def stats(self) -> IndexStatus:
        """How much the index holds."""
        files, chunks, waiting, refused = self._db.execute(_COUNTED).get
        return IndexStatus(
            folder=self._database.folder, exists=True, files=files, chunks=chunks,
            without_vector=waiting, refused=refused, bytes=self._database.size(),
            model=self._database.stored_model()[0] or None,
        )  # fmt: skip

    def _replace(
        self, changes: Iterable[FileChange]
    ) -> tuple[list[int], dict[int, Terms], list[str]]:
        """Part of a transaction; gives removed keys, the terms of new ones, and files not as seen."""
        gone, terms, overtaken = list[int](), dict[int, Terms](), list[str]()
        for change in changes:
            path, state, known = os.fsencode(change.path), change.state, dict[bytes, list[int]]()
            row: Any = self._db.execute(_FILE, (path,)).get
            number, held = (row[0], _state(*row[1:])) if row else (None, None)
            if change.if_as_seen and held != change.seen:
                overtaken.append(change.path)
            elif state is None:
                known = self._known(number)
                self._db.execute("DELETE FROM files WHERE id = ?", (number,))
            elif number is not None or change.chunks is not None:
                file = self._database.one(_PUT_FILE, path, *state.stamp, state.digest, state.flaws)
                if change.chunks is not None:
                    known = {} if change.is_appended else self._known(file)
                    self._store(file, change.path, change.chunks, known, terms)
            gone += chain.from_iterable(known.values())
        self._db.executemany("DELETE FROM chunks WHERE key = ?", [(key,) for key in gone])
        return gone, terms, overtaken

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
        key = self._database.last_key()
        moved, new, names = [], [], list[object]()
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
                values = chunk_values(item, clean)
                vector = vector_bytes(item.vector)
                new.append(values | {"key": key, "file": file, "vector": vector})
                names += (values["category"], values["session"], values["chat"])
                terms[key] = item.terms
        named = [{"name": name} for name in dict.fromkeys(names)]
        self._db.executemany("INSERT OR IGNORE INTO names (name) VALUES (:name)", named)
        self._db.executemany(_MOVE, moved)
        self._db.executemany(_INSERT, new)


def _state(inode: int, size: int, changed: int, digest: str, flaws: str) -> FileState:
    return FileState((inode, size, changed), digest, flaws)


def chunk_values(item: IndexedChunk, clean: Callable[[str], str]) -> dict[str, object]:
    """The columns of a new chunk, by name; `clean` makes texts what the database can keep."""
    chunk, record = item.chunk, 0
    if chunk.record_id:
        record = _even_number(chunk.copy_of or chunk.record_id) + bool(chunk.copy_of)
    values = {name: getattr(chunk, name, None) for name in COLUMNS}
    texts = {name: clean(value) for name, value in values.items() if isinstance(value, str)}
    return {
        **values,
        **texts,
        "start": chunk.offset,
        "dated": chunk.dated.toordinal() if chunk.dated else 0,
        "expires": int(chunk.expires.timestamp()) if chunk.expires else 0,
        "record": record,
        "digest": item.digest,
        "identity": item.identity,
        "length": item.terms.length if item.terms else 0.0,
        "tokens": item.tokens,
    }


def found_in(key: int, path: bytes, digest: bytes, *values: Any) -> Found:
    """The chunk of a row: its key, path and digest, and `COLUMNS`."""
    about = dict(zip(COLUMNS, values, strict=True))
    dated, expires = about.pop("dated"), about.pop("expires")
    chunk = Chunk(
        text="",
        path=os.fsdecode(bytes(path)),
        offset=about.pop("start"),
        dated=date.fromordinal(dated) if dated else None,
        expires=datetime.fromtimestamp(expires, UTC) if expires else None,
        **about,
    )
    return Found(key, chunk, bytes(digest))


def vector_bytes(vector: Vectors | None) -> bytes | None:
    """A vector as it is stored; a refused one is empty."""
    if vector is None:
        return None
    return quantise(vector[None])[0].tobytes() if vector.size else b""


def record_numbers(ids: Iterable[str]) -> NDArray[np.int64]:
    """The numbers of records, not of copies made of them."""
    return np.array([_even_number(record_id) for record_id in ids], np.int64)


def _even_number(record_id: str) -> int:
    name = record_id.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(name, digest_size=7).digest(), "little") * 2


def clean(text: str) -> str:
    """The text as SQLite can keep it: half a surrogate pair is not a character."""
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
    by_clean = {name if name.isascii() else clean(name): name for name in record_ids}
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
