"""What a newer record has taken the place of goes below what still holds, and is still found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from memolith.interfaces import Column
from memolith.search.candidates import Candidates, Floats, QueryContext, best_first

# What is left to one whose successor is not among the hits: enough to let anything pass that says
# nearly the same, and so ranks nearly the same.
_KEPT = 0.25
_JUST_BELOW = 0.999


def demote_superseded(_query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts history just below its successor, which answers the same question as of now.

    Where the successor is not a hit, it goes below all that has a word of the question, and no further:
    who asks by the very words of what was true before must find it.
    """
    past = candidates.superseded
    if past is None:
        return candidates
    if not past.any():
        return replace(candidates, why={"superseded": past})
    score = _below_successors(_lowered(candidates, past), candidates)
    order = best_first(score, candidates.signals.keys)
    demoted = replace(candidates, score=score, held_back=True).take(order)
    return replace(demoted, why={"superseded": past[order]})


def _lowered(candidates: Candidates, past: Column) -> Floats:
    """Without most of their score, but not below what has no word of the question."""
    words, score = candidates.signals.words, candidates.score
    no_word = score[(words == 0) & ~past].max(initial=0.0) / _JUST_BELOW
    least = np.where(words > 0, np.minimum(no_word, score), 0.0)
    lowered: Floats = np.where(past, np.maximum(_KEPT * score, least), score)
    return lowered


def _below_successors(lowered: Floats, candidates: Candidates) -> Floats:
    """Those whose successor is a hit next to it; it takes the place of what was better."""
    places = {chunk.record_id: at for at, chunk in enumerate(candidates.chunks)}
    newest = {  # what holds now, and how many steps that is away
        old: (places[newer[-1]], len(newer))
        for old, newer in enumerate(candidates.successors)
        if newer and newer[-1] in places
    }
    score, result = candidates.score, lowered.copy()
    for old, (at, _) in newest.items():
        result[at] = max(result[at], score[old])
    for old, (at, steps) in newest.items():
        result[old] = min(score[old], result[at] * _JUST_BELOW**steps)
    return result
