"""Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from memolith.search.candidates import Candidate, Situation, Stage

# Below this share of common words two chunks are different evidence, however alike their subject.
# (Plain MMR takes any overlap for repetition, and cost another project half of its all@5.)
COPY_FROM = 0.9
# So many more than are shown are compared, to take the places of copies; and never more than these.
_MORE = 20
_COMPARED = 50
_NO_MARKS = str.maketrans("", "", string.punctuation)


def diversify(mmr_lambda: float) -> Stage:
    """A stage that moves copies of better hits down; 1 leaves the order as it is."""

    def stage(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
        if mmr_lambda >= 1 or len(candidates) < 2:
            return candidates
        compared = min(_COMPARED, situation.limit + _MORE)
        top = list(candidates[:compared])
        copies = _copies(top)
        if not copies:
            return candidates
        return [*_reordered(top, copies, mmr_lambda), *candidates[compared:]]

    return stage


def _reordered(
    top: list[Candidate], copies: Mapping[frozenset[int], float], mmr_lambda: float
) -> list[Candidate]:
    best = top[0].score or 1.0
    chosen: list[Candidate] = []
    worst_copy = dict.fromkeys((hit.signals.key for hit in top), 0.0)
    while top:
        pick = max(
            top,
            key=lambda hit: (
                mmr_lambda * hit.score / best - (1 - mmr_lambda) * worst_copy[hit.signals.key]
            ),
        )
        top = [hit for hit in top if hit is not pick]
        chosen.append(pick)
        for hit in top:
            likeness = copies.get(frozenset((pick.signals.key, hit.signals.key)), 0.0)
            worst_copy[hit.signals.key] = max(worst_copy[hit.signals.key], likeness)
    return chosen


def _copies(hits: Sequence[Candidate]) -> dict[frozenset[int], float]:
    """Which of the hits are copies of each other, and how like they are; mostly none."""
    said = [(hit.signals.key, _words(hit.chunk.text.casefold())) for hit in hits]
    said.sort(key=lambda item: len(item[1]))
    copies = {}
    for at, (key, mine) in enumerate(said):
        for other_key, other in said[at + 1 :]:
            if len(mine) < COPY_FROM * len(other):
                break  # so much longer a text, and all that follow, cannot be a copy
            likeness = _likeness(mine, other)
            if likeness >= COPY_FROM:
                copies[frozenset((key, other_key))] = likeness
    return copies


def _words(text: str) -> frozenset[str]:
    """Quicker than `text.tokens.words`, and the same for a text and its copy."""
    return frozenset(text.translate(_NO_MARKS).split() or [text])


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 0.0
