"""What must not be told, even by a score: how often words stand in chunks that a caller may not see.

How rare a word is, how well a whole file fits, how near the usual chunk is: each is counted over many
chunks, and who may see none of the secret ones must get it as if they were not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memolith.index.nearest import distinct
from memolith.interfaces import USER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memolith.index.segment import Segment
    from memolith.interfaces import Vectors

    Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Rows of a segment that do not count; there is at least one."""

    segment: Segment
    rows: Integers
    mask: NDArray[np.bool_]  # of all rows, which these are

    @classmethod
    def of(cls, segment: Segment, rows: Integers) -> Hidden | None:
        """Those of a segment, or None if there are none."""
        if not len(rows):
            return None
        mask = np.zeros(len(segment), np.bool_)
        mask[rows] = True
        return cls(segment, rows, mask)

    def frequencies(self, terms: NDArray[np.uint64]) -> tuple[Integers, Integers]:
        """In how many hidden rows each term stands, and in how many groups only there."""
        rows, groups = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
        grouped, postings = self.segment.columns["grouped"], self.segment.postings
        for at, (start, stop) in enumerate(zip(*postings.spans(terms), strict=True)):
            found = postings.rows[start:stop]
            is_hidden = self.mask.take(found)
            if is_hidden.any():
                rows[at] = is_hidden.sum()
                of_all, of_shown = distinct(grouped[found]), distinct(grouped[found[~is_hidden]])
                groups[at] = np.count_nonzero(of_all) - np.count_nonzero(of_shown)
        return rows, groups

    def whole_groups(self) -> int:
        """How many groups have no other rows."""
        grouped = self.segment.columns["grouped"]
        shown = np.count_nonzero(distinct(grouped[~self.mask]))
        return int(np.count_nonzero(distinct(grouped)) - shown)

    def lengths(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """How many words of each group are hidden, and how many of these the user said."""
        groups, lengths = self.segment.groups, self.segment.postings.lengths[self.rows]
        places, size = groups.of_rows[self.rows], len(groups.ids) + 1
        by_user = self.segment.columns["role"][self.rows] == USER
        return (
            np.bincount(places, lengths, size)[1:].astype(np.float32),
            np.bincount(places, lengths * by_user, size)[1:].astype(np.float32),
        )

    def meaning(self, vector: Vectors) -> float:
        """The sum of how near they are."""
        return float(self.segment.nearest.cosines(self.rows, vector).sum())
