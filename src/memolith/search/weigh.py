"""What speaks for a chunk, added up: its own words and meaning, and those of what it belongs to.

Ranks alone forget how much better the best is. So after the fusion has chosen the candidates, each
raw signal is brought to the range 0 to 1 by the best value this question has, and the signals are
added. The weights are round numbers from a flat optimum; see benchmarks/README.md.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate, Situation

# Own words and own meaning count 1 each. Of the group (the chat, the file) each of three signals
# counts a quarter: all its words, the user's own words in it, how near its beginning is.
GROUP = 0.25
# What a person said comes before what an assistant made of it …
USER = 0.4
# A cosine must be this far above the usual one to count fully: of some that are all far away, the
# nearest is not near.
_NEAR = 0.2
# … except where the question is about what the assistant said.
_TOLD = re.compile(
    r"\byou(?:'d|'ve| had| have)?\s+(?:\w+\s+){0,2}?(?:said|told|recommend\w*|suggest\w*"
    r"|mention\w*|provid\w*|gave|list\w*|explain\w*|describ\w*|advised|wrote|propos\w*|shared)\b"
    r"|\bremind me\b|\bwe (?:talked|discussed)\b"
    r"|\b(?:me|nos) (?:dijiste|recomendaste|sugeriste|explicaste|mencionaste|propusiste|contaste)\b"
    r"|\brecu[eé]rdame\b|\bhablamos\b",
    re.IGNORECASE,
)


def weigh(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stage that gives each candidate the sum of its signals as its score."""
    if not candidates:
        return candidates
    usual = situation.usual_meaning
    found = [candidate.signals for candidate in candidates]
    shares = zip(
        _shares([item.words for item in found]),
        _shares([item.meaning - usual for item in found], _NEAR),
        _shares([item.group_words for item in found]),
        _shares([item.group_user_words for item in found]),
        _shares([item.group_title and item.group_title - usual for item in found], _NEAR),
        strict=True,
    )
    user = 0.0 if _TOLD.search(situation.question) else USER
    weighed = []
    for hit, (words, meaning, group_words, group_user_words, title) in zip(
        candidates, shares, strict=True
    ):
        group = group_words + group_user_words + title
        score = words + meaning + GROUP * group + user * hit.signals.by_user
        weighed.append(hit.scored(score, group))
    return sorted(weighed, key=lambda hit: (-hit.score, -hit.signals.key))


def _shares(values: Sequence[float], least: float = 0.0) -> list[float]:
    """Each value as a share of the best one, or of `least` if even that is smaller; from 0 to 1."""
    best = max(least, *values)
    return [max(0.0, value / best) for value in values] if best > 0 else [0.0] * len(values)
