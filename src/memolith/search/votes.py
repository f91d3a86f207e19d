"""What speaks for a chunk, as votes: its own words and meaning, and those of what it belongs to.

Ranks alone forget how much better the best is. So after the fusion has chosen the candidates, each
raw signal becomes a vote from 0 to 1, by the best value this question has, and the score is the mean
of the votes. Words and meaning weigh the same unless a setting says otherwise; a vote of a chat or
file counts half for each of its chunks. See benchmarks/README.md for what each is worth.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date

import numpy as np

from memolith.config.sections import SearchConfig
from memolith.interfaces import ASSISTANT, RECORD, TURN, Column, Vectors
from memolith.search.candidates import NOTHING, RRF_K, Candidates, Floats, QueryContext, Stage
from memolith.text.dates import DayRange

# What a person said or wrote comes before what an assistant made of it …
NOT_THE_ASSISTANT = 0.2
_VOTES = ("words", "meaning", "chat", "user", "title")
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
    # Of some that are all far away, the nearest is not near.
    shared = shares(signals, np.array([[0.0], [query.near], [0.0], [0.0], [query.near]]))
    votes = dict(zip(_VOTES, shared, strict=True))
    grouped = raw.kind != RECORD  # records stand for themselves
    # Where no assistant speaks, all of a chat is what the user said: that is one vote, not two.
    has_user = (raw.kind == TURN) & (not np.array_equal(raw.group_words, raw.group_user_words))
    voted = replace(
        candidates,
        votes=shared[:2].T,
        weights=np.array([1, meant]),
        group_votes=grouped * (votes["chat"] + meant * votes["title"]) + has_user * votes["user"],
        group_voters=(1 + meant) * grouped + has_user,
    )
    bonus = preference(query.plan.meant) * (raw.role != ASSISTANT)
    return voted.scored(voted.mean_vote() + bonus, votes)


def preference(question: str) -> float:
    """What is added for not being the words of an assistant."""
    return 0.0 if _TOLD.search(question) else NOT_THE_ASSISTANT


def are_counted(config: SearchConfig) -> bool:
    """Whether candidates are judged by votes, and not by reciprocal ranks: a k of one's own is for these."""
    return config.fusion == "votes" and config.rrf_k == RRF_K


def max_score(question: str, lift: Floats, config: SearchConfig) -> float:
    """The score of a chunk that is best in everything; a hit is shown with its share of this, from 0 to 1.

    `lift` is what days have added to each candidate.
    """
    bonus = preference(question) if are_counted(config) else 0.0
    return 1.0 + bonus + float(lift.max(initial=0.0))


def shares(values: Column | Floats | Sequence[float], least: Floats | float = 0.0) -> Floats:
    """Each value of a row as a share of its best, or of `least` if even that is smaller; from 0 to 1.

    >>> shares([4.0, 1.0, -2.0]).tolist()
    [1.0, 0.25, 0.0]
    """
    array = np.maximum(np.nan_to_num(values, posinf=0.0), 0.0)
    best = array.max(axis=-1, keepdims=True, initial=0.0)
    result: Floats = array / np.maximum(np.maximum(best, least), NOTHING)
    return result


# A question about certain days wants what is from those days first.

# The least that a day adds, against 1 for what is best in everything; one that had to be guessed
# ("in March" of which year?) adds as much less as it is unsure.
_LEAST_LIFT = 0.2
# This many words are few: what has them, and is from the day, is before what only has them.
_FEW_SUBJECTS = 3
# … unless the days are many: much is from the last four months, and to be from them tells little.
_NARROW = 3
# More than everything else together: nothing but the days is asked for.
_DECIDES = 4.0


