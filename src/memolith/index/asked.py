"""The words asked for as the index knows them: terms by number, and how much each of them tells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from memolith.index.postings import term_hash
from memolith.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memolith.index.hidden import Hidden
    from memolith.index.segment import Segment

    Words = list[list[tuple[int, float]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """For each word its terms, weighted by their idf; a word that stands nowhere has no terms.

    A term tells something else of a chat than of a turn: one that is in every chat, if only once,
    tells nothing about chats.
    """

    terms: NDArray[np.uint64]  # of all words, each once
    in_chunks: Words  # terms by their place among all
    in_groups: Words
    rarity: list[float]  # the idf of each word itself, not of what else it may be called


def asked_of(
    words: Sequence[Mapping[str, float]], segments: Sequence[Segment], hidden: Sequence[Hidden] = ()
) -> Asked:
    """Look the terms up in all segments; what is hidden counts nowhere."""
    hashed = [{term_hash(term): weight for term, weight in word.items()} for word in words]
    numbers = sorted({term for word in hashed for term in word})
    wanted = np.array(numbers, "<u8")
    rows, groups = found = np.zeros((2, len(wanted)))
    for segment in segments:
        in_rows, in_groups = segment.postings.frequencies(wanted)
        rows += in_rows
        groups += in_groups
    total = sum(map(len, segments))
    all_groups = sum(len(segment.groups.ids) for segment in segments)
    for some in hidden:
        in_rows, in_groups = some.frequencies(wanted)
        rows -= in_rows
        groups -= np.minimum(in_groups, groups)
        total -= len(some.rows)
        all_groups -= some.whole_groups
    of_chunks, of_groups = _idf(found, np.array([[total], [all_groups]])).tolist()
    place = {term: at for at, term in enumerate(numbers)}
    known = rows.nonzero()[0]
    unknown = math.log1p((total + 0.5) / 0.5)
    among_known = dict(zip(known.tolist(), range(len(known)), strict=True))
    by_place = [[(place[term], weight) for term, weight in word.items()] for word in hashed]
    return Asked(
        terms=wanted[known],
        in_chunks=_weighted(by_place, of_chunks, among_known),
        in_groups=_weighted(by_place, of_groups, among_known),
        rarity=[
            min((of_chunks[at] for at, weight in word if weight == 1), default=unknown)
            for word in by_place
        ],
    )


def _weighted(words: Words, told: Sequence[float], known: Mapping[int, int]) -> Words:
    return [
        [(known[at], weight * told[at]) for at, weight in word if at in known] for word in words
    ]


def _idf(found: NDArray[np.float64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.log1p((np.maximum(total - found, 0) + 0.5) / (found + 0.5))
    return result
