"""The built-in index: one SQLite file with rows, postings and vectors, searched by NumPy.

A chunk's key is its place in every array. A write appends to the newest postings, so nothing is ever
merged. The file can be lost or damaged at any time: then the next one is made from the memory's files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from memolith.index.arrays import PACK, Arrays, Keys, Mask, packed
from memolith.index.database import Database
from memolith.index.rows import Rows, clean, record_numbers, successors, vector_bytes
from memolith.index.vectors import Floats
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

P = ParamSpec("P")
T = TypeVar("T")

_NO_KEY = 1 << 62
# A product of the same two vectors differs in the seventh digit by what else is multiplied with them:
# that must not decide between copies, least of all if one is a secret.
_DIGITS = 5


def _operation(
    method: Callable[Concatenate[SqliteIndex, P], T],
) -> Callable[Concatenate[SqliteIndex, P], T]:
    """Check that the database is still the right one, and raise only our errors."""

    @wraps(method)
    def guarded(self: SqliteIndex, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._database.operation():
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
        with self._database.writing():
            removed, terms, overtaken = self._rows.replace(changes)
            # All at once: most files of a batch have the same words.
            add_postings(self._db, terms)
            self._note_change(removed=removed)
        self._pack()
        return overtaken

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
            self._arrays.refresh(self._database)
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
            self._arrays.refresh(self._database)
            numbers = np.unique(self._arrays[kind][self._allowed(filters)])
            return {*self._rows.names(numbers.tolist()).values()} - {""}

    @_operation
    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> dict[str, tuple[int, ...]]:
        """The superseded ones of these records, each with its chain of successors."""
        return successors(self._rows.newer, record_ids, filters)

    @_operation
    def record_states(self) -> RecordStates:
        """Which records are secret in any file, and which are superseded."""
        secret = self._db.execute(
            "SELECT record_id FROM chunks WHERE sensitivity = 'secret' AND record_id <> ''"
        )
        old = self._db.execute("SELECT supersedes FROM chunks WHERE supersedes <> ''")
        return RecordStates(
            frozenset(name for (name,) in secret), frozenset(name for (name,) in old)
        )

    @_operation
    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, newest first, with keys below `before`."""
        keys = self._db.execute(
            "SELECT key FROM chunks WHERE vector IS NULL AND key < ? ORDER BY key DESC LIMIT ?",
            (_NO_KEY if before is None else before, limit),
        )
        return list(self._rows.fetch([key for (key,) in keys]).values())

    @_operation
    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens."""
        with self._database.writing():
            self._db.executemany(
                "UPDATE chunks SET vector = ?, tokens = ? WHERE key = ?",
                [(vector_bytes(row), tokens.get(key, b""), key) for key, row in vectors.items()],
            )
            self._unpack(vectors)
            self._note_change(embedded=list(vectors))
        self._pack()

    @_operation
    def purge(self) -> None:
        """Erase every trace of removed chunks."""
        self._database.delete_other_versions()
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
        if model in (None, there) or not self._database.writable:
            return there
        with self._database.writing():
            self._db.execute("UPDATE chunks SET vector = NULL; DELETE FROM packs")
            self._database.set_meta(
                model=model[0], dimensions=model[1], epoch=self._database.meta("epoch") + 1
            )
        return model

    def _note_change(self, removed: Sequence[int] = (), embedded: Sequence[int] = ()) -> None:
        """Part of a transaction: what processes that have read these chunks must know."""
        if removed or embedded:
            parts = [np.array(keys, "<i8").tobytes() for keys in (removed, embedded)]
            self._db.execute("INSERT INTO changes (removed, embedded) VALUES (?, ?)", parts)

    def _pack(self) -> None:
        """Pack full ranges of keys; rebuild when most keys belong to removed chunks."""
        one = self._database.one
        last = one("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'") or 0
        there = {number for (number,) in self._db.execute("SELECT number FROM packs")}
        for number in set(range(last // PACK)) - there:
            first, end = number * PACK, (number + 1) * PACK - 1
            waiting = "SELECT 1 FROM chunks WHERE vector IS NULL AND key BETWEEN ? AND ? LIMIT 1"
            if not (self._has_model and one(waiting, first, end)):
                with self._database.writing():
                    values = packed(self._database, first, end, self._dimensions)
                    self._db.execute(
                        "INSERT OR REPLACE INTO packs VALUES (?, ?, ?, ?)", (number, *values)
                    )
        if last > 4 * (PACK + one("SELECT count(*) FROM chunks")):
            self._database.renew()

    def _unpack(self, keys: Collection[int]) -> None:
        """Part of a transaction: packs with these chunks are made again."""
        packs = [(number,) for number in {key // PACK for key in keys}]
        self._db.executemany("DELETE FROM packs WHERE number = ?", packs)

    def _erase_removed(self) -> None:
        with self._database.writing():
            rows = self._db.execute("SELECT removed FROM changes")
            gone = np.frombuffer(b"".join(removed for (removed,) in rows), "<i8")
            if not len(gone):
                return
            erase_postings(self._db, gone)
            self._unpack(gone.tolist())
            used = " UNION ".join(
                f"SELECT {column} FROM chunks"  # noqa: S608 - names of our columns
                for column in ("category", "session", "chat", "channel")
            )
            self._db.execute(f"DELETE FROM names WHERE id > 0 AND id NOT IN ({used})")  # noqa: S608
            self._db.execute("DELETE FROM changes")
            self._database.set_meta(epoch=self._database.meta("epoch") + 1)

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
        matches = Matches(self._db, words, arrays, shown, statistics)
        scores = self._word_scores(matches) if words else matches.scores()
        distances = None if vector is None else arrays.distances(vector)
        mean = 0.0 if vector is None else float(statistics.usual_vector @ vector)
        found = []
        for filters in filter_sets:
            mask = self._allowed(filters)
            by_meaning = np.zeros(len(mask), np.float32)
            if vector is not None and distances is not None:
                best = _top(np.where(mask, scores, np.float32(0)), limit)
                near = self._nearest(vector, distances, mask, limit, filters)
                keys = np.union1d(best, near)
                by_meaning[keys] = np.round(arrays.cosines(keys, vector), _DIGITS)
            elif words:
                keys = _top(np.where(mask, scores, np.float32(0)), limit)
            else:  # the newest
                keys = mask.nonzero()[0][-limit:] if limit else np.empty(0, np.int64)
                scores[keys] = 1
            signals = self._signals(keys, scores[keys], by_meaning[keys], limit, matches, vector)
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
            expires = arrays["expires"]
            mask &= (expires == 0) | (expires > int(filters.now.timestamp()))
        for column, numbers in self._columns(filters):
            mask &= np.isin(arrays[column], numbers)
        if filters.since is not None:
            mask &= arrays["dated"] >= filters.since.toordinal()
        # What has no date is not ruled out by one, except where a first day is asked for.
        if until := min(filter(None, (filters.until, filters.as_of)), default=None):
            mask &= arrays["dated"] <= until.toordinal()
        return mask

    def _columns(self, filters: Filters) -> Iterator[tuple[str, Any]]:
        """Columns, and the numbers of the names, files or records that are asked for."""
        if filters.category is not None:  # in whatever case it is written
            there = self._rows.names(np.unique(self._arrays["category"]).tolist())
            asked = filters.category.casefold()
            yield "category", [number for number, name in there.items() if name.casefold() == asked]
        for column, name in (("session", filters.session), ("chat", filters.chat)):
            if name is not None:
                rows = self._db.execute("SELECT id FROM names WHERE name = ?", (clean(name),))
                yield column, [number for (number,) in rows]
        if filters.path is not None:
            yield "file", self._rows.files_covered(filters)
        if filters.records is not None:
            yield "record", record_numbers(filters.records)

    def _signals(
        self,
        keys: Keys,
        words: Floats,
        meaning: Floats,
        limit: int,
        matches: Matches,
        vector: Vectors | None,
    ) -> Signals:
        """What is known of chunks that are among the best of either ranking, and of their groups."""
        arrays = self._arrays
        words_rank, meaning_rank = _ranks(words, keys, limit), _ranks(meaning, keys, limit)
        kept = (words_rank | meaning_rank).nonzero()[0]
        keys = keys[kept]
        kind, group = arrays["kind"][keys].astype(np.int64), arrays["group"][keys]
        groups, at = np.unique(group, return_inverse=True)
        titles = np.zeros(len(groups), np.float32)
        if vector is not None:
            titles = arrays.cosines(matches.statistics.titles[groups], vector)
        by_group = np.concatenate([matches.group_scores(groups), titles[None]])
        by_group[:, groups == 0] = 0
        of_group = by_group[:, at].astype(np.float32)
        return Signals(
            keys=keys,
            words=words[kept],
            meaning=meaning[kept],
            words_rank=words_rank[kept],
            meaning_rank=meaning_rank[kept],
            group_words=of_group[0],
            group_user_words=of_group[1],
            group_title=of_group[2],
            kind=kind,
            role=arrays["role"][keys].astype(np.int64),
            dated=arrays["dated"][keys].astype(np.int64),
            chat=np.where(kind == TURN, group, 0),
            record=arrays["record"][keys],
        )


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
