"""What speaks for a chunk, as votes: its own words and meaning, and those of what it belongs to.

Ranks alone forget how much better the best is. So after the fusion has chosen the candidates, each
raw signal becomes a vote from 0 to 1, by the best value this question has, and the score is the mean
of the votes. Words and meaning weigh the same unless a setting says otherwise; a vote of a chat or
file counts half for each of its chunks. See benchmarks/README.md for what each is worth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memolith.interfaces import ASSISTANT, RECORD, TURN, Column
from memolith.search.candidates import Candidates, Floats, QueryContext

# What a person said or wrote comes before what an assistant made of it …
NOT_THE_ASSISTANT = 0.2
# A cosine must be this far above the usual one to count fully: of some that are all far away, the
# nearest is not near.
_NEAR = 0.2
_VOTES = ("words", "meaning", "chat", "user", "title")
_NOTHING = 1e-300  # more than 0, to divide by
_LEAST = np.array([[0.0], [_NEAR], [0.0], [0.0], [_NEAR]])
# … except where the question is about what the assistant said.
_TOLD = re.compile(
    r"\byou(?:'d|'ve| had| have)?\s+(?:\w+\s+){0,2}?(?:said|told|recommended|suggested|mentioned"
    r"|provided|gave|listed|explained|described|advised|wrote|proposed|shared)\b"
    r"|\bdid you\s+(?:\w+\s+)?(?:say|tell|recommend|suggest|mention|provide|give|list|explain"
    r"|describe|advise|write|propose|share)\b"
    r"|\b(?:me|nos) (?:dijiste|recomendaste|sugeriste|explicaste|mencionaste|propusiste|contaste)\b",
    re.IGNORECASE,
)


def weigh(query: QueryContext, candidates: Candidates) -> Candidates:
    """Let the signals of each candidate vote."""
    raw, usual = candidates.signals, query.mean_similarity
    meant = 1 - query.exact
    signals = np.empty((len(_VOTES), len(candidates)))
    signals[0] = raw.words
    signals[1] = raw.meaning - usual
    signals[2] = raw.group_words
    signals[3] = raw.group_user_words
    signals[4] = (raw.group_title - usual) * (raw.group_title != 0)
    shared = shares(signals, _LEAST)
    votes = dict(zip(_VOTES, shared, strict=True))
    grouped = raw.kind != RECORD  # records stand for themselves
    in_chat = raw.kind == TURN
    voted = replace(
        candidates,
        votes=shared[:2].T,
        weights=np.array([1, meant]),
        group_votes=grouped * (votes["chat"] + meant * votes["title"]) + in_chat * votes["user"],
        group_voters=(1 + meant) * grouped + in_chat,
    )
    bonus = preference(query.question) * (raw.role != ASSISTANT)
    return voted.scored(voted.mean_vote() + bonus, votes)


def preference(question: str) -> float:
    """What is added for not being the words of an assistant."""
    return 0.0 if _TOLD.search(question) else NOT_THE_ASSISTANT


def max_score(question: str, lift: Floats, *, by_votes: bool = True) -> float:
    """The score of a chunk that is best in everything; a hit is shown with its share of this, from 0 to 1.

    `lift` is what days have added to each candidate.
    """
    return 1.0 + by_votes * preference(question) + float(lift.max(initial=0.0))


def shares(values: Column | Floats | Sequence[float], least: Floats | float = 0.0) -> Floats:
    """Each value of a row as a share of its best, or of `least` if even that is smaller; from 0 to 1.

    >>> shares([4.0, 1.0, -2.0]).tolist()
    [1.0, 0.25, 0.0]
    """
    array = np.maximum(values, 0.0)
    best = array.max(axis=-1, keepdims=True, initial=0.0)
    if not (best < np.inf).all():
        array = np.where(array < np.inf, array, 0.0)
        best = array.max(axis=-1, keepdims=True, initial=0.0)
    result: Floats = array / np.maximum(np.maximum(best, least), _NOTHING)
    return result
