"""Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memolith.search.candidates import Candidates, QueryContext, Stage

# So many more than are shown are compared, to take the places of copies; and never more than these.
MORE = 20
_COMPARED = 50
# … by so much of what they say: a text may have millions of words.
_READ_CHARS = 100_000
_SAME = 0.85  # of the score of a copy: as good
_MARKS = string.punctuation.encode()


def diversify(mmr_lambda: float, floor: float) -> Stage:
    """A stage that moves copies of better hits down; a lambda of 1 leaves the order as it is.

    Texts less alike than the floor are different evidence, however alike their subject: plain MMR, with
    a floor of 0, takes any overlap for repetition, and cost another project half of its all@5.
    """

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        if mmr_lambda >= 1 or len(candidates) < 2:
            return candidates
        compared = min(_COMPARED, query.limit + MORE)
        copies = _copies(candidates.texts[:compared], floor)
        if not copies:
            return candidates
        dated = candidates.signals.dated[:compared].tolist()
        order = _reordered(candidates.score[:compared].tolist(), dated, copies, mmr_lambda)
        order += range(len(order), len(candidates))
        return replace(candidates, held_back=True, why={}).take(order)

    return stage


def _reordered(
    scores: Sequence[float],
    dated: Sequence[int],
    copies: Mapping[frozenset[int], float],
    mmr_lambda: float,
) -> list[int]:
    """The places of the hits, each time the one with the best score that is no copy of those before.

    Of copies that are about as good the newest is taken.
    """
    best = scores[0] or 1.0
    chosen: list[int] = []
    left = dict.fromkeys(range(len(scores)), 0.0)  # how like the worst copy before it
    while left:
        pick = max(
            left, key=lambda at: mmr_lambda * scores[at] / best - (1 - mmr_lambda) * left[at]
        )
        same = [
            at
            for at in left
            if copies.get(frozenset((pick, at)), 0.0) == 1.0 and scores[at] > _SAME * scores[pick]
        ]
        if dated[pick]:
            pick = max([pick, *same], key=lambda at: dated[at])
        chosen.append(pick)
        del left[pick]
        for at in left:
            left[at] = max(left[at], copies.get(frozenset((pick, at)), 0.0))
    return chosen


def _copies(texts: Sequence[str], floor: float) -> dict[frozenset[int], float]:
    """Which of the texts are copies of each other, and how like they are; mostly none.

    Above a floor a copy is a copy, whatever was added to it; but texts with other numbers are not.
    """
    said = [(at, _words(text[:_READ_CHARS])) for at, text in enumerate(texts)]
    said.sort(key=lambda item: len(item[1]))
    copies = {}
    for number, (at, mine) in enumerate(said):
        for other_at, other in said[number + 1 :]:
            if len(mine) < floor * len(other):
                break  # so much longer a text, and all that follow, cannot be a copy
            likeness = _likeness(mine, other)
            if floor == 0:
                copies[frozenset((at, other_at))] = likeness
            elif likeness >= floor and not any(map(_has_digit, mine ^ other)):
                copies[frozenset((at, other_at))] = 1.0
    return copies


def _words(text: str) -> frozenset[bytes]:
    """Quicker than `text.tokens.words`, and the same for a text and its copy."""
    if not text.isascii():
        text = " ".join(text.casefold().split())
    data = text.encode(errors="surrogatepass").lower()  # bytes lose their marks ten times as fast
    return frozenset(data.translate(None, _MARKS).split() or [data])


def _has_digit(word: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in word)


def _likeness(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 0.0
