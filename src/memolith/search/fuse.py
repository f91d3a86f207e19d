"""Reciprocal rank fusion: agreement between two rankings counts, their scales do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memolith.interfaces import Signals

# The constant of the original paper; between 20 and 100 our benchmark moves by less than its noise.
RRF_K = 60


def fused(signals: Signals, k: int = RRF_K) -> float:
    """1 / (k + rank) from every ranking the chunk is in."""
    by_words = 1 / (k + signals.words_rank) if signals.words_rank else 0.0
    by_meaning = 1 / (k + signals.meaning_rank) if signals.meaning_rank else 0.0
    return by_words + by_meaning


def fuse(nominated: Iterable[Signals], k: int = RRF_K) -> list[Signals]:
    """The chunks by their fused ranks, best first; equal ones with the newest first."""
    return sorted(nominated, key=lambda signals: (-fused(signals, k), -signals.key))
