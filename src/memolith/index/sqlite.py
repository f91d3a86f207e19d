"""The built-in index: one SQLite file with rows, postings and vectors, searched by NumPy.

A chunk's key is its place in every array. A write appends to the newest postings, so nothing is ever
merged. The file can be lost or damaged at any time: then the next one is made from the memory's files.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.arrays import PACK, Arrays, Floats, Keys, Mask, packed
from memolith.index.database import Database
from memolith.index.rows import Rows, clean, operation, record_numbers, vector_bytes
from memolith.index.words import Matches, add_postings, erase_postings
from memolith.interfaces import TURN, FileChange, Nomination, Signals, Vectors
from memolith.results import Filters

# A product of the same two vectors differs in the seventh digit by what else is multiplied with them:
# that must not decide between copies, least of all if one is a secret.
_DIGITS = 5
_ABOUT = ("group", "kind", "role", "dated", "record")
_NAMES = "SELECT id, name FROM names"
_UNUSED = (
    "DELETE FROM names WHERE id > 0 AND name NOT IN (SELECT category FROM chunks"
    " UNION SELECT session FROM chunks UNION SELECT chat FROM chunks)"
)


class SqliteIndex(Rows):
    """The index of one profile, open in one process."""

    problem = ""
    question = ""

    def __init__(self, folder: str, model: tuple[str, int] | None) -> None:
        """Open the index in `folder`, or make it; `model` is the name and size of the vectors.

        Vectors of another model are discarded; without a model they are kept as they are.
        """
        super().__init__(Database(folder))
        with self._database.operation():
            self._model, self._dimensions = self._database.model = self._adopt(model)
        # An index that may only be read keeps the vectors of another model: they mean nothing here.
        self._by_meaning = model in (None, (self._model, self._dimensions))
        self._has_model = model is not None
        self._arrays = Arrays(self._dimensions)

    def _adopt(self, model: tuple[str, int] | None) -> tuple[str, int]:
        there = self._database.stored_model()
        if model in (None, there) or not self._database.writable:
            return there
        with self._database.writing():
            self._db.execute("UPDATE chunks SET vector = NULL; DELETE FROM packs")
            self._database.set_meta("model", f"{model[0]} {model[1]}")
            self._database.begin_epoch()
        return model

    def close(self) -> None:
        """Release the files."""
        self._database.close()

    @operation
    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Replace the chunks of files in one transaction; returns the files that changed meanwhile."""
        with self._database.writing():
            removed, terms, overtaken = self._replace(changes)
            # All at once: most files of a batch have the same words.
            add_postings(self._db, terms)
            self._note_change(removed=removed)
        self._pack()
        return overtaken

    @operation
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

    @operation
    def purge(self) -> None:
        """Erase every trace of removed chunks."""
        self._database.delete_other_versions()
        with self._database.writing():
            rows = self._db.execute("SELECT removed FROM changes")
            gone = np.frombuffer(b"".join(removed for (removed,) in rows), "<i8")
            if len(gone):
                erase_postings(self._db, gone)
                self._unpack(gone.tolist())
                self._db.execute(_UNUSED)
                self._db.execute("DELETE FROM changes")
                self._database.begin_epoch()
        if self._database.one("PRAGMA wal_checkpoint(TRUNCATE)"):
            # Somebody reads or writes without a pause, so the log keeps it: the next file has none.
            self._database.renew()

    @operation
    def clear(self) -> None:
        """Delete everything: the next operation raises IndexReplacedError."""
        self._database.renew()

    def _note_change(self, removed: Sequence[int] = (), embedded: Sequence[int] = ()) -> None:
        """Part of a transaction: what processes that have read these chunks must know."""
        if removed or embedded:
            parts = [np.array(keys, "<i8").tobytes() for keys in (removed, embedded)]
            self._db.execute("INSERT INTO changes (removed, embedded) VALUES (?, ?)", parts)

    def _pack(self) -> None:
        """Pack full ranges of keys; rebuild when most keys belong to removed chunks."""
        one, last = self._database.one, self._database.last_key()
        there = {number for (number,) in self._db.execute("SELECT number FROM packs")}
        for number in set(range(last // PACK)) - there:
            first, end = number * PACK, (number + 1) * PACK - 1
            waiting = "SELECT 1 FROM chunks WHERE vector IS NULL AND key BETWEEN ? AND ? LIMIT 1"
            if not (self._has_model and one(waiting, first, end)):
                with self._database.writing():
                    values = packed(self._database, range(first, end + 1), self._dimensions)
                    self._db.execute(
                        "INSERT OR REPLACE INTO packs VALUES (?, ?, ?, ?)", (number, *values)
                    )
        if last > 4 * (PACK + one("SELECT count(*) FROM chunks")):
            self._database.renew()

    def _unpack(self, keys: Collection[int]) -> None:
        """Part of a transaction: packs with these chunks are made again."""
        packs = [(number,) for number in {key // PACK for key in keys}]
        self._db.executemany("DELETE FROM packs WHERE number = ?", packs)

    @operation
    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (the `kind`) of the chunks that pass the filters."""
        with self._database.snapshot():
            self._arrays.refresh(self._database)
            numbers = {*self._arrays[kind][self._allowed(filters)].tolist()}
            return {name for number, name in self._db.execute(_NAMES) if number in numbers} - {""}

    @operation
    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks by BM25 and by cosine, with all their signals."""
        arrays, vector = self._arrays, vector if self._by_meaning else None
        include_secret = all(filters.include_secret for filters in filter_sets)
        with self._database.snapshot():
            arrays.refresh(self._database)
            matches = Matches(self._db, words, arrays, include_secret=include_secret)
            scores = self._word_scores(matches) if words else matches.scores()
            distances = None if vector is None else arrays.distances(vector)
            mean = 0.0 if vector is None else float(matches.statistics.usual_vector @ vector)
            found = []
            for filters in filter_sets:
                mask = self._allowed(filters)
                meaning = np.zeros(len(mask), np.float32)
                if words or vector is not None:
                    keys = _top(np.where(mask, scores, np.float32(0)), limit)
                else:  # the newest
                    keys = mask.nonzero()[0][-limit:] if limit else np.empty(0, np.int64)
                    scores[keys] = 1
                if vector is not None and distances is not None:
                    keys = np.union1d(keys, self._nearest(vector, distances, mask, limit, filters))
                    meaning[keys] = np.round(arrays.cosines(keys, vector), _DIGITS)
                signals = self._signals(keys, scores[keys], meaning[keys], limit, matches, vector)
                chunks, rarity = matches.statistics.chunks, matches.rarity
                found.append(Nomination(signals, mean, chunks, rarity, arrays.group_vectors))
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
            asked = filters.category.casefold()
            rows = self._db.execute(_NAMES)
            yield "category", [number for number, name in rows if name.casefold() == asked]
        for column, name in (("session", filters.session), ("chat", filters.chat)):
            if name is not None:
                rows = self._db.execute(f"{_NAMES} WHERE name = ?", (clean(name),))
                yield column, [number for number, _ in rows]
        if filters.path is not None:
            files = self._db.execute("SELECT id, path FROM files")
            yield "file", [file for file, path in files if filters.covers(os.fsdecode(path))]
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
        by_words, by_meaning = ranks(words, keys, limit), ranks(meaning, keys, limit)
        kept = (by_words | by_meaning).nonzero()[0]
        about = {name: self._arrays[name][keys[kept]] for name in _ABOUT}
        about["tokens"] = self._arrays.tokens(keys[kept])
        groups, at = np.unique(about["group"], return_inverse=True)
        titles = np.zeros(len(groups), np.float32)
        if vector is not None:
            titles = self._arrays.cosines(matches.statistics.titles[groups], vector)
        by_group = np.concatenate([matches.group_scores(groups), titles[None]])
        by_group[:, groups == 0] = 0
        of_group = by_group[:, at].astype(np.float32)
        about["chat"] = np.where(about["kind"] == TURN, about.pop("group"), 0)
        ranked = (keys, words, meaning, by_words, by_meaning)
        return Signals(*[column[kept] for column in ranked], *of_group, **about)


def _top(values: Floats, limit: int) -> Keys:
    """The places of the best values, of those that have any."""
    keys = values.nonzero()[0]
    return keys[np.argpartition(-values[keys], limit - 1)[:limit]] if len(keys) > limit else keys


def ranks(values: NDArray[Any], keys: Keys, limit: int) -> Keys:
    """The rank of each value, from 1; 0 for what is not among the best, or has none.

    Of equal values the newer chunk is first.
    """
    order = np.lexsort((-keys, -values))[:limit]
    order = order[values[order] != 0]
    found = np.zeros(len(values), np.int64)
    found[order] = np.arange(1, len(order) + 1)
    return found
