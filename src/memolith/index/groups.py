"""Chunks that belong together: the turns of a chat, the pieces of a file.

What is said around a chunk helps to judge it, so a search also asks how well its whole group fits:
BM25 of the group as one text, of what the user said in it, and how near its beginning is. How often
a term stands in a group is added up from the postings of its chunks; the rest is known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memolith.index.hidden import Hidden
from memolith.index.matches import Matches, Words, together
from memolith.index.nearest import Nearest, distinct, first_of_each, stretches
from memolith.index.postings import K1, B
from memolith.interfaces import USER, Vectors

if TYPE_CHECKING:
    from memolith.index.segment import Segment

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]

# Groups are numbered: a chat by its name, from here on files; the SQL of `rows.py` says the same.
FILES = 2147483648
# What a chat is about is told by so many of its chunks, however long it goes on.
_SUMMED = 32
# So many chats are added up at once.
_AT_ONCE = 1_000
# Added to the key of a chunk that the user did not say: it begins a group only if none did.
_NOT_THE_USER = 1 << 60


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of a segment, and what is known of each."""

    ids: NDArray[np.uint32]  # sorted; 0, the chunks without a group, is not among them
    of_rows: NDArray[np.uint32]  # the place of each row's group among these, from 1; 0 for none
    titles: NDArray[np.uint32]  # the row each begins with; of a chat, the first the user said
    lengths: NDArray[np.float32]  # in words
    user_lengths: NDArray[np.float32]  # of what the user said
    sums: NDArray[np.float16]  # of the vectors of each chat; files have none

    @classmethod
    def build(cls, grouped: Integers, role: Integers, lengths: Floats, nearest: Nearest) -> Groups:
        """Look at all rows, given the group of each, who said it, and how long it is."""
        ids, places = np.unique(grouped, return_inverse=True)
        first = int(np.searchsorted(ids, 1))  # behind 0, if that is there
        of_rows = np.maximum(places - first + 1, 0)
        rows = np.argsort(of_rows, kind="stable")
        rows = rows[np.searchsorted(of_rows[rows], 1) :]
        by_user = role == USER
        users_first = rows[np.argsort(~by_user[rows], kind="stable")]
        size = len(ids) - first
        return cls(
            ids=ids[first:].astype("<u4"),
            of_rows=of_rows.astype("<u4"),
            titles=users_first[first_of_each(of_rows[users_first])].astype("<u4"),
            lengths=np.bincount(of_rows, lengths, size + 1)[1:].astype("<f4"),
            user_lengths=np.bincount(of_rows, lengths * by_user, size + 1)[1:].astype("<f4"),
            sums=_sums(ids[first:], of_rows[rows], rows, nearest),
        )

    def find(self, groups: Integers) -> tuple[Integers, Integers]:
        """Which of some groups are here, by their place among those, and their places here."""
        if not len(self.ids):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        at = np.minimum(self.ids.searchsorted(groups.astype(np.uint32)), len(self.ids) - 1)
        asked = (self.ids.take(at) == groups).nonzero()[0]
        return asked, at.take(asked)


def _sums(
    ids: Integers, of_rows: Integers, rows: Integers, nearest: Nearest
) -> NDArray[np.float16]:
    """For each chat the sum of the vectors of its first chunks; rows stand by group, which ascend."""
    chats = int(np.searchsorted(ids, FILES))
    bounds = np.searchsorted(of_rows, np.arange(1, chats + 2))
    sums = np.zeros((chats, len(nearest.total)), "<f2")
    for at in range(0, chats, _AT_ONCE):
        starts, stops = bounds[at : at + _AT_ONCE], bounds[at + 1 : at + 1 + _AT_ONCE]
        starts = starts[: len(stops)]
        stops = np.minimum(stops, starts + _SUMMED)
        sizes = stops - starts
        some = rows[stretches(starts, stops)]
        sums[at : at + _AT_ONCE] = nearest.sums(some, np.cumsum(sizes) - sizes)
    return sums


