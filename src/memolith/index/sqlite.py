"""The built-in index: one SQLite file with rows, postings and vectors, searched by NumPy.

A chunk's key is its place in every array. A write appends to the newest postings, so nothing is ever
merged. The file can be lost or damaged at any time: then the next one is made from the memory's files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from memolith.index import generations
from memolith.index.arrays import Arrays, pack
from memolith.index.database import Database
from memolith.index.history import successors
from memolith.index.rows import Rows, record_numbers, vector_bytes
from memolith.index.schema import BLOCK, PACK
from memolith.index.words import Matches, add_postings, erase_postings
from memolith.interfaces import (
    TURN,
    Column,
    FileChange,
    FileState,
    Found,
    Nomination,
    RecordStates,
    Signals,
    Tokens,
    Vectors,
)
from memolith.reports import IndexStatus
from memolith.results import Filters

Keys = NDArray[np.int64]
Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
P = ParamSpec("P")
T = TypeVar("T")

_NO_KEY = 1 << 62
# A product of the same two vectors differs in the seventh digit by what else is multiplied with them:
# that must not decide between copies, least of all if one is a secret.
_DIGITS = 5
# What follows an operation that has looked for another database does not look again.
_FOLLOWING = {"tokens", "chat_vectors", "fetch", "successors", "record_states", "without_vector"}
# Removed chunks are erased from postings when they are many, and a quarter of all.
_MANY_REMOVED = 10_000


def _operation(
    method: Callable[Concatenate[SqliteIndex, P], T],
) -> Callable[Concatenate[SqliteIndex, P], T]:
    """Check that the database is still the right one, and raise only our errors."""

    @wraps(method)
    def guarded(self: SqliteIndex, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.operation(look=method.__name__ not in _FOLLOWING):
            return method(self, *args, **kwargs)

    return guarded


class SqliteIndex:
    """The index of one profile, open in one process."""

    problem = ""
    question = ""

    def __init__(self, folder: str, model: tuple[str, int] | None, *, mends: bool = True) -> None:
        """Open the index in `folder`, or make it; `model` is the name and size of the vectors.

        Vectors of another model are discarded; without a model they are kept as they are. Without
        `mends` a damaged index is an error, and stays.
        """
        self._database = Database(folder, mends=mends)
        self._db = self._database.connection
        with self._database.operation():
            self._model, self._dimensions = self._database.model = self._adopt(model)
        # An index that may only be read keeps the vectors of another model: they mean nothing here.
        self._by_meaning = model in (None, (self._model, self._dimensions))
        self._has_model = model is not None
        self._rows = Rows(self._database)
        self._arrays = Arrays(self._dimensions)
        self._states: tuple[object, RecordStates] = (None, RecordStates())
        self._epoch = self._database.epoch()

    def close(self) -> None:
        """Release the files."""
        self._database.close()

    @_operation
    def files(self) -> Mapping[str, FileState]:
        """The state of each indexed file."""
        return self._rows.states()

    @_operation
    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's indexed chunks, and how often each occurs."""
        return self._rows.identities(path)

    @_operation
    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Replace the chunks of files in one transaction; returns the files that changed meanwhile."""
        try:
            with self._database.writing():
                if self._epoch != (epoch := self._database.epoch()):
                    self._rows.forget()  # names were erased
                    self._epoch = epoch
                terms = dict[int, bytes]()
                gone = {change.path: self._rows.replace(change, terms) for change in changes}
                # All at once: most files of a batch have the same words.
                add_postings(self._db, terms)
                removed = [key for keys in gone.values() for key in keys or ()]
                self._note_change(removed=removed)
        except BaseException:  # Ctrl-C too: the caches must match the database; raised again
            self._rows.forget()
            raise
        self._tidy(has_removed=bool(removed))
        return [path for path, keys in gone.items() if keys is None]

    @_operation
    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks by BM25 and by cosine, with all their signals."""
        with self._database.snapshot():
            self._arrays.refresh(self._db)
            return self._rank(words, vector if self._by_meaning else None, limit, filter_sets)

    @_operation
    def tokens(self, keys: Column) -> tuple[Tokens, Column]:
        """The tokens of ranked chunks, concatenated, and the count of each."""
        return self._arrays.tokens(keys)

    @_operation
    def chat_vectors(self, chats: Column) -> Vectors:
        """The sum of the vectors of each chat, as of the last ranking."""
        return self._arrays.group_vectors(chats)

    @_operation
    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        return self._rows.fetch(keys)

    @_operation
    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (the `kind`) of the chunks that pass the filters."""
        with self._database.snapshot():
            self._arrays.refresh(self._db)
            found = np.unique(getattr(self._arrays, kind)[self._allowed(filters)])
            names = self._rows.names()
        return {names.get(number, "") for number in found.tolist()} - {""}

    @_operation
    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> dict[str, tuple[int, ...]]:
        """The superseded ones of these records, each with its chain of successors."""
        return successors(self._db, record_ids, filters)

    @_operation
    def record_states(self) -> RecordStates:
        """Which records are secret in any file, and which are superseded."""
        version = self._db.pragma("data_version"), self._db.total_changes()
        if self._states[0] != version:
            secret, old = (
                frozenset(name for (name,) in self._db.execute(statement))
                for statement in (
                    "SELECT record_id FROM chunks WHERE sensitivity = 'secret' AND record_id <> ''",
                    "SELECT supersedes FROM chunks WHERE supersedes <> ''",
                )
            )
            self._states = version, RecordStates(secret, old)
        return self._states[1]

    @_operation
    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, newest first, with keys below `before`."""
        keys = self._db.execute(
            "SELECT key FROM chunks WHERE vector IS NULL AND key < ? ORDER BY key DESC LIMIT ?",
            (_NO_KEY if before is None else before, limit),
        )
        waiting = [key for (key,) in keys]
        return list(self._rows.fetch(waiting).values()) if waiting else []

    @_operation
    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens."""
        with self._database.writing():
            self._db.executemany(
                "UPDATE chunks SET vector = ?, tokens = ? WHERE key = ?",
                [(vector_bytes(row), tokens.get(key, b""), key) for key, row in vectors.items()],
            )
            packs = [(number,) for number in {key // PACK for key in vectors}]
            self._db.executemany("DELETE FROM packs WHERE number = ?", packs)
            self._note_change(embedded=list(vectors))
        self._tidy()

    @_operation
    def purge(self) -> None:
        """Erase every trace of removed chunks."""
        generations.delete_other_versions(self._database.folder)
        self._erase_removed()
        if self._database.one("PRAGMA wal_checkpoint(TRUNCATE)"):
            # Somebody reads or writes without a pause, so the log keeps it: the next file has none.
            self._database.renew()

    @_operation
    def clear(self) -> None:
        """Delete everything: the next operation raises IndexReplacedError."""
        self._database.renew()

    @_operation
    def stats(self) -> IndexStatus:
        """How much the index holds."""
        one = self._database.one
        return IndexStatus(
            folder=self._database.folder,
            exists=True,
            files=one("SELECT count(*) FROM files"),
            chunks=one("SELECT count(*) FROM chunks"),
            without_vector=one("SELECT count(*) FROM chunks WHERE vector IS NULL"),
            refused=one("SELECT count(*) FROM chunks WHERE length(vector) = 0"),
            bytes=self._database.size(),
            model=self._model or None,
        )

    def _adopt(self, model: tuple[str, int] | None) -> tuple[str, int]:
        there = self._database.stored_model()
        if model is None or model == there or not self._database.writable:
            return there
        with self._database.writing():
            if self._database.stored_model() != model:
                self._db.execute("UPDATE chunks SET vector = NULL WHERE vector IS NOT NULL")
                self._db.execute("DELETE FROM packs")
                self._database.set_meta(model=model[0], dimensions=model[1])
                self._database.set_meta(epoch=self._database.epoch() + 1)
        return model

    def _note_change(self, removed: Sequence[int] = (), embedded: Sequence[int] = ()) -> None:
        """Part of a transaction: what processes that have read these chunks must know."""
        if removed or embedded:
            parts = (np.array(keys, "<i8").tobytes() for keys in (removed, embedded))
            self._db.execute("INSERT INTO changes (removed, embedded) VALUES (?, ?)", tuple(parts))

    def _tidy(self, *, has_removed: bool = False) -> None:
        """Pack full ranges of keys; erase removed chunks when they are many."""
        one = self._database.one
        last = one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        packed = {number for (number,) in self._db.execute("SELECT number FROM packs")}
        for number in set(range(last // PACK)) - packed:
            first, end = number * PACK, (number + 1) * PACK - 1
            waiting = "SELECT 1 FROM chunks WHERE vector IS NULL AND key BETWEEN ? AND ? LIMIT 1"
            if not (self._has_model and one(waiting, first, end)):
                with self._database.writing():
                    data = pack(self._db, first, end, self._dimensions)
                    self._db.execute("INSERT OR REPLACE INTO packs VALUES (?, ?)", (number, data))
        if has_removed:
            removed = one("SELECT sum(length(removed)) / 8 FROM changes")
            chunks = one("SELECT count(*) FROM chunks")
            if removed > max(_MANY_REMOVED, chunks / 4):
                self._erase_removed()
            if last > 4 * (chunks + BLOCK):  # arrays are mostly empty
                self._database.renew()

    def _erase_removed(self) -> None:
        with self._database.writing():
            rows = self._db.execute("SELECT removed FROM changes")
            gone = np.concatenate(
                [np.empty(0, np.int64), *(np.frombuffer(row[0], "<i8") for row in rows)]
            ).tolist()
            if not gone:
                return
            erase_postings(self._db, gone)
            packs = [(number,) for number in {key // PACK for key in gone}]
            self._db.executemany("DELETE FROM packs WHERE number = ?", packs)
            self._db.execute("DELETE FROM changes")
            used = " UNION ".join(
                f"SELECT {column} FROM chunks"  # noqa: S608 - names of our columns
                for column in ("category", "session", "chat", "channel")
            )
            self._db.execute(f"DELETE FROM names WHERE id NOT IN ({used})")  # noqa: S608
            self._database.set_meta(epoch=self._database.epoch() + 1)
        self._rows.forget()

    def _rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        arrays = self._arrays
        include_secret = all(filters.include_secret for filters in filter_sets)
        shown = arrays.shown(include_secret=include_secret)
        statistics = arrays.statistics(include_secret=include_secret)
        masks = [self._allowed(filters) for filters in filter_sets]
        matches = Matches(self._db, words, arrays, shown, statistics)
        scores = self._word_scores(matches) if words else matches.scores()
        distances = None if vector is None else arrays.distances(vector)
        mean = 0.0
        if vector is not None and statistics.chunks:
            mean = float(statistics.total @ vector) / statistics.chunks
        found = []
        for filters, mask in zip(filter_sets, masks, strict=True):
            if not words and vector is None:
                keys = mask.nonzero()[0]
                keys = keys[len(keys) - min(limit, len(keys)) :]
                by_words = np.ones(len(keys), np.float32)
                by_meaning = np.zeros_like(by_words)
            else:
                keys = _top(np.where(mask, scores, np.float32(0)), limit)
                if vector is not None and distances is not None:
                    near = self._nearest(vector, distances, mask, limit, filters)
                    keys = np.union1d(keys, near)
                by_words = scores[keys]
                by_meaning = np.zeros(len(keys), np.float32)
                if vector is not None:
                    by_meaning = np.round(arrays.cosines(keys, vector), _DIGITS)
            signals = self._signals(keys, by_words, by_meaning, limit)
            signals = self._with_groups(signals, matches, vector)
            found.append(Nomination(signals, mean, statistics.chunks, matches.rarity))
        return found

    def _word_scores(self, matches: Matches) -> Floats:
        """How well each chunk fits the words; an engine may know better."""
        return matches.scores()

    def _nearest(
        self,
        vector: Vectors,
        distances: NDArray[np.uint16],
        mask: Mask,
        limit: int,
        filters: Filters,
    ) -> Keys:
        """The chunks of a mask that are nearest to a vector; an engine may know better."""
        return self._arrays.nearest(vector, distances, mask, limit)

    def _allowed(self, filters: Filters) -> Mask:
        """The chunks that pass the filters."""
        arrays = self._arrays
        mask = arrays.shown(include_secret=filters.include_secret).copy()
        if filters.now is not None:
            expires = arrays.expires
            mask &= (expires == 0) | (expires > int(filters.now.timestamp()))
        for column, numbers in self._numbers(filters):
            mask &= np.isin(column, list(numbers))
        if filters.since is not None:
            mask &= arrays.dated >= filters.since.toordinal()
        # What has no date is not ruled out by one, except where a first day is asked for.
        if until := min(filter(None, (filters.until, filters.as_of)), default=None):
            mask &= arrays.dated <= until.toordinal()
        return mask

    def _numbers(self, filters: Filters) -> list[tuple[NDArray[np.generic], Collection[int]]]:
        """Columns, and the numbers of the names, files or records that are asked for."""
        arrays, asked = self._arrays, list[tuple[NDArray[np.generic], Collection[int]]]()
        if filters.category is not None:  # in whatever case it is written
            asked.append((arrays.category, self._named(filters.category, str.casefold)))
        if filters.session is not None:
            asked.append((arrays.session, self._named(filters.session)))
        if filters.chat is not None:
            asked.append((arrays.chat, self._named(filters.chat)))
        if filters.path is not None:
            paths = self._rows.paths()
            covered = [number for number, path in paths.items() if filters.covers(path)]
            asked.append((arrays.file, covered))
        if filters.records is not None:
            asked.append((arrays.record, record_numbers(filters.records).tolist()))
        return asked

    def _named(self, name: str, fold: Callable[[str], str] = str) -> list[int]:
        names = self._rows.names()
        return [number for number, other in names.items() if fold(other) == fold(name)]

    def _signals(self, keys: Keys, words: Floats, meaning: Floats, limit: int) -> Signals:
        """What is known of chunks that are among the best of either ranking."""
        arrays = self._arrays
        words_rank, meaning_rank = _ranks(words, keys, limit), _ranks(meaning, keys, limit)
        kept = (words_rank | meaning_rank).nonzero()[0]
        keys = keys[kept]
        kind, group = arrays.kind[keys].astype(np.int64), arrays.group[keys]
        none = np.zeros(len(keys), np.float32)
        return Signals(
            keys=keys,
            words=words[kept],
            meaning=meaning[kept],
            words_rank=words_rank[kept],
            meaning_rank=meaning_rank[kept],
            group_words=none,
            group_user_words=none,
            group_title=none,
            kind=kind,
            role=arrays.role[keys].astype(np.int64),
            dated=arrays.dated[keys].astype(np.int64),
            chat=np.where(kind == TURN, group, 0),
            record=arrays.record[keys],
        )

    def _with_groups(self, signals: Signals, matches: Matches, vector: Vectors | None) -> Signals:
        """With BM25 of the chat or file of each, and how near its beginning is."""
        group = self._arrays.group[signals.keys]
        groups = np.unique(group[group > 0])
        if not len(groups):
            return signals
        titles = np.zeros(len(groups), np.float32)
        if vector is not None:
            titles = self._arrays.cosines(matches.statistics.titles[groups], vector)
        values = np.concatenate([matches.group_scores(groups), titles[None]])
        at = np.minimum(np.searchsorted(groups, group), len(groups) - 1)
        each = np.where(group > 0, values[:, at], 0).astype(np.float32)
        return replace(signals, group_words=each[0], group_user_words=each[1], group_title=each[2])


def _top(values: Floats, limit: int) -> Keys:
    """The places of the best values, of those that have any."""
    keys = values.nonzero()[0]
    return keys[np.argpartition(-values[keys], limit - 1)[:limit]] if len(keys) > limit else keys


def _ranks(values: Floats, keys: Keys, limit: int) -> Keys:
    """The rank of each value, from 1; 0 for what is not among the best, or has none.

    Of equal values the newer chunk is first.
    """
    order = np.lexsort((-keys, -values))[:limit]
    order = order[values[order] != 0]
    ranks = np.zeros(len(values), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks
