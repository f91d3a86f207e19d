"""Who asks by the words of what was true wants what is true now, be it in other words."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np

from memolith.interfaces import RECORD, Column, Found, Signals
from memolith.results import Chunk, Filters
from memolith.search.candidates import Candidates
from memolith.search.reading import Reading


def with_successors(
    read: Candidates, ranked: Candidates, reading: Reading, filters: Filters
) -> Candidates:
    """Candidates that were read, and what took the place of some, which the question alone does not find.

    `ranked` are all there are: who is among them keeps the score that it has there.
    """
    there = {chunk.record_id for chunk in read.chunks}
    newest = {
        found.key: found
        for chunk in read.chunks
        if (found := reading.newest(chunk.record_id))
        and found.chunk.record_id not in there
        and _fits(filters, found.chunk)
    }
    if not newest:
        return read
    places = np.isin(ranked.signals.keys, list(newest)).nonzero()[0]
    known = set(ranked.signals.keys[places].tolist())
    nominated = ranked.take(places)
    others = _not_nominated([found for key, found in newest.items() if key not in known])
    return read.with_others(reading.with_texts(nominated.with_others(others), filters))


def _fits(filters: Filters, chunk: Chunk) -> bool:
    """Whether a chunk that may be seen now passes the filters."""
    dated = chunk.dated or date.min
    return (
        filters.session in (None, chunk.session)
        and filters.chat in (None, chunk.chat)
        and (filters.category is None or filters.category.casefold() == chunk.category.casefold())
        and (filters.since or date.min) <= dated <= (filters.until or date.max)
        and (filters.records is None or chunk.record_id in filters.records)
        and filters.covers(chunk.path)
    )


def _not_nominated(found: Sequence[Found]) -> Candidates:
    """Records for which nothing speaks but what they took the place of."""
    days = [item.chunk.dated.toordinal() if item.chunk.dated else 0 for item in found]
    columns: dict[str, Column] = dict.fromkeys(Signals.__slots__, np.zeros(len(found), np.int64))
    columns |= {"keys": np.array([item.key for item in found], np.int64)}
    columns |= {"kind": np.full(len(found), RECORD), "dated": np.array(days, np.int64)}
    return Candidates.of(Signals(**columns), np.zeros(len(found)))
