"""Who asks by the words of what was true wants what is true now, be it in other words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from memolith.interfaces import RECORD, Column, Found, Signals
from memolith.search.candidates import Candidates
from memolith.search.reading import Reading
from memolith.types import Filters


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
        and filters.holds_for(found.chunk)
    }
    if not newest:
        return read
    places = np.isin(ranked.signals.keys, list(newest)).nonzero()[0]
    known = set(ranked.signals.keys[places].tolist())
    nominated = ranked.take(places)
    others = _not_nominated([found for key, found in newest.items() if key not in known])
    return read.with_others(reading.with_texts(nominated.with_others(others), filters))


def _not_nominated(found: Sequence[Found]) -> Candidates:
    """Records for which nothing speaks but what they took the place of."""
    days = [item.chunk.dated.toordinal() if item.chunk.dated else 0 for item in found]
    columns: dict[str, Column] = dict.fromkeys(Signals.__slots__, np.zeros(len(found), np.int64))
    columns |= {"keys": np.array([item.key for item in found], np.int64)}
    columns |= {"kind": np.full(len(found), RECORD), "dated": np.array(days, np.int64)}
    return Candidates.of(Signals(**columns), np.zeros(len(found)))
