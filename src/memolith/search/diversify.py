"""Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation, Stage

# Below this share of common words two chunks are different evidence, however alike their subject.
# (Plain MMR takes any overlap for repetition, and cost another project half of its all@5.)
COPY_FROM = 0.9
# Only this many are compared: the rest is too far down to be shown.
_COMPARED = 50


def diversify(mmr_lambda: float) -> Stage:
    """A stage that moves copies of better hits down; 1 leaves the order as it is."""

    def stage(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        if mmr_lambda >= 1 or len(candidates) < 2:
            return candidates
        top, rest = list(candidates[:_COMPARED]), list(candidates[_COMPARED:])
        best = top[0].score or 1.0
        said = {hit.signals.key: frozenset(words(hit.chunk.text)) for hit in top}
        chosen: list[Candidate] = []
        worst_copy = dict.fromkeys(said, 0.0)
        while top:
            pick = max(
                top,
                key=lambda hit: (
                    mmr_lambda * hit.score / best - (1 - mmr_lambda) * worst_copy[hit.signals.key]
                ),
            )
            top.remove(pick)
            chosen.append(pick)
            for hit in top:
                likeness = _likeness(said[pick.signals.key], said[hit.signals.key])
                if likeness >= COPY_FROM:
                    worst_copy[hit.signals.key] = max(worst_copy[hit.signals.key], likeness)
        return [*chosen, *rest]

    return stage


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    union = len(one | other)
    return len(one & other) / union if union else 0.0
