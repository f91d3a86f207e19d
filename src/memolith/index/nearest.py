"""Vectors to chunks: the nearest by cosine, exactly while there are few, by clusters when many.

Vectors are kept as signed bytes (256 dimensions: 256 bytes a chunk). Above some tens of thousands
they are sorted into clusters, and a search looks only into the nearest of these.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Number = TypeVar("Number", np.int8, np.float32)
    Bytes = NDArray[np.int8]
    Floats = NDArray[np.float32]
    Rows = NDArray[np.uint32]

# Below this an exact scan is as fast as looking into clusters.
_CLUSTERS_FROM = 20_000
_PROBES = 48
# Few allowed rows are scanned exactly: clusters would miss most of them.
_EXACT_UP_TO = 10_000


def quantise(vectors: Floats) -> Bytes:
    """Vectors of length 1 as bytes; zeros stay zeros."""
    top = np.abs(vectors).max(axis=1, keepdims=True)
    return np.rint(vectors / np.where(top == 0, 1, top) * 127).astype(np.int8)


def normalised(vectors: Floats) -> Floats:
    """Vectors of length 1; zeros stay zeros, and what is no number becomes zero."""
    vectors = np.nan_to_num(vectors, nan=0.0, posinf=0.0, neginf=0.0)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The vectors of some rows, and the clusters they fall into (none while they are few)."""

    vectors: Bytes
    scales: Floats  # 1 / length of each row of bytes; 0 for a row without meaning
    centroids: Floats
    starts: NDArray[np.uint32]  # of each cluster in `members`, one more than centroids
    members: Rows

    @classmethod
    def build(cls, vectors: Bytes) -> Nearest:
        """Sort the vectors into clusters when they are many."""
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float32))
        scales = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        dimensions = vectors.shape[1] if vectors.ndim == 2 else 0
        if len(vectors) < _CLUSTERS_FROM:
            return cls(
                vectors,
                scales,
                np.empty((0, dimensions), np.float32),
                np.zeros(1, "<u4"),
                np.empty(0, "<u4"),
            )
        centroids = _centroids(vectors, scales)
        owners = _assign(vectors, centroids)
        members = np.argsort(owners, kind="stable").astype("<u4")
        counts = np.bincount(owners, minlength=len(centroids))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype("<u4")
        return cls(vectors, scales, centroids, starts, members)

    def search(
        self, query: Floats, limit: int, allowed: NDArray[np.bool_] | None
    ) -> tuple[Rows, Floats]:
        """The nearest rows among the allowed ones, best first, and their cosines."""
        rows = self._candidates(query, allowed)
        if not len(rows):
            return rows, np.empty(0, np.float32)
        scores = _dot(self.vectors, rows, query) * self.scales[rows]
        if len(rows) > limit:
            best = np.argpartition(-scores, limit - 1)[:limit]
            rows, scores = rows[best], scores[best]
        order = np.lexsort((rows, -scores))
        return rows[order], scores[order]

    def cosines(self, rows: NDArray[np.integer[Any]], query: Floats) -> Floats:
        """The cosines of some rows."""
        result: Floats = (self.vectors[rows].astype(np.float32) @ query) * self.scales[rows]
        return result

    def total(self) -> Floats:
        """The sum of all vectors: its product with a query is the sum of all cosines."""
        total = np.zeros(self.vectors.shape[1], np.float32)
        for at in range(0, len(self.vectors), 8192):
            part = slice(at, at + 8192)
            total += self.scales[part] @ self.vectors[part].astype(np.float32)
        return total

    def _candidates(self, query: Floats, allowed: NDArray[np.bool_] | None) -> Rows:
        if allowed is not None:
            count = int(np.count_nonzero(allowed))
            if count <= _EXACT_UP_TO or not len(self.centroids):
                return np.flatnonzero(allowed).astype(np.uint32)
        if not len(self.centroids):
            return np.arange(len(self.vectors), dtype=np.uint32)
        near = np.argpartition(-(self.centroids @ query), _PROBES)[:_PROBES]
        rows = np.concatenate([self.members[self.starts[at] : self.starts[at + 1]] for at in near])
        return rows if allowed is None else rows[allowed[rows]]


def _dot(vectors: Bytes, rows: Rows, query: Floats) -> Floats:
    # Converting some thousand rows to floats and one BLAS call beats integer arithmetic in NumPy.
    chosen = vectors if len(rows) == len(vectors) else vectors[rows]
    result: Floats = chosen.astype(np.float32) @ query
    return result


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
