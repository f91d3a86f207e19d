"""PostgreSQL with pgvector as the engine: one database for many profiles (extra: `postgres`).

The profile is the first column of every key and a filter of every statement, and row-level security lets
a transaction see no other. Terms are those of the built-in index, so words are found in every language it
knows; BM25 and cosine are computed in the database, in one statement for each set of filters.
"""

from __future__ import annotations

import atexit
import os
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from memolith.engines.postgres_rows import as_signals, clean, conditions, row_values, vector_text
from memolith.engines.postgres_schema import (
    PROFILE,
    STATEMENTS,
    TABLES,
    make_tables,
    make_vector_index,
)
from memolith.errors import IndexUnavailableError, MemolithError
from memolith.index.rows import found_in, successors
from memolith.index.words import K1, B, hashed, idf, rarity
from memolith.interfaces import (
    FileChange,
    FileState,
    Found,
    IndexReplacedError,
    Nomination,
    RecordStates,
    Signals,
    Vectors,
)
from memolith.reports import IndexStatus
from memolith.results import Filters

_NO_KEY = 1 << 62
_MAX_CONNECTIONS = 8
_LOCKED = {"lock": "FOR UPDATE"}
_guard = threading.Lock()
_pools: dict[tuple[str, float], ConnectionPool] = {}


