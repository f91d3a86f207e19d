"""From all segments the chunks that may answer, each with everything that speaks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memolith.index.asked import Asked, asked_of
from memolith.index.groups import FILES, GroupSums, group_bm25
from memolith.index.hidden import Hidden
from memolith.index.live import LiveSegment, Nominees, NumberedFilters
from memolith.index.matches import Matches
from memolith.index.nearest import distinct
from memolith.interfaces import PROSE, RECORD, TURN, Nomination, Signals, Vectors

Floats = NDArray[np.float32]

# A product of the same two vectors differs in the seventh digit by what else is multiplied with them:
# that must not decide between copies, least of all if it is a secret.
_DIGITS = 5


def rank_segments(
    segments: Sequence[LiveSegment],
    words: Sequence[Mapping[str, float]],
    vector: Vectors | None,
    limit: int,
    kinds: Sequence[NumberedFilters],
) -> list[Nomination]:
    """Of each kind the best `limit` by words and the nearest `limit` by meaning, with all their signals.

    It is one pass for all kinds, and what speaks for a group is added up once.
    """
    hidden = [live.hidden(kinds) for live in segments]
    asked, matches = asked_of(
        words, [(live.segment, rows) for live, rows in zip(segments, hidden, strict=True)]
    )
    in_segments = [
        live.score_rows(matched.scores(asked.in_chunks, live.places), vector, limit, kinds)
        if words or vector is not None
        else [live.newest(limit, filters) for filters in kinds]
        for live, matched in zip(segments, matches, strict=True)
    ]
    found = [_Ranked.of(parts, limit) for parts in zip(*in_segments, strict=True)]
    shown = list(zip(segments, matches, hidden, strict=True))
    around = _around(shown, asked, [ranked.nominees.grouped for ranked in found], vector)
    chunks = _count(segments, hidden)
    usual = _sum_of_meaning(segments, hidden, vector) / chunks if chunks else 0.0
    return [
        Nomination(ranked.signals(*of_groups), usual, chunks, asked.rarity)
        for ranked, of_groups in zip(found, around, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class _Ranked:
    """The nominees of one kind, with their place in each ranking."""

    nominees: Nominees
    words_rank: NDArray[np.int64]
    meaning_rank: NDArray[np.int64]

    @classmethod
    def of(cls, parts: Sequence[Nominees], limit: int) -> _Ranked:
        """Those of all segments in one order."""
        found = Nominees.together(parts)
        np.round(found.meaning, _DIGITS, out=found.meaning)
        words = _ranks(found.words, found.keys, limit)
        meaning = _ranks(found.meaning, found.keys, limit)
        kept = (words | meaning).nonzero()[0]
        if len(kept) == len(words):
            return cls(found, words, meaning)
        return cls(found.take(kept), words[kept], meaning[kept])

    def signals(self, whole: Floats, mine: Floats, titles: Floats) -> Signals:
        """With what speaks for the group of each."""
        found = self.nominees
        in_chat = (found.grouped > 0) & (found.grouped < FILES)
        return Signals(
            keys=found.keys,
            words=found.words,
            meaning=found.meaning,
            words_rank=self.words_rank,
            meaning_rank=self.meaning_rank,
            group_words=whole,
            group_user_words=mine,
            group_title=titles,
            kind=np.where(found.grouped == 0, RECORD, np.where(in_chat, TURN, PROSE)),
            role=found.role,
            dated=found.dated,
            chat=np.where(in_chat, found.grouped, 0),
            record=found.record,
        )


def _around(
    segments: Sequence[tuple[LiveSegment, Matches, Hidden | None]],
    asked: Asked,
    kinds: Sequence[NDArray[np.int64]],
    vector: Vectors | None,
) -> list[list[Floats]]:
    """For each chunk what speaks for its group: its words, those of the user, how it begins.

    It is added up for the groups of all kinds at once, and judged among those of the same kind.
    """
    of_kinds = [_groups(grouped) for grouped in kinds]
    groups = of_kinds[0] if len(kinds) == 1 else distinct(np.concatenate(of_kinds))
    sums = GroupSums(groups, len(asked.terms))
    for live, matches, hidden in segments:
        sums.add(live.segment, matches, vector, hidden)
    found = []
    for grouped, here in zip(kinds, of_kinds, strict=True):
        at = groups.searchsorted(here)
        scores = group_bm25(sums.counts[:, :, at], sums.lengths[:, at], asked.in_groups)
        places = here.searchsorted(grouped)
        values = (*scores, sums.titles[at])
        found.append([_of_groups(value, places, grouped) for value in values])
    return found


def _groups(grouped: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those that some chunks belong to, each once; 0 is none."""
    found = distinct(grouped)
    return found[found > 0]


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


def _sum_of_meaning(
    segments: Sequence[LiveSegment], hidden: Sequence[Hidden | None], vector: Vectors | None
) -> float:
    """The sum of all cosines."""
    if vector is None:
        return 0.0
    total = float(sum(live.segment.nearest.total @ vector for live in segments))
    return total - sum(float(rows.total @ vector) for rows in hidden if rows)


def _count(segments: Sequence[LiveSegment], hidden: Sequence[Hidden | None]) -> int:
    return sum(len(live.segment) for live in segments) - sum(
        len(rows.rows) for rows in hidden if rows
    )
