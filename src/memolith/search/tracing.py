"""Why a search answered as it did: the order after every stage, and the values it went by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from memolith.interfaces import Column
from memolith.results import RankedPlace, StageTrace
from memolith.search.candidates import Candidates, Staged
from memolith.search.fuse import raw
from memolith.search.plan import QueryPlan
from memolith.search.reading import Reading

_TRACED = 50


def trace(
    reading: Reading,
    plan: QueryPlan,
    nominated: Candidates,
    scored: Staged,
    shown: Staged,
    max_score: float,
) -> Iterator[StageTrace]:
    """How the question was read and what each stage did, first the fusion.

    Stages that go by texts have put the candidates in order themselves.
    """
    yield StageTrace(stage="question", order=(), note=_read(plan))
    fused = replace(nominated, why=raw(nominated.signals))
    stages = [(name, some, some.best()) for name, some in [("fuse", fused), *scored]]
    stages += [(name, some, np.arange(len(some))) for name, some in shown]
    orders = [some.signals.keys[order[:_TRACED]].tolist() for _, some, order in stages]
    found = reading.find({key for keys in orders for key in keys})
    before: tuple[Candidates | None, list[int]] = (None, [])
    for (name, some, order), keys in zip(stages, orders, strict=True):
        idle = some is before[0] or (keys == before[1] and not some.why)
        why = {} if some is before[0] else some.why
        before = some, keys
        known = [at for at, key in zip(order.tolist(), keys, strict=False) if key in found]
        cited = [str(found[key].chunk.citation) for key in keys if key in found]
        most = 1.0 if name == "fuse" else max_score  # the fusion has ranks only
        ranked = zip(cited, (some.score[known] / most).tolist(), known, strict=True)
        yield StageTrace(
            stage=name,
            order=tuple(RankedPlace(place, score, _why(why, at)) for place, score, at in ranked),
            note="nothing to do" if idle else None,
        )


def _read(plan: QueryPlan) -> str:
    """The words that are looked for, what else they may be called, and the days."""
    words = []
    for word, terms in zip(plan.asked, plan.words, strict=False):
        bare = dict.fromkeys(term.lstrip("~") for term in terms)  # "~" marks stems
        # Its own forms, alone or joined with a neighbour, are no synonyms.
        others = [term for term in bare if word[:3] not in term]
        words.append(f"{word} ({', '.join(others)})" if others else word)
    days = [
        str(one.first) if one.first == one.last else f"{one.first} to {one.last}"
        for one in plan.days
    ]
    parts = (("words", words), ("days", days))
    return " · ".join(f"{name}: {', '.join(found)}" for name, found in parts if found)


def _why(columns: Mapping[str, Column], at: int) -> dict[str, float]:
    """The values a stage went by; a rank of 0 is none."""
    return {
        name: column[at].item()
        for name, column in columns.items()
        if column[at] or column.dtype.kind != "i"
    }
