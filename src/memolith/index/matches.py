"""Where the terms of a question stand in one segment, and what that is worth for its rows."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memolith.index.postings import IMPACT_UNIT, TERM_UNIT, Postings

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Words = Sequence[Sequence[tuple[int, float]]]
Found = tuple[NDArray[np.int64], Rows, Floats]

# Terms of a question stand in many rows if they have so many postings for each row of the segment …
_MANY = 0.5
# … and then those of them are common that stand in more than this share of all rows.
_COMMON = 0.05
# So many common terms are kept by row: two bytes of memory for each row of a segment.
_MOST_KEPT = 12


class CommonTerms:
    """The postings of terms that stand in many rows, as one number for every row of a segment.

    Whatever is common stands in one question after the other, and to add up all rows in a row is ten times
    as fast as to pick out nine of ten of them.
    """

    def __init__(self) -> None:
        """None is known yet."""
        self._kept: dict[int, tuple[Bytes, Bytes]] = {}

    def by_row(self, postings: Postings, span: slice) -> tuple[Bytes, Bytes]:
        """What a term is worth in each row, and how often it stands there; 0 where it does not."""
        found = self._kept.pop(span.start, None) or _by_row(postings, span)
        self._kept[span.start] = found  # last in the dict: used last
        if len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return found


def _by_row(postings: Postings, span: slice) -> tuple[Bytes, Bytes]:
    rows = postings.rows[span].astype(np.intp)
    impacts, counts = np.zeros((2, len(postings.lengths)), np.uint8)
    impacts[rows], counts[rows] = postings.impacts[span], postings.counts[span]
    return impacts, counts


class Matches:
    """The postings of all terms of a question, those of one term behind those of another.

    Mostly they are few against the rows of a segment: what is added up then never touches all of
    these. Postings of common terms are too many to be picked out.
    """

    def __init__(
        self, postings: Postings, terms: NDArray[np.uint64], kept: CommonTerms | None = None
    ) -> None:
        """Pick them out; `kept` is what earlier questions have left."""
        starts, stops = postings.spans(terms)
        sizes = stops - starts
        rows = len(postings.lengths)
        is_common = (sizes > _COMMON * rows) & (sizes.sum() > _MANY * rows)
        spans = list(map(slice, starts.tolist(), stops.tolist()))
        kept = kept or CommonTerms()
        self._common = {
            number: kept.by_row(postings, spans[number])
            for number in is_common.nonzero()[0].tolist()
        }
        for number in self._common:
            spans[number] = slice(0)
        self._sizes = np.where(is_common, 0, sizes)
        self.rows: Rows = _side_by_side(postings.rows, spans).astype(np.intp)
        self._counts = _side_by_side(postings.counts, spans)
        self._impacts = _side_by_side(postings.impacts, spans)

    @property
    def has_common_terms(self) -> bool:
        """Whether there are terms whose postings are not among the rows."""
        return bool(self._common)

    def at(self, found: NDArray[np.integer[Any]]) -> Found:
        """Some of the postings, by their places."""
        terms = np.arange(len(self._sizes)).repeat(self._sizes)
        counts = self._counts.take(found) * np.float32(TERM_UNIT)
        return terms.take(found), self.rows.take(found), counts

    def among(self, mask: NDArray[np.bool_]) -> Found:
        """The postings of all terms in the rows of a mask."""
        found = self.at(mask.take(self.rows).nonzero()[0])
        return together([found, self.common_among(mask.nonzero()[0])]) if self._common else found

    def common_among(self, rows: Rows) -> Found:
        """The postings of common terms in some rows."""
        parts = [self.at(np.empty(0, np.intp))]
        for term, (_, by_row) in self._common.items():
            here = rows[by_row.take(rows) > 0]
            counts = by_row.take(here) * np.float32(TERM_UNIT)
            parts.append((np.full(len(here), term), here, counts))
        return together(parts)

    def scores(self, words: Words, places: NDArray[np.int32]) -> Scores:
        """BM25 of every row that has a term. Weights include the idf; of a word its best term counts.

        `places` has a number for every row of the segment, no matter which. Where many rows have a
        term, each is its own place; else one of its postings is the place of each.
        """
        at: NDArray[np.integer[Any]] = self.rows
        size = len(places)
        if not self._common:
            places[at] = np.arange(len(at), dtype=np.int32)
            at, size = places.take(at).astype(np.intp), len(at)
        spans = [slice(*bound) for bound in pairwise([0, *self._sizes.cumsum().tolist()])]
        total = np.zeros(size, np.float32)
        for word in words:
            best = total if len(word) == 1 else np.zeros(size, np.float32)
            join = np.add if best is total else np.maximum
            for term, weight in word:
                worth = np.float32(weight * IMPACT_UNIT)
                if term in self._common:
                    join(best, self._common[term][0] * worth, out=best)
                else:
                    here = at[spans[term]]
                    best[here] = join(best.take(here), self._impacts[spans[term]] * worth)
            if best is not total:
                total += best
        return Scores(total) if self._common else Scores(total, self.rows, places)


class Scores:
    """What rows are worth; those that are not mentioned are worth nothing."""

    def __init__(
        self, values: Floats, rows: Rows | None = None, places: NDArray[np.int32] | None = None
    ) -> None:
        """Values by place, the row of each place, and a number for each row, its place if it has one.

        Without these every row is its own place.
        """
        self._values = values
        self._rows = rows
        self._places = places

    def best(self, limit: int, allowed: NDArray[np.bool_] | None) -> Rows:
        """The rows with the best values, of those that have any, in no certain order.

        The best of every eighth are not better than the best of all: below them nothing has to be
        looked at.
        """
        values = self._values
        if allowed is not None:
            may = allowed if self._rows is None else allowed.take(self._rows)
            values = np.where(may, values, np.float32(0))
        some = values[::8]
        least = np.partition(some, -limit)[-limit] if 0 < limit <= len(some) else 0
        at = (values >= least if least > 0 else values).nonzero()[0]
        if len(at) > limit:
            at = at[np.argpartition(-values.take(at), limit - 1)[:limit]] if limit else at[:0]
        return at if self._rows is None else self._rows[at]

    def of(self, rows: NDArray[np.integer[Any]]) -> Floats:
        """The values of some rows."""
        if self._rows is None or self._places is None:
            values: Floats = self._values.take(rows)
            return values
        if not len(self._rows):
            return np.zeros(len(rows), np.float32)
        at = np.minimum(self._places.take(rows), len(self._rows) - 1)
        return np.where(self._rows.take(at) == rows, self._values.take(at), np.float32(0))


def together(parts: Sequence[Found]) -> Found:
    """All of these postings."""
    terms, rows, counts = zip(*parts, strict=True)
    return np.concatenate(terms), np.concatenate(rows), np.concatenate(counts)


def _side_by_side(values: NDArray[Any], spans: Sequence[slice]) -> NDArray[Any]:
    return np.concatenate([values[:0], *[values[span] for span in spans]])