class PostgresIndex:
    """The index of one profile in a database that many share."""

    problem = ""
    question = ""

    def __init__(
        self, url: str, profile: str, model: tuple[str, int] | None, *, timeout_seconds: float
    ) -> None:
        """Make the tables if they are not there, and the profile in them."""
        self._url, self._profile, self._seconds = url, profile, timeout_seconds
        self._is_closed = False
        self._generation, self._model, self._dimensions = "", "", 0
        self._corpus: dict[tuple[int, bool], tuple[int, float, Vectors | None]] = {}
        self._pool = pool(url, timeout_seconds)
        if model is not None:
            with unavailable(url), self._pool.connection() as connection:
                make_vector_index(connection, model[1])
        with self._transaction(checked=False) as run:
            run("new profile", generation=uuid.uuid4().hex)
            self._generation, self._model, self._dimensions, *_ = run("profile", _LOCKED).fetchone()
            if model is not None and model != (self._model, self._dimensions):
                self._adopt(run, *model)
        self._by_meaning = self._dimensions > 0

    def close(self) -> None:
        """Release nothing: connections are shared by the indexes of a process."""
        self._is_closed = True

    def files(self) -> Mapping[str, FileState]:
        """The state of each indexed file."""
        with self._transaction() as run:
            return {os.fsdecode(bytes(row[0])): _state(*row[1:]) for row in run("files")}

    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's indexed chunks, and how often each occurs."""
        with self._transaction() as run:
            return Counter(bytes(row[0]) for row in run("identities", path=os.fsencode(path)))

    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Replace the chunks of files in one transaction; returns the files that changed meanwhile."""
        with self._transaction(writing=True) as run:
            writer = _Writer(run, self._dimensions, run("profile", _LOCKED).fetchone()[4])
            left = [change.path for change in changes if not writer.replace(change)]
            writer.finish()
        return left

    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, newest first, with keys below `before`."""
        with self._transaction() as run:
            rows = run("waiting", before=_NO_KEY if before is None else before, limit=limit)
            keys = [key for (key,) in rows]
        there = self.fetch(keys)
        return [there[key] for key in keys if key in there]

    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens."""
        with self._transaction(writing=True) as run:
            last_key = run("profile", _LOCKED).fetchone()[4]
            for key, vector in vectors.items():
                run(
                    "set vector",
                    key=key,
                    vector=vector_text(vector) if vector.size else None,
                    dimensions=self._dimensions if vector.size else -1,
                    tokens=tokens.get(key, b""),
                )
            run("written", last_key=last_key)

    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks by BM25 and by cosine, with all their signals."""
        secret = all(filters.include_secret for filters in filter_sets)
        vector = vector if self._by_meaning else None
        with self._transaction() as run:
            run.settle()
            count, length, mean = self._statistics(run, secret=secret)
            asked = _Asked(run, words, count, length, secret=secret)
            similarity = 0.0 if vector is None or mean is None else float(mean @ vector)
            return [
                Nomination(
                    self._signals(run, asked, vector, limit, filters),
                    similarity,
                    count,
                    asked.rarity,
                )
                for filters in filter_sets
            ]

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        with self._transaction() as run:
            return {row[0]: found_in(*row) for row in run("fetch", keys=list(keys))}

    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> Mapping[str, Sequence[int]]:
        """The superseded ones of these records, each with its chain of successors."""
        with self._transaction() as run:
            return successors(
                lambda until, records: run("newer", until=until, records=list(records)),
                record_ids,
                filters,
            )

    def record_states(self) -> RecordStates:
        """Which records are secret in any file, and which are superseded."""
        with self._transaction() as run:
            secret = _names(run, "record_id", "sensitivity = 'secret'")
            return RecordStates(secret, _names(run, "supersedes", "supersedes <> ''"))

    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (the `kind`) of the chunks that pass the filters."""
        if kind not in ("category", "session", "chat"):
            raise ValueError(f"not a kind of names: {kind}")
        condition, values = conditions(filters)
        with self._transaction() as run:
            return set(_names(run, kind, condition, **values))

    def stats(self) -> IndexStatus:
        """How much the index holds."""
        with self._transaction() as run:
            files, chunks, waiting, refused, size = run("stats").fetchone()
        return IndexStatus(
            folder=shown(self._url), exists=True, files=files, chunks=chunks,
            without_vector=waiting, refused=refused, bytes=int(size), model=self._model or None,
        )  # fmt: skip

    def purge(self) -> None:
        """Erase removed rows from the tables; backups and logs of the server are its operator's."""
        self._check_open()
        with unavailable(self._url), psycopg.connect(self._url, autocommit=True) as connection:
            for table in TABLES:
                connection.execute(f"VACUUM memolith.{table}".encode())

    def clear(self) -> None:
        """Delete everything: the next operation raises IndexReplacedError."""
        with self._transaction(writing=True) as run:
            for table in ("files", "chunks", "postings"):
                run("clear", {"table": table})
            run(
                "adopt", generation=uuid.uuid4().hex, model=self._model, dimensions=self._dimensions
            )

    def _adopt(self, run: Run, model: str, dimensions: int) -> None:
        """Take another model: its vectors replace those of the one before."""
        self._generation, self._model, self._dimensions = uuid.uuid4().hex, model, dimensions
        run("discard")
        run("adopt", generation=self._generation, model=model, dimensions=dimensions)

    def _statistics(self, run: Run, *, secret: bool) -> tuple[int, float, Vectors | None]:
        """How many chunks count, how long they are, and what the newest mean on average."""
        known = (run.version, secret)
        if known not in self._corpus:
            count, total = run("corpus", secret=secret).fetchone()
            (mean,) = run("mean", secret=secret).fetchone()
            vector = None if mean is None else np.array(mean.strip("[]").split(","), np.float32)
            usual = float(total) / count if count and total else 1.0
            self._corpus = {known: (count, usual, vector)}
        return self._corpus[known]

    def _signals(
        self, run: Run, asked: _Asked, vector: Vectors | None, limit: int, filters: Filters
    ) -> Signals:
        condition, values = conditions(filters)
        if asked.is_empty and vector is None:
            rows = run("newest", {"filters": condition}, limit=limit, **values).fetchall()[::-1]
        else:
            dimensions = max(1, self._dimensions)
            rows = run(
                "rank",
                {"filters": condition, "dimensions": dimensions},
                limit=limit,
                near=limit if vector is not None else 0,
                vector=vector_text(np.zeros(dimensions) if vector is None else vector),
                **asked.values,
                **values,
            ).fetchall()
        return as_signals(rows, limit)

    @contextmanager
    def _transaction(self, *, writing: bool = False, checked: bool = True) -> Iterator[Run]:
        """A transaction that sees this profile alone, and the index as it was when it was opened."""
        self._check_open()
        with unavailable(self._url), self._pool.connection() as connection:
            run = Run(connection, self._profile)
            seconds = 0 if writing or not checked else self._seconds
            run.begin(seconds)
            if checked:
                row = run("profile", {"lock": ""}).fetchone()
                if row is None or row[0] != self._generation:
                    raise self._replaced()
                run.version = row[3]
            yield run

    def _check_open(self) -> None:
        if self._is_closed:
            raise self._replaced()

    def _replaced(self) -> IndexReplacedError:
        return IndexReplacedError("The index was replaced.", path=shown(self._url))


