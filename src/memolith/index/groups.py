"""Chunks that belong together: the turns of a chat, the pieces of a file.

What is said around a chunk helps to judge it, so a search also asks how well its whole group fits:
BM25 of the group as one text, of what the user said in it, and how near its beginning is. That is
added up from the postings of the chunks, for the few groups that have a candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memolith.index.nearest import first_of_each, stretches
from memolith.index.postings import K1, B
from memolith.interfaces import USER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memolith.index.segment import Segment
    from memolith.interfaces import Vectors

    Floats = NDArray[np.float32]


# What a group is about is told by so many of its chunks, however long it goes on.
_SUMMED = 32


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The rows of each group of a segment, in the order they were written."""

    ids: NDArray[np.uint32]  # sorted; 0, the chunks without a group, is not among them
    starts: NDArray[np.uint32]  # one more than ids
    rows: NDArray[np.uint32]

    @classmethod
    def build(cls, grouped: NDArray[np.int64]) -> Groups:
        """Sort the rows by their group."""
        rows = np.argsort(grouped, kind="stable")
        rows = rows[grouped[rows] > 0]
        ids, starts = np.unique(grouped[rows], return_index=True)
        return cls(
            ids.astype("<u4"), np.append(starts, len(rows)).astype("<u4"), rows.astype("<u4")
        )

    def members(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of some groups (sorted ids), and for each row the place of its group among them."""
        at = np.minimum(np.searchsorted(self.ids, groups), max(0, len(self.ids) - 1))
        places = np.flatnonzero(self.ids[at] == groups) if len(self.ids) else at[:0]
        starts, stops = self.starts[at[places]], self.starts[at[places] + 1]
        rows = self.rows[stretches(starts, stops)].astype(np.int64)
        places = np.repeat(places, stops.astype(np.int64) - starts)
        order = np.argsort(rows, kind="stable")
        return rows[order], places[order]


class GroupSums:
    """How often each term stands in each group, added up over segments."""

    def __init__(self, groups: NDArray[np.int64], terms: Sequence[int]) -> None:
        """Sums for some groups (sorted ids) and terms, all zero."""
        self._groups = groups
        self._terms = np.array(terms, "<u8")
        self.counts = np.zeros((len(terms), len(groups)), np.float32)
        self.user_counts = np.zeros((len(terms), len(groups)), np.float32)
        self.lengths = np.zeros(len(groups), np.float32)
        self.user_lengths = np.zeros(len(groups), np.float32)
        self.titles = np.zeros(len(groups), np.float32)
        self._title_keys = np.full(len(groups), np.iinfo(np.int64).max)

    def add(self, segment: Segment, vector: Vectors | None) -> None:
        """Add what a segment holds of the groups."""
        rows, places = segment.groups.members(self._groups)
        if not len(rows):
            return
        size = len(self._groups)
        by_user = segment.columns["role"][rows] == USER
        lengths = segment.postings.lengths[rows]
        self.lengths += np.bincount(places, lengths, size)
        self.user_lengths += np.bincount(places, lengths * by_user, size)
        numbers, here, counts = segment.postings.counts_among(self._terms, rows)
        cells = numbers * size + places[here]
        shape = self.counts.shape
        self.counts += np.bincount(cells, counts, self.counts.size).reshape(shape)
        counts *= by_user[here]
        self.user_counts += np.bincount(cells, counts, self.counts.size).reshape(shape)
        if vector is not None:
            self._add_titles(segment, rows, places, vector)

    def _add_titles(
        self, segment: Segment, rows: NDArray[np.int64], places: NDArray[np.int64], vector: Vectors
    ) -> None:
        """How near the first chunk of each group is; of a chat, the first the user said."""
        role = segment.columns["role"][rows]
        keys = segment.keys[rows] + np.where(role == USER, 0, 1 << 60)
        order = np.argsort(role != USER, kind="stable")  # rows, and so keys, ascend already
        first = order[first_of_each(places[order])]
        nearness = segment.nearest.cosines(rows[first], vector)
        earlier = keys[first] < self._title_keys[places[first]]
        groups = places[first][earlier]  # each of them once
        self._title_keys[groups] = keys[first][earlier]
        self.titles[groups] = nearness[earlier]


def group_bm25(
    counts: Floats, lengths: Floats, words: Sequence[Mapping[int, float]], terms: Sequence[int]
) -> Floats:
    """BM25 of whole groups; each word maps terms to weights (idf included), and its best counts."""
    at = {term: number for number, term in enumerate(terms)}
    spoken = lengths[lengths > 0]
    average = float(spoken.mean()) if len(spoken) else 1.0
    saturation = K1 * (1 - B + B * lengths / average)
    values = counts * np.float32(K1 + 1) / (counts + saturation)
    scores = np.zeros(len(lengths), np.float32)
    for word in filter(None, words):
        weights = np.array(list(word.values()), np.float32)[:, None]
        scores += (values[[at[term] for term in word]] * weights).max(axis=0)
    return scores


def group_vectors(segments: Sequence[Segment], groups: NDArray[np.int64]) -> Floats:
    """For each group the sum of the vectors of its chunks; zeros if they have none."""
    dimensions = max((len(segment.nearest.total) for segment in segments), default=0)
    sums = np.zeros((len(groups), dimensions), np.float32)
    order = np.argsort(groups)
    for segment in segments if dimensions else ():
        rows, places = segment.groups.members(groups[order])
        by_group = np.argsort(places, kind="stable")
        places = places[by_group]
        number = np.arange(len(places)) - np.searchsorted(places, places)  # within its group
        rows, places = rows[by_group][number < _SUMMED], places[number < _SUMMED]
        if len(rows):
            starts = first_of_each(places)
            sums[order[places[starts]]] += segment.nearest.sums(rows, starts)
    return sums
