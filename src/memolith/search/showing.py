"""What a search answers with: hits with their texts, chats, and the reasons for their ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memolith.interfaces import Column, Signals
from memolith.results import Hit, RankedPlace, SessionHit, StageTrace
from memolith.search.candidates import Candidates, QueryContext, Staged
from memolith.search.plan import QueryPlan
from memolith.search.reading import Reading
from memolith.search.votes import is_from_any
from memolith.text.lines import read_line
from memolith.visibility import shown_trust

_OF_THE_CHUNK = (
    "record_id", "category", "session", "chat", "role", "heading", "dated", "expires", "channel",
)  # fmt: skip


def hits(
    candidates: Candidates, query: QueryContext, reading: Reading, max_score: float
) -> list[Hit]:
    """Candidates that were read, as hits; their scores as shares of the greatest there can be."""
    signals = candidates.signals
    read = reading.texts(signals.keys.tolist())
    scores = (candidates.score / max_score).clip(0.0, 1.0).tolist()
    named = is_from_any(query.plan.days, signals.dated)
    ranks = {"words": signals.words_rank.tolist(), "meaning": signals.meaning_rank.tolist()}
    return [
        Hit(
            **{name: getattr(chunk, name) or None for name in _OF_THE_CHUNK},
            citation=chunk.citation,
            text=candidates.texts[at],
            score=scores[at],
            source_category=read[at].source_category or None,
            other_side=read[at].other_side or None,
            sensitivity=chunk.sensitivity,
            trust=shown_trust(chunk.path, chunk.channel, chunk.role, query.external),
            superseded=bool(candidates.superseded[at]),
            superseded_by=newest.chunk.citation if newest else None,
            named=bool(named[at]),
            ranks={name: rank[at] for name, rank in ranks.items() if rank[at]},
        )
        for at, (chunk, newest) in enumerate(zip(candidates.chunks, candidates.newest, strict=True))
    ]


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
    candidates: Candidates,
    ranked: Sequence[tuple[int, float]],
    reading: Reading,
    max_score: float,
) -> Iterator[SessionHit]:
    """Chats by the place of their best turn and their score; one that is gone is left out."""
    keys: list[int] = candidates.signals.keys.tolist()
    read = reading.said([keys[at] for at, _ in ranked])
    shares = (np.array([score for _, score in ranked]) / max_score).clip(0.0, 1.0).tolist()
    for found, score in zip(read, shares, strict=True):
        if found and found[0].chat:
            chunk, text = found
            yield SessionHit(
                chat=chunk.chat,
                score=score,
                best=chunk.citation,
                text=text,
                role=chunk.role or None,
                dated=chunk.dated,
            )


# Why a search answered as it did: the order after every stage, and the values it went by.

_TRACED = 50


def trace(
    reading: Reading, plan: QueryPlan, scored: Staged, shown: Staged, max_score: float
) -> Iterator[StageTrace]:
    """How the question was read and what each stage did, first the fusion.

    Stages that go by texts have put the candidates in order themselves.
    """
    yield StageTrace(stage="question", order=(), note=_read(plan))
    before: list[int] = []
    for name, some in [*((name, some.in_order()) for name, some in scored), *shown]:
        keys = some.signals.keys[:_TRACED].tolist()
        found = reading.find(keys)
        most = 1.0 if name == "fuse" else max_score  # the fusion has ranks only
        why = _raw(some.signals) if name == "fuse" else some.why
        order = tuple(
            RankedPlace(str(found[key].chunk.citation), float(some.score[at] / most), _why(why, at))
            for at, key in enumerate(keys)
            if key in found
        )
        idle = keys == before and not why
        yield StageTrace(stage=name, order=order, note="nothing to do" if idle else None)
        before = keys


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


def _raw(signals: Signals) -> dict[str, Column]:
    """What the index says of each chunk: scores, and its place in both rankings."""
    return {
        "bm25": signals.words,
        "cosine": signals.meaning,
        "words": signals.words_rank,
        "meaning": signals.meaning_rank,
        "chat_bm25": signals.group_words,
        "user_bm25": signals.group_user_words,
        "title_cosine": signals.group_title,
    }
