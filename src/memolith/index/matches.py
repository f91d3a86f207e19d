"""Where the terms of a question stand in one segment, and what that is worth for its rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from memolith.index.postings import IMPACT_UNIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memolith.index.postings import Postings

    Floats = NDArray[np.float32]
    Rows = NDArray[np.intp]
    # For each word its terms, by their place among all terms of the question, and their weights.
    Words = Sequence[Sequence[tuple[int, float]]]


class Matches:
    """The postings of all terms of a question, those of one term behind those of another.

    They are few against the rows of a segment: what is added up here never touches all of these.
    """

    def __init__(self, postings: Postings, terms: NDArray[np.uint64]) -> None:
        """Pick them out."""
        starts, stops = postings.spans(terms)
        spans = list(map(slice, starts.tolist(), stops.tolist()))
        self.sizes = stops - starts  # of each term
        self.rows: Rows = _side_by_side(postings.rows, spans).astype(np.intp)
        self.counts = _side_by_side(postings.counts, spans)
        self._impacts = _side_by_side(postings.impacts, spans)

    def scores(self, words: Words, places: NDArray[np.int32]) -> Scores:
        """BM25 of every row that has a term. Weights include the idf; of a word its best term counts.

        `places` has a number for every row of the segment, no matter which.
        """
        places[self.rows] = np.arange(len(self.rows), dtype=np.int32)  # one of them for each row
        at = places.take(self.rows)
        bounds = [0, *np.cumsum(self.sizes).tolist()]
        spans = [slice(*bound) for bound in pairwise(bounds)]
        total = np.zeros(len(at), np.float32)
        for word in words:
            values = [
                self._impacts[spans[term]] * np.float32(weight * IMPACT_UNIT)
                for term, weight in word
            ]
            if len(word) == 1:
                total[at[spans[word[0][0]]]] += values[0]
                continue
            best = np.zeros(len(at), np.float32)
            for (term, _), value in zip(word, values, strict=True):
                here = at[spans[term]]
                best[here] = np.maximum(best.take(here), value)
            total += best
        return Scores(self.rows, total, places, np.flatnonzero(at == np.arange(len(at))))


class Scores:
    """What rows are worth; those that are not mentioned are worth nothing."""

    def __init__(
        self,
        rows: Rows,
        values: Floats,
        places: NDArray[np.int32],
        once: NDArray[np.integer[Any]],
    ) -> None:
        """The value of a row stands at its place, and `once` are all places that have one."""
        self._rows = rows
        self._values = values
        self._places = places
        self._once = once

    def best(self, limit: int, allowed: NDArray[np.bool_] | None) -> Rows:
        """The rows with the best values, in no certain order."""
        at = self._once
        if allowed is not None:
            at = at[allowed.take(self._rows.take(at))]
        at = at[self._values.take(at) != 0]
        if len(at) > limit:
            at = at[np.argpartition(-self._values.take(at), limit - 1)[:limit]] if limit else at[:0]
        best: Rows = self._rows.take(at)
        return best

    def of(self, rows: NDArray[np.integer[Any]]) -> Floats:
        """The values of some rows."""
        if not len(self._rows):
            return np.zeros(len(rows), np.float32)
        at = np.minimum(self._places.take(rows), len(self._rows) - 1)
        return np.where(self._rows.take(at) == rows, self._values.take(at), np.float32(0))


def _side_by_side(values: NDArray[Any], spans: Sequence[slice]) -> NDArray[Any]:
    return np.concatenate([values[:0], *(values[span] for span in spans)])