class Run:
    """Runs the engine's statements in one transaction, each for its profile."""

    def __init__(self, connection: psycopg.Connection[Any], profile: str) -> None:
        self.connection, self._profile, self.version = connection, profile, 0

    def begin(self, seconds: float) -> None:
        """Say which profile this is, and how long a statement may take; 0 is for ever."""
        self.plain(
            "SELECT set_config(%s, %s, true), set_config('statement_timeout', %s, true)",
            (PROFILE, self._profile, str(int(seconds * 1000))),
        )

    def settle(self) -> None:
        """Let a search by meaning go on until enough chunks pass its filters."""
        self.plain("SET LOCAL hnsw.iterative_scan = strict_order")

    def plain(self, statement: str, values: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        """A statement about no profile."""
        return self.connection.execute(statement.encode(), values or None)

    def __call__(
        self, name: str, parts: Mapping[str, object] | None = None, **values: Any
    ) -> psycopg.Cursor[Any]:
        """One of `STATEMENTS`, with the profile and these values; `parts` are our own SQL."""
        statement = STATEMENTS[name]
        if parts:
            statement = statement.format_map(parts)
        return self.connection.execute(statement.encode(), {"profile": self._profile, **values})

    def many(self, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """A statement for each of these values."""
        if rows:
            values = [{"profile": self._profile, **row} for row in rows]
            self.connection.cursor().executemany(STATEMENTS[name].encode(), values)


class _Writer:
    """Replaces the chunks of files within a transaction."""

    def __init__(self, run: Run, dimensions: int, last_key: int) -> None:
        self._run, self._dimensions, self._key = run, dimensions, last_key
        self._rows: list[Mapping[str, object]] = []
        self._postings: list[tuple[Any, ...]] = []
        self._gone: list[int] = []
        self._records: set[str] = set()

    def replace(self, change: FileChange) -> bool:
        """Plan one change; False if somebody else has indexed the file since it was read."""
        path = os.fsencode(change.path)
        row = self._run("file", path=path).fetchone()
        state = None if row is None else _state(*row)
        if change.if_as_seen and state != change.seen:
            return False
        if change.state is None or (change.chunks is None and state is None):
            if change.state is None and state is not None:
                self._forget(self._known(path))
                self._run("delete file", path=path)
            return True
        stamp = ",".join(map(str, change.state.stamp))
        self._run(
            "put file", path=path, stamp=stamp,
            digest=change.state.digest, flaws=clean(change.state.flaws),
        )  # fmt: skip
        if change.chunks is not None:
            known = {} if change.is_appended else self._known(path)
            for item in change.chunks:
                if keys := known.get(item.identity):
                    chunk, (key, _) = item.chunk, keys.pop()
                    self._run(
                        "move", key=key, first_line=chunk.first_line, last_line=chunk.last_line,
                        start=chunk.offset, size=chunk.size,
                    )  # fmt: skip
                elif item.terms is None:
                    message = f"Another process changed what is indexed of {change.path}."
                    raise IndexReplacedError(message, path=change.path)
                else:
                    self._add(item)
            self._forget(known)
        return True

    def finish(self) -> None:
        """Write what was planned."""
        run = self._run
        if self._gone:
            for table in ("chunks", "postings"):
                run("delete", {"table": table}, keys=self._gone)
        run.many("add chunk", self._rows)
        if self._postings:
            names = ("terms", "keys", "counts", "lengths", "hidden")
            columns = map(list, zip(*self._postings, strict=True))
            run("add postings", None, **dict(zip(names, columns, strict=True)))
        if self._records:
            run("hide", records=sorted(self._records))
        run("written", last_key=self._key)

    def _known(self, path: bytes) -> dict[bytes, list[tuple[int, str]]]:
        known: dict[bytes, list[tuple[int, str]]] = {}
        for identity, key, record_id in self._run("identities", path=path):
            known.setdefault(bytes(identity), []).append((key, record_id))
        return known

    def _forget(self, known: Mapping[bytes, list[tuple[int, str]]]) -> None:
        for key, record_id in (one for some in known.values() for one in some):
            self._gone.append(key)
            self._records |= {record_id} - {""}

    def _add(self, item: Any) -> None:
        self._key += 1
        hashes, counts, length = item.terms
        self._rows.append(row_values(self._key, item, self._dimensions))
        hidden = item.chunk.sensitivity == "secret"
        self._postings += [
            (term, self._key, often, length, hidden)
            for term, often in zip(hashes.tolist(), counts.tolist(), strict=True)
        ]
        self._records |= {clean(item.chunk.record_id)} - {""}


class _Asked:
    """The words of a question as values of the statement `rank`, with the weight of each term."""

    def __init__(
        self,
        run: Run,
        words: Sequence[Mapping[str, float]],
        count: int,
        length: float,
        *,
        secret: bool,
    ) -> None:
        by_word = hashed(words)
        terms = list({term for word in by_word for term in word})
        often = dict(run("frequencies", terms=terms, secret=secret).fetchall()) if terms else {}
        worth = {term: idf(found, count) for term, found in often.items()}
        self.is_empty = not words
        self.rarity = rarity(by_word, worth, idf(0, count))
        asked = [
            (number, term, (K1 + 1) * weight * worth[term])
            for number, word in enumerate(by_word)
            for term, weight in word.items()
            if term in worth
        ]
        self.values: dict[str, object] = {
            "words": [one[0] for one in asked],
            "terms": [one[1] for one in asked],
            "factors": [one[2] for one in asked],
            "flat": K1 * (1 - B),
            "slope": K1 * B / length,
            "secret": secret,
        }


def _names(run: Run, column: str, condition: str, **values: Any) -> frozenset[str]:
    rows = run("names", {"column": column, "filters": condition}, **values)
    return frozenset(name for (name,) in rows if name)


def _state(stamp: str, digest: str, flaws: str) -> FileState:
    inode, size, changed = map(int, stamp.split(","))
    return FileState((inode, size, changed), digest, flaws)


def shown(url: str) -> str:
    """The address without a password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"


def pool(url: str, seconds: float) -> ConnectionPool:
    """The connections of this process to a database; the first makes its tables."""
    with _guard:
        if (url, seconds) not in _pools:
            with unavailable(url):
                with psycopg.connect(url, connect_timeout=max(2, int(seconds))) as connection:
                    make_tables(connection)
                _pools[url, seconds] = ConnectionPool(
                    url,
                    min_size=0,
                    max_size=_MAX_CONNECTIONS,
                    timeout=seconds,
                    check=ConnectionPool.check_connection,
                    kwargs={"connect_timeout": max(2, int(seconds))},
                    open=True,
                )
                atexit.register(_pools[url, seconds].close)
        return _pools[url, seconds]


@contextmanager
def unavailable(
    url: str, error: Callable[..., MemolithError] = IndexUnavailableError
) -> Iterator[None]:
    """Turn what PostgreSQL says into our error."""
    try:
        yield
    except (psycopg.Error, PoolTimeout) as problem:
        said = str(problem).strip().partition("\n")[0][:200] or type(problem).__name__
        hint = (
            "Check its address in the settings, and the server; what was acknowledged is not lost."
        )
        raise error(f"PostgreSQL cannot be used: {said}.", path=shown(url), hint=hint) from problem
