"""The words asked for as the index knows them: terms by number, and how much each of them tells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memolith.index.hidden import Hidden
from memolith.index.matches import Matches
from memolith.index.postings import term_hash
from memolith.index.segment import Segment

Words = list[list[tuple[int, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """For each word its terms, weighted by their idf; a word that stands nowhere has no terms.

    A term tells something else of a chat than of a turn: one that is in every chat, if only once,
    tells nothing about chats.
    """

    terms: NDArray[np.uint64]  # of all words, each once, if it stands anywhere
    in_chunks: Words  # terms by their place among all
    in_groups: Words
    rarity: list[float]  # the idf of each word itself, not of what else it may be called


def asked_of(
    words: Sequence[Mapping[str, float]], segments: Sequence[tuple[Segment, Hidden | None]]
) -> tuple[Asked, list[Matches]]:
    """Look the terms up in all segments, and where in each they stand; what is hidden counts nowhere."""
    hashed = [{term_hash(term): weight for term, weight in word.items()} for word in words]
    numbers = sorted({term for word in hashed for term in word})
    wanted = np.array(numbers, "<u8")
    rows, groups = found = np.zeros((2, len(wanted)))
    total = all_groups = 0
    for segment, _ in segments:
        in_rows, in_groups = segment.postings.frequencies(wanted)
        rows += in_rows
        groups += in_groups
        total += len(segment)
        all_groups += len(segment.groups.ids)
    present = rows.nonzero()[0]
    terms = wanted[present]
    matches = [Matches(segment.postings, terms, segment.common) for segment, _ in segments]
    for matched, (_, hidden) in zip(matches, segments, strict=True):
        if hidden is not None:
            in_rows, in_groups = hidden.frequencies(matched, len(present))
            rows[present] -= in_rows
            groups[present] -= np.minimum(in_groups, groups[present])
            total -= len(hidden.rows)
            all_groups -= hidden.whole_groups
    of_chunks, of_groups = _idf(found, np.array([[total], [all_groups]])).tolist()
    place = {term: at for at, term in enumerate(numbers)}
    unknown = math.log1p((total + 0.5) / 0.5)
    shown = {at: number for number, at in enumerate(present.tolist()) if rows[at]}
    by_place = [[(place[term], weight) for term, weight in word.items()] for word in hashed]
    asked = Asked(
        terms=terms,
        in_chunks=_weighted(by_place, of_chunks, shown),
        in_groups=_weighted(by_place, of_groups, shown),
        rarity=[
            min((of_chunks[at] for at, weight in word if weight == 1), default=unknown)
            for word in by_place
        ],
    )
    return asked, matches


def _weighted(words: Words, told: Sequence[float], shown: Mapping[int, int]) -> Words:
    return [
        [(shown[at], weight * told[at]) for at, weight in word if at in shown] for word in words
    ]


def _idf(found: NDArray[np.float64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.log1p((np.maximum(total - found, 0) + 0.5) / (found + 0.5))
    return result