def prefer_days(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that lifts what is from the days in the question; without such days it does nothing.

    The days are one of the things asked for: in "what was decided yesterday?" they decide, in a long
    message that mentions a day among much else they only help. But of a few words, what has as many as
    any other and is from that day is meant.
    """
    if not query.plan.days:
        return candidates
    most = max(_LEAST_LIFT, 1 / (1 + len(query.rarity))) if len(query.plan.asked) else _DECIDES
    words = candidates.votes[:, 0] if candidates.votes.shape[1] else 0.0
    share = min(1, _FEW_SUBJECTS / max(1, len(query.rarity)))
    lift = np.zeros(len(candidates))
    for days in query.plan.days:
        few = share * min(1, _NARROW / ((days.last - days.first).days + 1))
        added = np.maximum(most, few * words) * min(1, days.confidence)
        lift = np.maximum(lift, is_from_any((days,), candidates.signals.dated) * added)
    after = replace(candidates, lift=candidates.lift + lift)
    return after.scored(candidates.score + lift, {"days": lift})


def none_from(
    days: Iterable[DayRange], question: str, dated: Column, today: date, *, decide: bool
) -> Iterator[str]:
    """A warning for days that are asked for, if nothing found is from any of them.

    Unless nothing else is asked for, days to come get no warning: plans were made before them.
    """
    asked = [named for named in days if decide or named.last < today]
    if is_from_any(asked, dated).any():
        return
    for named in asked:
        span = str(named.first) if named.first == named.last else f"{named.first} to {named.last}"
        said = question[named.start : named.end]
        shown = span if said == span else f'"{said}" ({span})'
        yield f"Nothing here is dated {shown}; showing the closest."


def is_from_any(days: Iterable[DayRange], dated: Column) -> Column:
    """Which of some days, by number, are among any of these."""
    found: Column = np.zeros(len(dated), np.bool_)
    for named in days:
        found |= (named.first.toordinal() <= dated) & (dated <= named.last.toordinal())
    return found


# Newer first among equals: the score of a dated chunk fades with its age.


def decay(half_life_days: float, strength: float) -> Stage:
    """A stage that multiplies the score of a dated chunk by (1 - strength) + strength · 0.5^(age / half-life).

    Full strength buries everything a year old under anything from today; at a low one age only decides
    between hits of about the same relevance. What is to come is as new as today.
    """

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        dated = candidates.signals.dated
        age = np.maximum(0, query.today.toordinal() - dated) / half_life_days
        left = np.where(dated > 0, 1 - strength + strength * 0.5**age, 1.0)
        faded = replace(candidates, fade=candidates.fade * left)
        return faded.scored(candidates.score * left, {"age": left})

    return stage


# Which chats answer as a whole: by their best turn, by all that was said in them, and by chats like them.
#
# Chats that are about the same thing tend to answer the same questions. So each is judged by a little of
# what the others have, as far as they are like it: one that goes on with a matter in other words is
# found with the chats that name it.

# How much the words of its best passages count for a chat as a whole, against 1 for any other vote …
_PASSAGE_WORDS = 3
# … and the score of chats like it, against 1 for both.
OTHERS = 0.2
# How many of the best are compared with each other.
_COMPARED = 64
_TINY = np.float32(1e-6)


def rank_sessions(
    candidates: Candidates, vectors_of: Callable[[Column], Vectors] | None = None
) -> list[tuple[int, float]]:
    """Of each chat among the candidates, best first: the place of its best turn, and its score.

    The candidates are in order. As a whole a chat has the best vote of each kind that any of its turns
    has; who said it does not matter for that. Its best turn counts as much.
    """
    turns = candidates.signals.chat.nonzero()[0]
    if not len(turns):
        return []
    chats, first, chat = np.unique(
        candidates.signals.chat[turns], return_index=True, return_inverse=True
    )
    best = turns[first]
    score = (_as_a_whole(candidates, turns, chat, best) + candidates.score[best]) / 2
    order = np.lexsort((best, -score))[:_COMPARED]
    if vectors_of is not None and len(order) > 1:
        score[order] += OTHERS * (_of_others(vectors_of(chats[order]), score[order]) - score[order])
    order = np.lexsort((best, -score))
    return list(zip(best[order].tolist(), score[order].tolist(), strict=True))


def _as_a_whole(candidates: Candidates, turns: Column, chat: Column, best: Column) -> Floats:
    def greatest(values: Floats) -> Floats:
        """The greatest value of each chat."""
        result = np.zeros((len(best), *values.shape[1:]))
        np.maximum.at(result, chat, values[turns])
        return result

    weights = candidates.weights.copy()
    weights[2:3] *= _PASSAGE_WORDS  # if there are passages
    voters = weights.sum() + candidates.group_voters[best]
    total = greatest(candidates.votes) @ weights + candidates.group_votes[best]
    whole: Floats = total / np.maximum(1, voters) + greatest(candidates.lift)
    return whole * greatest(candidates.fade)


def _of_others(meant: Vectors, score: Floats) -> Floats:
    """For each chat the mean score of the others, the more alike the more it counts."""
    alike = _cosines(meant @ meant.T)
    # What all have in common makes none alike: as if the mean of all were taken from each of them.
    common = alike.mean(axis=0)
    alike = _cosines(alike - common - common[:, None] + common.mean())
    alike = np.square(np.maximum(alike, 0))
    np.fill_diagonal(alike, 0)
    total = alike.sum(axis=1)
    others: Floats = np.where(total > 0, alike @ score / np.maximum(total, _TINY), score)
    return others


def _cosines(products: Floats) -> Floats:
    """The products of vectors with each other, as if all were of length 1."""
    lengths = np.sqrt(np.maximum(np.diagonal(products), _TINY))
    cosines: Floats = products / lengths / lengths[:, None]
    return cosines
