"""The words asked for as the index knows them: terms by number, and how much each of them tells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from memolith.index.postings import term_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from memolith.index.segment import Segment

    Weights = list[dict[int, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """For each word its terms, weighted by their idf; a word that stands nowhere has no terms.

    A term tells something else of a chat than of a turn: one that is in every chat, if only once,
    tells nothing about chats.
    """

    in_chunks: Weights
    in_groups: Weights
    rarity: list[float]  # the idf of each word itself, not of what else it may be called
    terms: list[int]  # of all words, each once


def asked_of(words: Sequence[Mapping[str, float]], segments: Sequence[Segment]) -> Asked:
    """Look the terms up in all segments."""
    hashed = [{term_hash(term): weight for term, weight in word.items()} for word in words]
    numbers = sorted({term for word in hashed for term in word})
    wanted = np.array(numbers, "<u8")
    rows, groups = np.zeros(len(wanted)), np.zeros(len(wanted))
    for segment in segments:
        in_rows, in_groups = segment.postings.frequencies(wanted)
        rows += in_rows
        groups += in_groups
    total = sum(map(len, segments))
    of_chunks = dict(zip(numbers, _idf(rows, total).tolist(), strict=True))
    all_groups = sum(len(segment.groups.ids) for segment in segments)
    of_groups = dict(zip(numbers, _idf(groups, all_groups).tolist(), strict=True))
    known = {term for term, count in zip(numbers, rows.tolist(), strict=True) if count}
    unknown = float(_idf(np.zeros(1), total)[0])
    return Asked(
        in_chunks=_weighted(hashed, of_chunks, known),
        in_groups=_weighted(hashed, of_groups, known),
        rarity=[
            min((of_chunks[term] for term in word if word[term] == 1), default=unknown)
            for word in hashed
        ],
        terms=sorted(known),
    )


def _weighted(hashed: Weights, told: Mapping[int, float], known: set[int]) -> Weights:
    return [
        {term: weight * told[term] for term, weight in word.items() if term in known}
        for word in hashed
    ]


def _idf(found: NDArray[np.float64], total: int) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.log1p((np.maximum(total - found, 0) + 0.5) / (found + 0.5))
    return result
