"""What must not be told, even by a score: how often words stand in chunks that a caller may not see.

How rare a word is, how well a whole file fits, how near the usual chunk is: each is counted over many
chunks, and who may see none of the secret ones must get it as if they were not there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memolith.interfaces import USER
from memolith.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from memolith.index.segment import Segment

    Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Rows of a segment that do not count; there is at least one.

    What they add up to is worked out once, and not by every search.
    """

    segment: Segment
    rows: Integers
    mask: NDArray[np.bool_]  # of all rows, which these are
    whole_groups: int  # so many groups have no other rows
    lengths: NDArray[
        np.float32
    ]  # how many words of each group are hidden, and how many the user said
    total: NDArray[np.float32]  # the sum of their vectors

    @classmethod
    def of(cls, segment: Segment, rows: Integers) -> Hidden | None:
        """Those of a segment, or None if there are none."""
        if not len(rows):
            return None
        mask = np.zeros(len(segment), np.bool_)
        mask[rows] = True
        places, size = segment.groups.of_rows, len(segment.groups.ids) + 1
        here = places[rows]
        words = segment.postings.lengths[rows]
        by_user = segment.columns["role"][rows] == USER
        hidden, all_rows = np.bincount(here, minlength=size), np.bincount(places, minlength=size)
        lengths = [np.bincount(here, said, size)[1:] for said in (words, words * by_user)]
        return cls(
            segment,
            rows,
            mask,
            whole_groups=int(np.count_nonzero((hidden == all_rows)[1:])),
            lengths=np.stack(lengths).astype(np.float32),
            total=segment.nearest.sums(rows, np.zeros(1, np.int64))[0],
        )

    def frequencies(self, terms: NDArray[np.uint64]) -> tuple[Integers, Integers]:
        """In how many hidden rows each term stands, and in how many groups only there."""
        rows, groups = np.zeros(len(terms), np.int64), np.zeros(len(terms), np.int64)
        postings, of_rows = self.segment.postings, self.segment.groups.of_rows
        only_hidden = np.zeros(len(self.segment.groups.ids) + 1, np.bool_)
        for at, (start, stop) in enumerate(zip(*postings.spans(terms), strict=True)):
            found = postings.rows[start:stop]
            is_hidden = self.mask.take(found)
            if is_hidden.any():
                places = of_rows.take(found)
                only_hidden[places] = is_hidden
                only_hidden[places[~is_hidden]] = False
                rows[at] = np.count_nonzero(is_hidden)
                groups[at] = np.count_nonzero(only_hidden[1:])
                only_hidden[places] = False
        return rows, groups
