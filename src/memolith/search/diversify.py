"""Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memolith.search.candidates import Candidates, QueryContext, Stage

# Below this share of common words two chunks are different evidence, however alike their subject.
# (Plain MMR takes any overlap for repetition, and cost another project half of its all@5.)
COPY_FROM = 0.9
# So many more than are shown are compared, to take the places of copies; and never more than these.
MORE = 20
_COMPARED = 50
# … by so much of what they say: a text may have millions of words.
_READ_CHARS = 100_000
_MARKS = string.punctuation.encode()


def diversify(mmr_lambda: float) -> Stage:
    """A stage that moves copies of better hits down; 1 leaves the order as it is."""

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        if mmr_lambda >= 1 or len(candidates) < 2:
            return candidates
        compared = min(_COMPARED, query.limit + MORE)
        copies = _copies(candidates.texts[:compared])
        if not copies:
            return candidates
        order = _reordered(candidates.score[:compared].tolist(), copies, mmr_lambda)
        order += range(len(order), len(candidates))
        return replace(candidates, held_back=True, why={}).take(order)

    return stage


def _reordered(
    scores: Sequence[float], copies: Mapping[frozenset[int], float], mmr_lambda: float
) -> list[int]:
    """The places of the hits, each time the one with the best score that is no copy of those before."""
    best = scores[0] or 1.0
    chosen: list[int] = []
    left = dict.fromkeys(range(len(scores)), 0.0)  # how like the worst copy before it
    while left:
        pick = max(
            left, key=lambda at: mmr_lambda * scores[at] / best - (1 - mmr_lambda) * left[at]
        )
        chosen.append(pick)
        del left[pick]
        for at in left:
            left[at] = max(left[at], copies.get(frozenset((pick, at)), 0.0))
    return chosen


def _copies(texts: Sequence[str]) -> dict[frozenset[int], float]:
    """Which of the texts are copies of each other, and how like they are; mostly none."""
    said = [(at, _words(text[:_READ_CHARS])) for at, text in enumerate(texts)]
    said.sort(key=lambda item: len(item[1]))
    copies = {}
    for number, (at, mine) in enumerate(said):
        for other_at, other in said[number + 1 :]:
            if len(mine) < COPY_FROM * len(other):
                break  # so much longer a text, and all that follow, cannot be a copy
            likeness = _likeness(mine, other)
            if likeness >= COPY_FROM:
                copies[frozenset((at, other_at))] = likeness
    return copies


def _words(text: str) -> frozenset[bytes]:
    """Quicker than `text.tokens.words`, and the same for a text and its copy."""
    if not text.isascii():
        text = " ".join(text.casefold().split())
    data = text.encode(errors="surrogatepass").lower()  # bytes lose their marks ten times as fast
    return frozenset(data.translate(None, _MARKS).split() or [data])


def _likeness(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 0.0
