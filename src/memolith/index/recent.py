"""The newest chunks, which no file holds yet: put together in memory, most of them only now and then.

Whoever searches while others write takes in every write. So what is there already is kept as it was put
together, and only the few chunks that came last are put together anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memolith.index.postings import NO_LENGTHS, Lengths
from memolith.index.segment import Row, Segment

Read = Callable[[int, int], list[Row]]
Waiting = Callable[[int, int], int]

# So many of the newest are put together whenever something changed.
NEWEST = 128
_LAST = 1 << 62


@dataclass(frozen=True, slots=True)
class _Part:
    """Chunks from one key to another, as they were once; those removed since are still in it."""

    first: int
    last: int
    waiting: int  # how many had no vector
    segment: Segment


class Recent:
    """The segments of the chunks behind those of the files: one that is kept, and one of the newest."""

    def __init__(self, read: Read, waiting: Waiting, dimensions: int) -> None:
        """`read` gives the rows from one key to another, `waiting` how many of them have no vector."""
        self._read = read
        self._waiting = waiting
        self._dimensions = dimensions
        self._kept: _Part | None = None

    def forget(self) -> None:
        """Keep nothing: what was removed is not to stay even here."""
        self._kept = None

    def segments(self, first: int, beside: Lengths = NO_LENGTHS) -> Sequence[Segment]:
        """All chunks from this key on, `beside` those of the files; to be called within a transaction."""
        kept = self._kept
        if kept is not None and not self._holds(kept, first):
            kept = self._kept = None
        newest = self._read(first if kept is None else kept.last + 1, _LAST)
        if len(newest) > NEWEST:
            rows = newest if kept is None else self._read(first, _LAST)
            waiting = sum(row.vector is None for row in rows)
            segment = Segment.build(rows, self._dimensions, beside)
            kept = self._kept = _Part(first, rows[-1].key, waiting, segment)
            newest = []
        found = [] if kept is None else [kept.segment]
        if not newest:
            return found
        beside = Lengths.together([beside, *(segment.lengths for segment in found)])
        return [*found, Segment.build(newest, self._dimensions, beside)]

    def _holds(self, part: _Part, first: int) -> bool:
        """Whether a file has not taken its place, and all have the vector they had."""
        return part.first == first and self._waiting(part.first, part.last) == part.waiting
