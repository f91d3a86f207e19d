"""From all segments the chunks that may answer, each with everything that speaks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memolith.index.asked import asked_of
from memolith.index.groups import FILES, GroupSums, group_bm25
from memolith.index.live import Nominees
from memolith.index.matches import Matches
from memolith.index.nearest import distinct
from memolith.interfaces import PROSE, RECORD, TURN, Nomination, Signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memolith.index.asked import Asked
    from memolith.index.live import LiveSegment, NumberedFilters
    from memolith.interfaces import Vectors

    Floats = NDArray[np.float32]


def nominate(
    segments: Sequence[LiveSegment],
    words: Sequence[Mapping[str, float]],
    vector: Vectors | None,
    limit: int,
    filters: NumberedFilters,
) -> Nomination:
    """The best `limit` by words and the nearest `limit` by meaning, with all their signals."""
    asked = asked_of(words, [live.segment for live in segments])
    matches = [Matches(live.segment.postings, asked.terms) for live in segments]
    found = Nominees.together(
        [
            live.nominate(in_segment.scores(asked.in_chunks, live.places), vector, limit, filters)
            if words or vector is not None
            else live.newest(limit, filters)
            for live, in_segment in zip(segments, matches, strict=True)
        ]
    )
    words_rank = _ranks(found.words, found.keys, limit)
    meaning_rank = _ranks(found.meaning, found.keys, limit)
    kept = np.flatnonzero((words_rank > 0) | (meaning_rank > 0))
    found = found.take(kept)
    whole, mine, titles = _around(segments, matches, asked, found.grouped, vector)
    in_chat = (found.grouped > 0) & (found.grouped < FILES)
    signals = Signals(
        keys=found.keys,
        words=found.words,
        meaning=found.meaning,
        words_rank=words_rank[kept],
        meaning_rank=meaning_rank[kept],
        group_words=whole,
        group_user_words=mine,
        group_title=titles,
        kind=np.where(found.grouped == 0, RECORD, np.where(in_chat, TURN, PROSE)),
        role=found.role,
        dated=found.dated,
        chat=np.where(in_chat, found.grouped, 0),
        record=found.record,
    )
    return Nomination(
        signals,
        rarity=asked.rarity,
        usual_meaning=_usual_meaning(segments, vector),
        chunks=sum(len(live.segment) for live in segments),
    )


def _around(
    segments: Sequence[LiveSegment],
    matches: Sequence[Matches],
    asked: Asked,
    grouped: NDArray[np.int64],
    vector: Vectors | None,
) -> list[Floats]:
    """For each chunk what speaks for its group: its words, those of the user, how it begins."""
    groups = distinct(grouped)
    groups = groups[groups > 0]
    sums = GroupSums(groups, len(asked.terms))
    for live, in_segment in zip(segments, matches, strict=True):
        sums.add(live.segment, in_segment, vector)
    scores = group_bm25(sums.counts, sums.lengths, asked.in_groups)
    at = np.searchsorted(groups, grouped)
    return [_of_groups(values, at, grouped) for values in (*scores, sums.titles)]


def _ranks(values: Floats, keys: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The place of each value, from 1, best first; 0 for what is not among the best.

    A value of 0 is no value: no word in common, no vector. Equal values: the newer chunk first.
    """
    order = np.lexsort((-keys, -values))[:limit]
    order = order[values[order] != 0]
    ranks = np.zeros(len(values), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _of_groups(values: Floats, at: NDArray[np.int64], grouped: NDArray[np.int64]) -> Floats:
    """The value of each chunk's group; 0 for those that belong to none."""
    if not len(values):
        return np.zeros(len(at), np.float32)
    return np.where(grouped > 0, values[np.minimum(at, len(values) - 1)], np.float32(0))


def _usual_meaning(segments: Sequence[LiveSegment], vector: Vectors | None) -> float:
    count = sum(len(live.segment) for live in segments)
    if vector is None or not count:
        return 0.0
    return float(sum(live.segment.nearest.total @ vector for live in segments)) / count
