"""From all segments the chunks that may answer, each with everything that speaks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from memolith.index.groups import USER, GroupSums, group_bm25
from memolith.index.live import Nominees, weighted
from memolith.interfaces import Nomination, Signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

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
    choices = weighted(words, segments)
    found = Nominees.together([live.nominate(choices, vector, limit, filters) for live in segments])
    words_rank = _ranks(found.words, found.keys, limit)
    meaning_rank = _ranks(found.meaning, found.keys, limit)
    kept = np.flatnonzero((words_rank > 0) | (meaning_rank > 0))
    groups = np.unique(found.grouped[kept])
    groups = groups[groups > 0]
    terms = sorted({term for word in choices for term in word})
    sums = GroupSums(groups, terms)
    for live in segments:
        sums.add(live.segment, vector)
    whole = group_bm25(sums.counts, sums.lengths, choices, terms)
    mine = group_bm25(sums.user_counts, sums.user_lengths, choices, terms)
    return Nomination(
        [
            Signals(
                key=int(found.keys[row]),
                words=float(found.words[row]),
                meaning=float(found.meaning[row]),
                words_rank=int(words_rank[row]),
                meaning_rank=int(meaning_rank[row]),
                by_user=bool(found.role[row] == USER),
                **_of_group(int(found.grouped[row]), groups, whole, mine, sums.titles),
            )
            for row in kept
        ],
        _usual_meaning(segments, vector),
    )


def _ranks(values: Floats, keys: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """The place of each value, from 1, best first; 0 for what is not among the best.

    A value of 0 is no value: no word in common, no vector. Equal values: the newer chunk first.
    """
    order = np.lexsort((-keys, -values))[:limit]
    order = order[values[order] != 0]
    ranks = np.zeros(len(values), np.int64)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks


def _of_group(
    group: int, groups: NDArray[np.int64], whole: Floats, mine: Floats, titles: Floats
) -> dict[str, float]:
    if not group:
        return {}
    at = int(np.searchsorted(groups, group))
    return {
        "group_words": float(whole[at]),
        "group_user_words": float(mine[at]),
        "group_title": float(titles[at]),
    }


def _usual_meaning(segments: Sequence[LiveSegment], vector: Vectors | None) -> float:
    count = sum(len(live.segment) for live in segments)
    if vector is None or not count:
        return 0.0
    return float(sum(live.total_vector @ vector for live in segments)) / count
