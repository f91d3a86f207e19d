"""Vectors to chunks: the nearest by cosine, exactly while there are few, by clusters when many.

Vectors are kept as signed bytes (256 dimensions: 256 bytes a chunk). Above some tens of thousands
they are sorted into clusters, and a search looks only into the nearest of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)
Bytes = NDArray[np.int8]
Floats = NDArray[np.float32]
Rows = NDArray[np.uint32]

# Below this an exact scan is as fast as looking into clusters.
_CLUSTERS_FROM = 20_000
_PROBES = 32
# Few allowed rows are scanned exactly: clusters would miss most of them.
_EXACT_UP_TO = 10_000
# Of what is scanned anyway so many are picked out faster than the others are passed over afterwards.
_PICKED_OUT = 0.5
# So many vectors are multiplied at once.
_AT_ONCE = 128


# Instead of a vector: the model was asked for one and gave none that can be used.
REFUSED: Floats = np.zeros(0, np.float32)


def quantise(vectors: Floats) -> Bytes:
    """Vectors of length 1 as bytes; zeros stay zeros."""
    top = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(top == 0, 1, top) * 127).astype(np.int8)


def normalised(vectors: Floats) -> Floats:
    """Vectors of length 1; zeros stay zeros, and what is no number becomes zero."""
    vectors = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The vectors of some rows, and the clusters they fall into (none while they are few).

    Vectors of a cluster stand side by side, so that looking into it reads one stretch of memory:
    a vector has a place, which is not the number of its row.
    """

    vectors: Bytes  # by place
    scales: Floats  # by place: 1 / length of the bytes; 0 for a vector without meaning
    centroids: Floats
    starts: NDArray[np.uint32]  # the first place of each cluster, one more than centroids
    rows: Rows  # by place; empty while there are no clusters, and every row is its own place
    places: Rows  # by row
    total: Floats  # the sum of all: its product with a query is the sum of all cosines

    @classmethod
    def build(cls, vectors: Bytes) -> Nearest:
        """Sort the vectors into clusters when they are many."""
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
        scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        dimensions = vectors.shape[1] if vectors.ndim == 2 else 0
        total = _total(vectors, scales)
        none = np.empty(0, "<u4")
        if len(vectors) < _CLUSTERS_FROM:
            centroids = np.empty((0, dimensions), np.float32)
            return cls(vectors, scales, centroids, np.zeros(1, "<u4"), none, none, total)
        centroids = _centroids(vectors, scales)
        owners = _assign(vectors, centroids)
        rows = np.argsort(owners, kind="stable").astype("<u4")
        places = np.empty_like(rows)
        places[rows] = np.arange(len(rows), dtype="<u4")
        counts = np.bincount(owners, minlength=len(centroids))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype("<u4")
        return cls(vectors[rows], scales[rows], centroids, starts, rows, places, total)

    def search_each(
        self, query: Floats, limit: int, kinds: Sequence[NDArray[np.bool_] | None]
    ) -> list[tuple[NDArray[np.integer[Any]], Floats]]:
        """Of each set of allowed rows the nearest, in no order, and their cosines.

        Clusters are looked into once for all sets.
        """
        probed: tuple[NDArray[np.integer[Any]], Floats] | None = None
        found = []
        for allowed in kinds:
            places = self._few(allowed)
            if places is not None:
                scores = self._cosines_at(places, query)
            else:
                probed = places, scores = probed or self._probed(query)
                if allowed is not None:
                    rows = self.rows.take(places) if len(self.rows) else places
                    inside = np.flatnonzero(allowed.take(rows))
                    places, scores = places[inside], scores[inside]
            found.append(self._best(places, scores, limit))
        return found

    def _best(
        self, places: NDArray[np.integer[Any]], scores: Floats, limit: int
    ) -> tuple[NDArray[np.integer[Any]], Floats]:
        if len(places) > limit:
            best = np.argpartition(-scores, limit - 1)[:limit]
            places, scores = places[best], scores[best]
        return (self.rows[places] if len(self.rows) else places), scores

    def with_cosines(
        self,
        rows: NDArray[np.integer[Any]],
        near: tuple[NDArray[np.integer[Any]], Floats],
        query: Floats,
    ) -> tuple[NDArray[np.int64], Floats]:
        """Some rows and those that were found nearest, each once, ascending, with all their cosines."""
        order, every = _once(np.concatenate([near[0], rows]))
        cosines = np.concatenate([near[1], np.zeros(len(rows), np.float32)])[order]
        unknown = (order >= len(near[0])).nonzero()[0]
        cosines[unknown] = self.cosines(every[unknown], query)
        return every, cosines

    def cosines(self, rows: NDArray[np.integer[Any]], query: Floats) -> Floats:
        """The cosines of some rows."""
        return self._cosines_at(self._places(rows), query)

    def sums(self, rows: NDArray[np.integer[Any]], starts: NDArray[np.integer[Any]]) -> Floats:
        """The sum of the vectors, of length 1, of the rows from each start to the next."""
        places = self._places(rows)
        chosen, scales = self.vectors.take(places, axis=0).astype(np.float32), self.scales[places]
        sums = np.empty((len(starts), chosen.shape[1]), np.float32)
        bounds = [*starts.tolist(), len(rows)]
        for number, (start, stop) in enumerate(pairwise(bounds)):
            np.dot(scales[start:stop], chosen[start:stop], out=sums[number])
        return sums

    def _cosines_at(self, places: NDArray[np.integer[Any]], query: Floats) -> Floats:
        products = _products(self.vectors.take(places, axis=0), query)
        products *= self.scales.take(places)
        return products

    def _places(self, rows: NDArray[np.integer[Any]]) -> NDArray[np.integer[Any]]:
        return self.places[rows] if len(self.places) else rows

    def _few(self, allowed: NDArray[np.bool_] | None) -> NDArray[np.integer[Any]] | None:
        """The allowed places, if they are few enough to pick them out; None: they are many, or all."""
        if allowed is None:
            return None
        most = _EXACT_UP_TO if len(self.centroids) else _PICKED_OUT * len(allowed)
        if int(np.count_nonzero(allowed)) <= most:
            return self._places(np.flatnonzero(allowed))
        return None

    def _probed(self, query: Floats) -> tuple[NDArray[np.integer[Any]], Floats]:
        """The places of the nearest clusters, or all while there are none, and their cosines."""
        if not len(self.centroids):
            return np.arange(len(self.vectors)), _products(self.vectors, query) * self.scales
        near = np.argpartition(-_products(self.centroids, query), _PROBES)[:_PROBES]
        starts, stops = self.starts[near], self.starts[near + 1]
        spans = map(slice, starts.tolist(), stops.tolist())
        products = _products(np.concatenate([self.vectors[span] for span in spans]), query)
        places = stretches(starts, stops)
        return places, products * self.scales.take(places)


