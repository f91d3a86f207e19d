"""What speaks for a chunk, as votes: its own words and meaning, and those of what it belongs to.

Ranks alone forget how much better the best is. So after the fusion has chosen the candidates, each
raw signal becomes a vote from 0 to 1, by the best value this question has, and the score is the mean
of the votes. No vote has a weight of its own; only that of a chat or file counts half for each of its
chunks. See benchmarks/README.md for what each is worth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from memolith.search.candidates import best_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from memolith.search.candidates import Candidate, Situation

# How much a vote of the chat or file counts for one of its chunks.
GROUP = 0.5
# What a person said or wrote comes before what an assistant made of it …
NOT_THE_ASSISTANT = 0.2
# A cosine must be this far above the usual one to count fully: of some that are all far away, the
# nearest is not near.
_NEAR = 0.2
# … except where the question is about what the assistant said.
_TOLD = re.compile(
    r"\byou(?:'d|'ve| had| have)?\s+(?:\w+\s+){0,2}?(?:said|told|recommended|suggested|mentioned"
    r"|provided|gave|listed|explained|described|advised|wrote|proposed|shared)\b"
    r"|\bdid you\s+(?:\w+\s+)?(?:say|tell|recommend|suggest|mention|provide|give|list|explain"
    r"|describe|advise|write|propose|share)\b"
    r"|\b(?:me|nos) (?:dijiste|recomendaste|sugeriste|explicaste|mencionaste|propusiste|contaste)\b",
    re.IGNORECASE,
)


def weigh(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """A stage that lets the signals of each candidate vote."""
    if not candidates:
        return candidates
    raw = [hit.signals for hit in candidates]
    usual = situation.usual_meaning
    words = shares([found.words for found in raw])
    meaning = shares([found.meaning - usual for found in raw], _NEAR)
    around = shares([found.group_words for found in raw])
    by_user = shares([found.group_user_words for found in raw])
    begins = shares([found.group_title and found.group_title - usual for found in raw], _NEAR)
    preferred = preference(situation.question)
    result = []
    for hit, *values in zip(candidates, words, meaning, around, by_user, begins, strict=True):
        group = (values[2], *values[3 : 3 + (hit.chunk.kind == "turn")], values[4])
        if hit.chunk.kind == "record":
            group = ()  # records stand for themselves
        votes = (values[0], values[1])
        bonus = preferred if hit.chunk.role != "assistant" else 0.0
        why = dict(zip(("words", "meaning", "chat", "user", "title"), values, strict=True))
        result.append(hit.voted(mean_vote(votes, group) + bonus, votes, group, why))
    return best_first(result)


def mean_vote(votes: tuple[float, ...], group: tuple[float, ...]) -> float:
    """The mean of all votes, those of the group at half their weight."""
    return (sum(votes) + GROUP * sum(group)) / (len(votes) + GROUP * len(group))


def preference(question: str) -> float:
    """What is added for not being the words of an assistant."""
    return 0.0 if _TOLD.search(question) else NOT_THE_ASSISTANT


def shares(values: Sequence[float] | NDArray[np.floating[Any]], least: float = 0.0) -> list[float]:
    """Each value as a share of the best, or of `least` if even that is smaller; from 0 to 1.

    >>> shares([4.0, 1.0, -2.0])
    [1.0, 0.25, 0.0]
    """
    array = np.nan_to_num(np.asarray(values, np.float64), posinf=0.0)
    best = max(least, float(array.max(initial=0.0)))
    if best <= 0:
        return [0.0] * len(array)
    found: list[float] = (np.maximum(array, 0.0) / best).tolist()
    return found