class GroupSums:
    """How often each term stands in each group, added up over segments.

    Of everything there are two columns: for all of the group, and for what the user said in it.
    """

    def __init__(self, groups: Integers, terms: int) -> None:
        """Sums for some groups (sorted ids) and a number of terms, all zero."""
        self._groups = groups
        self.counts = np.zeros((terms, 2, len(groups)), np.float32)
        self.lengths = np.zeros((2, len(groups)), np.float32)
        self.titles = np.zeros(len(groups), np.float32)
        self._title_keys = np.full(len(groups), np.iinfo(np.int64).max)

    def add(
        self,
        segment: Segment,
        matches: Matches,
        vector: Vectors | None,
        hidden: Hidden | None = None,
    ) -> None:
        """Add what a segment holds of the groups, but for what is hidden."""
        asked, at = segment.groups.find(self._groups)
        if not len(asked):
            return
        self.lengths[0, asked] += segment.groups.lengths[at]
        self.lengths[1, asked] += segment.groups.user_lengths[at]
        if hidden is not None:
            self.lengths[:, asked] -= hidden.lengths[:, at]
            np.maximum(self.lengths, 0, out=self.lengths)
        self._add_counts(segment, matches, asked, at, hidden)
        if vector is not None:
            rows = (segment.groups if hidden is None else hidden).titles[at]
            has_title = rows < len(segment)
            self._add_titles(segment, asked[has_title], rows[has_title], vector)

    def _add_counts(
        self,
        segment: Segment,
        matches: Matches,
        asked: Integers,
        at: Integers,
        hidden: Hidden | None,
    ) -> None:
        places = np.zeros(len(segment.groups.ids) + 1, np.int32)
        places[at + 1] = asked + 1
        of_rows, size = segment.groups.of_rows, len(self._groups)
        found = matches.at(places.take(of_rows.take(matches.rows)).nonzero()[0])
        if matches.has_common_terms:
            more = matches.common_among(places.take(of_rows).nonzero()[0])
            found = together([found, more])
        terms, rows, counts = found
        if hidden is not None:
            shown = ~hidden.mask.take(rows)
            terms, rows, counts = terms[shown], rows[shown], counts[shown]
        by_user = segment.columns["role"].take(rows) == USER
        cells = 2 * size * terms + places.take(of_rows.take(rows)) - 1
        # Each is counted with its group, and once more, for the user or for nothing, beside it.
        cells = np.concatenate([cells, cells + size])
        counts = np.concatenate([counts, counts * by_user])
        self.counts += np.bincount(cells, counts, self.counts.size).reshape(self.counts.shape)

    def _add_titles(
        self, segment: Segment, asked: Integers, rows: NDArray[np.uint32], vector: Vectors
    ) -> None:
        """How near the first chunk of each group is; of a chat, the first the user said."""
        by_user = segment.columns["role"][rows] == USER
        keys = segment.keys[rows] + np.where(by_user, 0, _NOT_THE_USER)
        earlier = keys < self._title_keys[asked]
        self._title_keys[asked[earlier]] = keys[earlier]
        self.titles[asked[earlier]] = segment.nearest.cosines(rows[earlier], vector)


def group_bm25(counts: Floats, lengths: Floats, words: Words) -> Floats:
    """BM25 of whole groups, in both columns; weights include the idf, of a word its best term counts."""
    spoken = lengths > 0
    average = lengths.sum(axis=1) / np.maximum(spoken.sum(axis=1), 1)
    average = np.where(average > 0, average, np.float32(1))[:, None]
    saturation = K1 * (1 - B + B * lengths / average)
    values = counts * np.float32(K1 + 1) / (counts + saturation.astype(np.float32))
    known = [word for word in words if word]
    if not known:
        return np.zeros(lengths.shape, np.float32)
    terms, weights = zip(*chain.from_iterable(known), strict=True)
    each = values.take(terms, axis=0) * np.array(weights, np.float32)[:, None, None]
    first_terms = list(accumulate(map(len, known[:-1]), initial=0))
    scores: Floats = np.maximum.reduceat(each, first_terms).sum(axis=0)
    return scores


def group_vectors(segments: Sequence[tuple[Segment, Hidden | None]], groups: Integers) -> Floats:
    """For each chat the sum of the vectors of its chunks, but for hidden ones; zeros if they have none."""
    dimensions = max((len(segment.nearest.total) for segment, _ in segments), default=0)
    sums = np.zeros((len(groups), dimensions), np.float32)
    for segment, hidden in segments if dimensions else ():
        asked, at = segment.groups.find(groups)
        found = segment.groups.sums.take(at, axis=0).astype(np.float32)
        if hidden is not None:
            touched, shown = _shown_sums(segment, hidden, at)
            found[touched] = shown
        sums[asked] += found
    return sums


def _shown_sums(
    segment: Segment, hidden: Hidden, at: Integers
) -> tuple[Integers, NDArray[np.float16]]:
    """Which of some chats have hidden chunks, by their place among these, and the sum of the others."""
    numbers = np.full(len(segment.groups.ids) + 1, -1)
    numbers[at + 1] = np.arange(len(at))
    of_rows = numbers.take(segment.groups.of_rows)
    rows = (hidden.touched & ~hidden.mask & (of_rows >= 0)).nonzero()[0]
    rows = rows[of_rows.take(rows).argsort(kind="stable")]
    touched = distinct(of_rows.take(rows))
    ids = segment.groups.ids.take(at.take(touched)).astype(np.int64)
    return touched, _sums(ids, touched.searchsorted(of_rows.take(rows)) + 1, rows, segment.nearest)