def _products(vectors: NDArray[Any], query: Floats) -> Floats:
    """The products of vectors with another one.

    A hundred or so at a time: bytes become floats in memory that the processor has at hand. In one
    thread (`embed/threads.py`), unless the program we are part of has loaded NumPy first, with more.
    """
    result = np.empty(len(vectors), np.float32)
    room = np.empty((min(_AT_ONCE, len(vectors)), len(query)), np.float32)
    for at in range(0, len(vectors), _AT_ONCE):
        some = vectors[at : at + _AT_ONCE]
        if some.dtype == np.int8:
            room[: len(some)] = some
            some = room[: len(some)]
        np.dot(some, query, out=result[at : at + len(some)])
    return result


def stretches(
    starts: NDArray[np.integer[Any]], stops: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """All numbers from each start to its stop, one stretch after the other."""
    starts = starts.astype(np.int64)
    sizes = stops.astype(np.int64) - starts
    before = np.cumsum(sizes) - sizes
    numbers: NDArray[np.int64] = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return numbers


def distinct(values: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Each value once, ascending; `np.unique` does more, and loads more."""
    ordered = values.astype(np.int64)
    ordered.sort()
    return ordered[_begins(ordered)]


def first_of_each(values: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Where each value stands first, the values ascending."""
    return _once(values)[0]


def _once(values: NDArray[Number]) -> tuple[NDArray[np.int64], NDArray[Number]]:
    """Where each value stands first, and the value, ascending."""
    order = values.argsort(kind="stable")
    ordered = values[order]
    first = _begins(ordered)
    return order[first], ordered[first]


def _begins(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Which of some values are not the same as the one before."""
    begins = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def _total(vectors: Bytes, scales: Floats) -> Floats:
    total = np.zeros(vectors.shape[1] if vectors.ndim == 2 else 0, np.float32)
    for at in range(0, len(vectors), 8192):
        part = slice(at, at + 8192)
        total += scales[part] @ vectors[part].astype(np.float32)
    return total


def _centroids(vectors: Bytes, scales: Floats) -> Floats:
    """A few rounds of k-means on a sample, with a fixed seed: the same vectors, the same clusters."""
    count = int(min(4096, 4 * np.sqrt(len(vectors))))
    chance = np.random.default_rng(7)
    size = min(len(vectors), 24 * count)
    rows = np.sort(chance.choice(len(vectors), size, replace=False))
    sample = vectors[rows].astype(np.float32) * scales[rows, None]
    centroids = sample[chance.choice(size, count, replace=False)].copy()
    for _ in range(6):
        owners = np.concatenate([np.argmax(part @ centroids.T, axis=1) for part in _parts(sample)])
        order = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=count)
        filled = np.flatnonzero(counts)
        sums = np.add.reduceat(sample[order], np.concatenate([[0], np.cumsum(counts[filled])[:-1]]))
        centroids[filled] = normalised(sums)
    return centroids


def _assign(vectors: Bytes, centroids: Floats) -> NDArray[np.int64]:
    return np.concatenate(
        [np.argmax(part.astype(np.float32) @ centroids.T, axis=1) for part in _parts(vectors)]
    )


def _parts(vectors: NDArray[Number]) -> list[NDArray[Number]]:
    return [vectors[at : at + 8192] for at in range(0, len(vectors), 8192)]
