"""The built-in index: SQLite for the rows, mapped segment files for the search.

SQLite holds every chunk with its terms and its vector, and is what several processes share. What is
searched are flat arrays made from these rows (see `segments.py`).
"""

from __future__ import annotations

import os
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import apsw

from memolith.index.live import NumberedFilters, best, weighted
from memolith.index.nearest import quantise
from memolith.index.postings import pack_terms
from memolith.index.segments import Segments
from memolith.index.sqlite_schema import TABLES, VERSION
from memolith.interfaces import FileState, Found, IndexStats
from memolith.retrieval import Chunk

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from memolith.interfaces import IndexedChunk, Scored, Vectors
    from memolith.retrieval import Filters

_BUSY_MILLISECONDS = 10_000
_FOUND = (
    "SELECT key, kind, path, first_line, last_line, offset, chunks.size, role, heading, dated,"
    " (SELECT name FROM names WHERE id = category), (SELECT name FROM names WHERE id = session),"
    " (SELECT name FROM names WHERE id = chat), sensitivity,"
    " (SELECT name FROM names WHERE id = channel), record_id, supersedes, expires, chunks.digest"
    " FROM chunks JOIN files ON files.id = chunks.file WHERE key = ?"
)
_INSERT = (
    "INSERT INTO chunks (file, kind, first_line, last_line, offset, size, role, heading, dated, category,"
    " session, chat, sensitivity, channel, record_id, supersedes, expires, digest, identity, terms,"
    " vector) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_MOVE = (
    "UPDATE chunks SET first_line = ?1, last_line = ?2, offset = ?3, size = ?4 WHERE key = ?5"
    " AND (first_line <> ?1 OR last_line <> ?2 OR offset <> ?3 OR size <> ?4)"
)


