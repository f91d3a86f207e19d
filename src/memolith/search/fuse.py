"""Reciprocal rank fusion: agreement between two rankings counts, their scales do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memolith.interfaces import Scored

# The constant of the original paper; between 20 and 100 our benchmark moves by less than its noise.
RRF_K = 60


def fuse(rankings: Mapping[str, Sequence[Scored]], k: int = RRF_K) -> list[tuple[int, float]]:
    """Keys with their fused scores, best first: 1 / (k + rank) from every ranking a key is in.

    Equal scores keep the newest first. Empty rankings change nothing.
    """
    scores: dict[int, float] = {}
    for ranking in rankings.values():
        for rank, hit in enumerate(ranking, 1):
            scores[hit.key] = scores.get(hit.key, 0.0) + 1 / (k + rank)
    return sorted(scores.items(), key=lambda item: (-item[1], -item[0]))
