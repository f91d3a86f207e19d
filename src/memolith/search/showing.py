"""What a search answers with: hits with their texts, chats, and why they stand where they do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from memolith.interfaces import Column
from memolith.results import Hit, RankedPlace, SessionHit, StageTrace
from memolith.search.candidates import Candidates, Floats, QueryContext, Staged
from memolith.search.nominate import raw
from memolith.search.plan import QueryPlan
from memolith.search.reading import Reading
from memolith.search.votes import is_from_any
from memolith.text.summary_line import read_line
from memolith.visibility import chunk_trust

# What is shown of the candidates that are left: hits with their texts, and chats.


def hits(
    candidates: Candidates, query: QueryContext, reading: Reading, max_score: float
) -> tuple[Hit, ...]:
    """Candidates that were read, as hits; their scores as shares of the greatest there can be."""
    signals, past = candidates.signals, candidates.superseded
    asked_for = is_from_any(query.days, signals.dated)
    columns = zip(
        candidates.chunks,
        candidates.texts,
        share_of(max_score, candidates.score).tolist(),
        signals.words_rank.tolist(),
        signals.meaning_rank.tolist(),
        [False] * len(candidates) if past is None else past.tolist(),
        asked_for.tolist(),
        map(reading.text, signals.keys.tolist()),
        [reading.newest(chunk.record_id) for chunk in candidates.chunks],
        strict=False,
    )
    return tuple(
        [
            Hit(
                citation=chunk.citation,
                text=text,
                score=score,
                record_id=chunk.record_id or None,
                category=chunk.category or None,
                source_category=(read and read.source_category) or None,
                session=chunk.session or None,
                chat=chunk.chat or None,
                role=chunk.role or None,
                other_side=(read and read.other_side) or None,
                heading=chunk.heading or None,
                dated=chunk.dated,
                expires=chunk.expires,
                sensitivity=chunk.sensitivity,
                channel=chunk.channel or None,
                trust=chunk_trust(chunk, query.external),
                superseded=superseded,
                superseded_by=newest.chunk.citation if newest else None,
                named=asked,
                ranks={
                    name: rank for name, rank in (("words", words), ("meaning", meaning)) if rank
                },
            )
            for chunk, text, score, words, meaning, superseded, asked, read, newest in columns
        ]
    )


def share_of(max_score: float, score: Floats) -> Floats:
    """Scores from 0 to 1, in the same order and in the same proportions."""
    shares: Floats = np.clip(score / max_score, 0.0, 1.0)
    return shares


def retold(shown: Sequence[Hit]) -> set[str]:
    """The records that summaries among the hits name, by short ids."""
    return {
        name
        for hit in shown
        if hit.category in (None, "compaction") and not hit.chat
        for line in hit.text.split("\n")
        if (found := read_line(line.strip())) is not None
        for name in found.ids
    }


def sessions(
    reading: Reading,
    candidates: Candidates,
    ranked: Sequence[tuple[int, float]],
    max_score: float,
) -> tuple[SessionHit, ...]:
    """Chats by the place of their best turn and their score; one that is gone is left out."""
    keys: list[int] = candidates.signals.keys.tolist()
    read = reading.said([keys[at] for at, _ in ranked])
    there = [(found, score) for found, (_, score) in zip(read, ranked, strict=True) if found]
    return tuple(
        [
            SessionHit(
                chat=chunk.chat,
                score=min(1.0, max(0.0, score / max_score)),
                best=chunk.citation,
                text=text,
                role=chunk.role or None,
                dated=chunk.dated,
            )
            for (chunk, text), score in there
            if chunk.chat
        ]
    )


# Why a search answered as it did: the order after every stage, and the values it went by.

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