class SqliteIndex:
    """The index of one profile, open in one process."""

    def __init__(self, folder: str, *, model: str, dimensions: int) -> None:
        """Open the index in `folder`, or make it; one of another version or model is made anew."""
        self._folder = folder
        self._model = model
        self._dimensions = dimensions
        self._names: dict[str, int] = {}
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self._db = apsw.Connection(os.path.join(folder, "index.db"))
        self._db.set_busy_timeout(_BUSY_MILLISECONDS)
        for name, value in (
            ("journal_mode", "wal"),
            ("synchronous", "normal"),
            ("trusted_schema", 0),
        ):
            self._db.pragma(name, value)
        self._make_tables()
        self._segments = Segments(self._db, folder, dimensions)

    def close(self) -> None:
        """Let go of the files."""
        self._db.close()

    def files(self) -> dict[str, FileState]:
        """What the index believes it holds."""
        rows = self._db.execute("SELECT path, inode, size, mtime, digest FROM files")
        return {row[0]: FileState((row[1], row[2], row[3]), row[4]) for row in rows}

    def identities(self, path: str) -> set[bytes]:
        """What of a file is indexed already, wherever in the file it stands."""
        return {
            row[0]
            for row in self._db.execute(
                "SELECT identity FROM chunks WHERE file = (SELECT id FROM files WHERE path = ?)",
                (path,),
            )
        }

    def replace_file(
        self, path: str, state: FileState | None, chunks: Sequence[IndexedChunk]
    ) -> None:
        """Put these chunks in the place of a file's old ones, in one transaction.

        Chunks that were there already only get their new places.
        """
        with _Writing(self._db):
            old = self._one("SELECT id FROM files WHERE path = ?", path)
            known = self._known(old)
            file = 0 if state is None else self._store_file(path, state, old)
            moved, new = [], []
            for item in chunks:
                keys = known.get(item.identity)
                if keys:
                    chunk = item.chunk
                    moved.append(
                        (chunk.first_line, chunk.last_line, chunk.offset, chunk.size, keys.pop())
                    )
                else:
                    new.append(self._values(file, item))
            self._db.executemany(_MOVE, moved)
            self._remove([key for keys in known.values() for key in keys])
            self._db.executemany(_INSERT, new)
            if state is None:
                self._db.execute("DELETE FROM files WHERE path = ?", (path,))

    def touch_file(self, path: str, state: FileState) -> None:
        """Note a new stamp of a file whose content is the same."""
        with _Writing(self._db):
            self._store_file(path, state, self._one("SELECT id FROM files WHERE path = ?", path))

    def keyword_search(
        self, words: Sequence[Mapping[str, float]], limit: int, filters: Filters
    ) -> list[Scored]:
        """The best chunks by BM25. Each word is a choice of terms with weights: the best one counts."""
        segments = self._segments.current()
        numbered = self._numbered(filters)
        terms = weighted(words, segments)
        return best(
            [hit for live in segments for hit in live.keyword_search(terms, limit, numbered)], limit
        )

    def vector_search(self, vector: Vectors, limit: int, filters: Filters) -> list[Scored]:
        """The nearest chunks by cosine."""
        segments = self._segments.current()
        numbered = self._numbered(filters)
        return best(
            [hit for live in segments for hit in live.vector_search(vector, limit, numbered)], limit
        )

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        found = {}
        for key in keys:
            for row in self._db.execute(_FOUND, (key,)):
                found[key] = _found(row)
        return found

    def superseded(self, record_ids: Collection[str], filters: Filters) -> set[str]:
        """Which of these records a newer one has taken the place of, as of the day asked for."""
        until = filters.as_of.toordinal() if filters.as_of else date.max.toordinal()
        return {
            record_id
            for record_id in record_ids
            if self._one(
                "SELECT 1 FROM chunks WHERE supersedes = ? AND supersedes <> '' AND dated <= ?",
                record_id,
                until,
            )
        }

    def without_vector(self, limit: int) -> list[Found]:
        """Chunks that still have to be embedded."""
        keys = self._db.execute(
            "SELECT key FROM chunks WHERE vector IS NULL ORDER BY key DESC LIMIT ?", (limit,)
        )
        return list(self.fetch([key for (key,) in keys]).values())

    def set_vectors(self, vectors: Mapping[int, Vectors]) -> None:
        """Add the vectors of chunks that had none; they move to the recent segment."""
        with _Writing(self._db):
            for key, vector in vectors.items():
                packed = quantise(vector[None])[0].tobytes()
                self._db.execute("UPDATE chunks SET vector = ? WHERE key = ?", (packed, key))
            self._db.execute("DELETE FROM segments")  # their vectors are out of date

    def maintain(self) -> bool:
        """Write and merge segment files, if it is worth it."""
        return self._segments.maintain(lambda: _Writing(self._db))

    def stats(self) -> IndexStats:
        """How much the index holds."""
        size = sum(entry.stat().st_size for entry in os.scandir(self._folder) if entry.is_file())
        return IndexStats(
            files=self._one("SELECT count(*) FROM files") or 0,
            chunks=self._one("SELECT count(*) FROM chunks") or 0,
            without_vector=self._one("SELECT count(*) FROM chunks WHERE vector IS NULL") or 0,
            bytes=size,
            model=self._model,
        )

    def _make_tables(self) -> None:
        wanted = f"{VERSION} {self._model} {self._dimensions}"
        if self._db.pragma("user_version") == VERSION and self._get("made for") == wanted:
            return
        with _Writing(self._db):
            if self._db.pragma("user_version") == VERSION and self._get("made for") == wanted:
                return
            tables = self._db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
            )
            for name in [row[0] for row in tables]:
                self._db.execute(f'DROP TABLE "{name}"')
            for statement in TABLES.split(";\n"):
                self._db.execute(statement)
            self._set("made for", wanted)
            self._db.pragma("user_version", VERSION)

    def _known(self, file: int | None) -> dict[bytes, list[int]]:
        known: dict[bytes, list[int]] = {}
        for identity, key in self._db.execute(
            "SELECT identity, key FROM chunks WHERE file = ? ORDER BY key DESC", (file,)
        ):
            known.setdefault(identity, []).append(key)
        return known

    def _remove(self, keys: Sequence[int]) -> None:
        rows = [(key,) for key in keys]
        self._db.executemany("INSERT INTO removed (key) VALUES (?)", rows)
        self._db.executemany("DELETE FROM chunks WHERE key = ?", rows)

    def _values(self, file: int, item: IndexedChunk) -> tuple[Any, ...]:
        chunk = item.chunk
        return (
            file, chunk.kind, chunk.first_line, chunk.last_line, chunk.offset, chunk.size, chunk.role,
            chunk.heading, chunk.dated.toordinal() if chunk.dated else 0, self._name(chunk.category),
            self._name(chunk.session), self._name(chunk.chat), chunk.sensitivity,
            self._name(chunk.channel), chunk.record_id, chunk.supersedes,
            int(chunk.expires.timestamp()) if chunk.expires else 0, item.digest, item.identity,
            pack_terms(item.terms),
            None if item.vector is None else quantise(item.vector[None])[0].tobytes(),
        )  # fmt: skip

    def _name(self, name: str) -> int:
        known = self._names.get(name)
        if known is None:
            self._db.execute("INSERT OR IGNORE INTO names (name) VALUES (?)", (name,))
            known = self._names[name] = int(self._one("SELECT id FROM names WHERE name = ?", name))
        return known

    def _numbered(self, filters: Filters) -> NumberedFilters:
        if not {filters.category, filters.session, filters.chat} <= {None, *self._names}:
            self._names = dict(self._db.execute("SELECT name, id FROM names"))
        files = None
        if filters.path is not None:
            folder = filters.path.rstrip("/") + "/"
            files = [
                number
                for number, path in self._db.execute("SELECT id, path FROM files")
                if path == filters.path or path.startswith(folder)
            ]
        return NumberedFilters.of(filters, self._names, files)

    def _store_file(self, path: str, state: FileState, number: int | None) -> int:
        statement = (
            "INSERT OR REPLACE INTO files (id, path, inode, size, mtime, digest)"
            " VALUES (?,?,?,?,?,?) RETURNING id"
        )
        return int(self._one(statement, number, path, *state.stamp, state.digest))

    def _one(self, statement: str, *values: object) -> Any:
        for row in self._db.execute(statement, values):
            return row[0]
        return None

    def _get(self, key: str) -> str:
        try:
            return self._one("SELECT value FROM meta WHERE key = ?", key) or ""
        except apsw.SQLError:
            return ""

    def _set(self, key: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)", (key, value))


class _Writing:
    """A transaction that takes the write lock at once: one that upgrades later can be refused."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        self._db.execute("COMMIT" if kind is None else "ROLLBACK")


def _found(row: tuple[Any, ...]) -> Found:
    return Found(
        row[0],
        Chunk(
            kind=row[1], text="", path=row[2], first_line=row[3], last_line=row[4], offset=row[5],
            size=row[6], role=row[7], heading=row[8],
            dated=date.fromordinal(row[9]) if row[9] else None,
            category=row[10], session=row[11], chat=row[12], sensitivity=row[13], channel=row[14],
            record_id=row[15], supersedes=row[16],
            expires=datetime.fromtimestamp(row[17], UTC) if row[17] else None,
        ),
        row[18],
    )  # fmt: skip
