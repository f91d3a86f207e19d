"""The built-in index: SQLite for the rows, segment files for the search.

SQLite holds every chunk with its terms and its vector, and is what several processes share. What is
searched are flat arrays made from these rows (see `segments.py`). Both can be lost or damaged at any
time: then the next generation is made from the files of the memory (see `generations.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from memolith.index import generations
from memolith.index.database import DamageError, Database
from memolith.index.fetching import Fetching
from memolith.index.file_table import FileTable
from memolith.index.groups import group_vectors
from memolith.index.live import LiveSegment, NumberedFilters, tokens_of
from memolith.index.ranking import rank_segments
from memolith.index.rows import INSERT, MOVE, Rows, clean, pack_vector, with_sum
from memolith.index.segments import Segments
from memolith.index.succession import is_replaced, successors
from memolith.interfaces import (
    Column,
    FileChange,
    FileState,
    Found,
    IndexedChunk,
    IndexReplacedError,
    Nomination,
    Tokens,
    Vectors,
)
from memolith.reports import IndexStatus
from memolith.results import Filters

_NO_KEY = 1 << 62
P = ParamSpec("P")
T = TypeVar("T")


def _guarded(
    method: Callable[Concatenate[SqliteIndex, P], T],
) -> Callable[Concatenate[SqliteIndex, P], T]:
    """Look whether the database is still the right one, and let only our errors out."""

    @wraps(method)
    def guarded(self: SqliteIndex, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.operation():
            return method(self, *args, **kwargs)

    return guarded


def _going_on(
    method: Callable[Concatenate[SqliteIndex, P], T],
) -> Callable[Concatenate[SqliteIndex, P], T]:
    """The same for what only reads, after an operation that has looked: a search sees one state."""

    @wraps(method)
    def guarded(self: SqliteIndex, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.operation(look=False):
            return method(self, *args, **kwargs)

    return guarded


class SqliteIndex:
    """The index of one profile, open in one process."""

    def __init__(self, folder: str, model: tuple[str, int] | None, *, mends: bool = True) -> None:
        """Open the index in `folder`, or make it; `model` is the name and size of the vectors.

        Vectors of another model are thrown away; without a model they are kept as they are. Without
        `mends` a damaged index is an error, and stays.
        """
        self._database = Database(folder, mends=mends)
        self._db = self._database.connection
        self._rows = Rows(self._database.salt)
        self._files = FileTable(self._database, self._rows)
        self._names: dict[str, int] = {}
        self._numbers: dict[int, str] = {}
        with self._database.operation():
            self._model, dimensions = self._database.model = self._adopt(model)
        # An index that may only be read keeps the vectors of another model: they mean nothing here.
        self._by_meaning = model in (None, (self._model, dimensions))
        self._segments = Segments(self._database, dimensions)
        self._nominated_at: tuple[object, int] | None = None
        self._nominated_from: Sequence[LiveSegment] = ()
        self._secret_at: tuple[object, int] | None = None
        self._secret: set[str] = set()
        self._fetching = Fetching(
            self._database,
            self._rows,
            self._segments.seen,
            lambda: (self._names_by_number(), self._files.paths()),
        )
        self._embedded_at: tuple[object, int] | None = None  # when no vector was missing

    def close(self) -> None:
        """Let go of the files."""
        self._database.close()

    @_guarded
    def files(self) -> Mapping[str, FileState]:
        """What the index believes it holds."""
        return self._files.states()

    @_guarded
    def flaws(self) -> Mapping[str, str]:
        """What of files cannot be found, by the paths of those of which something cannot."""
        return self._files.flaws()

    @_guarded
    def identities(self, path: str) -> Counter[bytes]:
        """What of a file is indexed already, and how often, wherever in the file it stands."""
        known = self._known(self._files.number(path))
        return Counter({identity: len(keys) for identity, keys in known.items()})

    @_guarded
    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Put chunks in the place of files' old ones, all at once; returns the files not as seen."""
        try:
            with self._database.writing():
                return [change.path for change in changes if not self._replace(change)]
        except BaseException:  # Ctrl-C too: the caches must match the database; raised again
            self._names.clear()  # some may have been given in the transaction that failed
            self._files.forget()
            raise

    @_guarded
    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks by BM25 and by cosine, with all their signals."""
        # Noted first: what is written from now on may take away what we nominate.
        self._nominated_at = self._segments.seen()
        self._nominated_from = self._segments.current(self._nominated_at)
        vector = vector if self._by_meaning else None
        numbered = [self._numbered(filters) for filters in filter_sets]
        return rank_segments(self._nominated_from, words, vector, limit, numbered)

    @_going_on
    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        return self._fetch(keys)

    @_going_on
    def tokens(self, keys: Column) -> tuple[Tokens, Column]:
        """The tokens of chunks nominated last, one after the other, and how many each has."""
        return tokens_of(self._nominated_from, keys)

    @_going_on
    def chat_vectors(self, chats: Column) -> Vectors:
        """The sum of the vectors of each chat, as of what was nominated last; zeros without any."""
        counted = [(live.segment, live.hidden(())) for live in self._nominated_from]
        return group_vectors(counted, chats)

    @_guarded
    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (that is the kind) of all that the filters let through."""
        allowed = self._numbered(filters)
        found = set[int]().union(
            *(live.numbers(kind, allowed) for live in self._segments.current())
        )
        names = self._names_by_number()
        return {names.get(number, "") for number in found} - {""}

    @_going_on
    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> dict[str, tuple[int, ...]]:
        """Which of these records a newer one has taken the place of, and by which, the last at the end."""
        return successors(self._db, record_ids, filters)

    @_going_on
    def replaced(self, names: Collection[str]) -> set[str]:
        """Which of these short ids are of records that a newer one has taken the place of."""
        return {name for name in names if is_replaced(self._db, name)}

    @_going_on
    def secret_records(self) -> set[str]:
        """The ids of the records that any file marks secret."""
        seen = self._segments.seen()
        if self._secret_at != seen:
            keys = [key for live in self._segments.current(seen) for key in live.secret_keys()]
            found = self._fetch(keys)
            self._secret = {item.chunk.record_id for item in found.values()} - {""}
            self._secret_at = seen
        return self._secret

    @_going_on
    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, the newest first; those with keys before this one."""
        seen = self._segments.seen()
        if seen == self._embedded_at:
            return []
        keys = self._db.execute(
            "SELECT key FROM chunks WHERE vector IS NULL AND key < ? ORDER BY key DESC LIMIT ?",
            (_NO_KEY if before is None else before, limit),
        )
        waiting = [key for (key,) in keys]
        if not waiting and limit and before is None:
            self._embedded_at = seen
        return list(self._fetch(waiting).values()) if waiting else []

    @_guarded
    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens."""
        with self._database.writing():
            self._db.executemany(
                "UPDATE chunks SET vector = ?, tokens = ? WHERE key = ?",
                [
                    (pack_vector(vector), with_sum(tokens.get(key, b"")), key)
                    for key, vector in vectors.items()
                ],
            )

    @_going_on
    def refused(self) -> int:
        """How many chunks the model gave no vector for when it was asked."""
        return self._refused()

    @_guarded
    def maintain(self, *, embedded: bool = False) -> bool:
        """Write and merge segment files, if it is worth it; `embedded`: no more vectors will come now."""
        return self._segments.maintain(most_late=0.0) if embedded else self._segments.maintain()

    @_guarded
    def purge(self) -> None:
        """Leave nothing of removed chunks in any file; needed when something was forgotten."""
        generations.delete_other_versions(self._database.folder)
        purged = self._segments.purge()
        if not purged or self._database.one("PRAGMA wal_checkpoint(TRUNCATE)"):
            # Somebody writes or reads and does not stop, so a file or the log keeps it: the next
            # generation has none.
            self._database.renew()

    @_guarded
    def clear(self) -> None:
        """Throw everything away: the next operation raises IndexReplacedError."""
        self._database.renew()

    @_guarded
    def stats(self) -> IndexStatus:
        """How much the index holds."""
        one = self._database.one
        return IndexStatus(
            folder=self._database.folder,
            exists=True,
            files=one("SELECT count(*) FROM files"),
            chunks=one("SELECT count(*) FROM chunks"),
            without_vector=one("SELECT count(*) FROM chunks WHERE vector IS NULL"),
            refused=self._refused(),
            bytes=self._database.size(),
            model=self._model or None,
        )

    def _refused(self) -> int:
        return int(self._database.one("SELECT count(*) FROM chunks WHERE length(vector) = 4"))

    def _adopt(self, model: tuple[str, int] | None) -> tuple[str, int]:
        there = self._database.stored_model()
        if model is None or model == there or not self._database.writable:
            return there
        with self._database.writing():
            if self._database.stored_model() != model:
                self._db.execute("UPDATE chunks SET vector = NULL WHERE vector IS NOT NULL")
                self._db.execute("DELETE FROM segments")
                self._db.execute("DELETE FROM removed")
                for key, value in (("model", model[0]), ("dimensions", str(model[1]))):
                    self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))
        return model

    def _replace(self, change: FileChange) -> bool:
        """Chunks that were there already only get their new places."""
        if change.if_as_seen and self._files.states().get(change.path) != change.seen:
            return False
        if change.state is not None and change.chunks is None:
            self._files.restamp(change.path, change.state)
            return True
        if change.state is not None and change.chunks is not None and change.is_appended:
            number = self._files.grow(change.path, change.state, len(change.chunks))
            self._store_chunks(number, change.path, change.chunks, {})
            return True
        known = self._known(self._files.number(change.path))
        if change.state is not None and change.chunks is not None:
            number = self._files.store(change.path, change.state, len(change.chunks))
            self._store_chunks(number, change.path, change.chunks, known)
        self._remove([key for keys in known.values() for key in keys])
        if change.state is None:
            self._files.remove(change.path)
        return True

    def _store_chunks(
        self, file: int, path: str, items: Sequence[IndexedChunk], known: dict[bytes, list[int]]
    ) -> None:
        key = self._database.one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        moved, new = [], []
        for item in items:
            keys = known.get(item.identity)
            if keys:
                moved.append(self._rows.moved(keys.pop(), file, item, self._name))
            elif item.terms is None:
                raise IndexReplacedError(
                    f"Another process changed what is indexed of {path}.",
                    path=self._database.folder,
                )
            else:
                key += 1
                new.append(self._rows.new(key, file, item, self._name))
        self._db.executemany(MOVE, moved)
        self._db.executemany(INSERT, new)

    def _known(self, file: int | None) -> dict[bytes, list[int]]:
        known: dict[bytes, list[int]] = {}
        if file is not None:
            for identity, key in self._db.execute(
                "SELECT identity, key FROM chunks WHERE file = ? ORDER BY key DESC", (file,)
            ):
                known.setdefault(identity, []).append(key)
        return known

    def _remove(self, keys: Sequence[int]) -> None:
        parts = [(key,) for key in keys]
        self._db.executemany("INSERT INTO removed (key) VALUES (?)", parts)
        self._db.executemany("DELETE FROM chunks WHERE key = ?", parts)

    def _fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        found = self._fetching.fetch(keys)
        if self._fetching.seen == self._nominated_at and len(found) < len(keys):
            raise DamageError("chunks that were found are not there")
        return found

    def _name(self, name: str) -> int:
        known = self._names.get(name)
        if known is None:
            text = clean(name)
            known = self._database.one("SELECT id FROM names WHERE name = ?", text)
            if known is None:
                known = 1 + (self._database.one("SELECT max(id) FROM names") or 0)
                self._db.execute("INSERT INTO names VALUES (?, ?, ?)", self._rows.name(known, text))
            self._names[name] = known
        return known

    def _names_by_number(self) -> dict[int, str]:
        """All names, read again only when there are more of them."""
        count = self._database.one("SELECT max(id) FROM names") or 0
        if len(self._numbers) != count:
            parts = list(self._db.execute("SELECT id, name, sum FROM names"))
            if any(self._rows.name(*row[:2]) != row for row in parts):
                raise DamageError("names")
            self._numbers = {row[0]: row[1] for row in parts}
        return self._numbers

    def _numbered(self, filters: Filters) -> NumberedFilters:
        asked = {filters.category, filters.session, filters.chat} - {None}
        by_number = self._names_by_number() if asked else {}
        number = {name: key for key, name in by_number.items()}
        files = None
        if filters.path is not None:
            paths = self._files.paths()
            files = [number for number, path in paths.items() if filters.covers(path)]
        return NumberedFilters.of(filters, number, files)
