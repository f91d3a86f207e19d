"""What must not be told, even by a score: how often words stand in chunks that do not count.

How rare a word is, how well a whole file fits, how near the usual chunk is: each is counted over many
chunks. Those that were removed stay in a segment for a while, and secret ones are there for those who may
see them; everybody else must get it as if they were not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memolith.index.matches import Matches
from memolith.index.nearest import distinct, first_of_each
from memolith.interfaces import USER

if TYPE_CHECKING:
    from memolith.index.segment import Segment

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Rows of a segment that do not count; there is at least one.

    What they add up to is worked out once, and not by every search.
    """

    segment: Segment
    rows: Integers  # ascending
    mask: NDArray[np.bool_]  # of all rows, which these are
    touched: NDArray[np.bool_]  # of all rows, those of groups that have hidden ones, and these
    whole_groups: int  # so many groups have no other rows
    lengths: NDArray[
        np.float32
    ]  # how many words of each group are hidden, and how many the user said
    titles: NDArray[
        np.uint32
    ]  # the row each group begins with; one more than there are if it has none
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
        by_user = segment.columns["role"] == USER
        lengths = [np.bincount(here, said, size)[1:] for said in (words, words * by_user[rows])]
        groups = np.zeros(size, np.bool_)
        groups[here] = True
        groups[0] = False
        touched = groups.take(places)
        shown = (touched & ~mask).nonzero()[0]
        shown = shown[np.argsort(~by_user.take(shown), kind="stable")]
        first = shown[first_of_each(places.take(shown))]
        titles = segment.groups.titles.copy()
        titles[groups[1:]] = len(segment)
        titles[places.take(first) - 1] = first
        return cls(
            segment,
            rows,
            mask,
            touched | mask,
            whole_groups=int(np.count_nonzero(groups)) - len(first),
            lengths=np.stack(lengths).astype(np.float32),
            titles=titles,
            total=segment.nearest.sums(rows, np.zeros(1, np.int64))[0],
        )

    def frequencies(self, matches: Matches, terms: int) -> tuple[Integers, Integers]:
        """In how many hidden rows each of the terms stands, and in how many groups only there."""
        found, rows, _ = matches.among(self.touched)
        size = len(self.segment.groups.ids) + 1
        places = self.segment.groups.of_rows.take(rows)
        is_hidden = self.mask.take(rows)
        # A group with a term is one number; group 0 is none.
        both = found * size + places
        only_hidden = distinct(both[is_hidden & (places > 0)])
        only_hidden = only_hidden[~np.isin(only_hidden, both[~is_hidden])]
        return (
            np.bincount(found[is_hidden], minlength=terms),
            np.bincount(only_hidden // size, minlength=terms),
        )
