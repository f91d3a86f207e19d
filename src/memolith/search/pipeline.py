"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function from candidates to candidates; switching one off is leaving it out of the list.
Some hundred candidates are judged by what the index knows of them; only the best of these are read
from their files.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from memolith.errors import EmbeddingError
from memolith.interfaces import Signals
from memolith.retrieval import Hit, SearchResult, SessionHit, StageTrace
from memolith.search.diversify import MORE
from memolith.search.fuse import RRF_K, fuse, once
from memolith.search.phrases import not_held
from memolith.search.sessions import rank_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from memolith.interfaces import Embedder, Found, Index, Nomination, Vectors
    from memolith.retrieval import Chunk, Filters
    from memolith.search.candidates import Candidates, Situation, Stage
    from memolith.search.plan import QueryPlan
    from memolith.text.dates import DayRange

# How many of each ranking take part in the fusion, and how many of those are staged: more change no
# recall (benchmarks/recall). Who wants many hits gets them.
NOMINATED = 200
CONSIDERED = 200
_TRACED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a search works with."""

    index: Index
    embedder: Embedder | None
    read_texts: Callable[[Iterable[Chunk]], Generator[str | None]]
    digest: Callable[[str], bytes]
    stages: Sequence[tuple[str, Stage]]
    text_stages: Sequence[tuple[str, Stage]] = ()  # those that look at texts, of the best only
    by_words: bool = True
    explain: bool = True
    rrf_k: int = RRF_K
    words_weight: float = 1.0
    meaning_weight: float = 1.0


def search(parts: Parts, plan: QueryPlan, filters: Filters, situation: Situation) -> SearchResult:
    """The best hits for a plan; what could not be done is said in the warnings."""
    warnings: list[str] = []
    nominated = _nominate(parts, plan, filters, warnings)
    situation = replace(
        situation,
        question=plan.text,
        usual_meaning=nominated.usual_meaning,
        days=plan.days,
        rarity=dict(zip(plan.asked, nominated.rarity, strict=False)),
        phrases=plan.phrases,
    )
    fused = fuse(nominated.signals, parts.rrf_k, parts.words_weight, parts.meaning_weight)
    # What stands in quotation marks is looked for in all that was nominated.
    most = max(CONSIDERED, situation.limit) if not plan.phrases else len(fused)
    traced = [("fuse", considered := once(fused).take(slice(most)))]
    for name, stage in parts.stages:
        traced.append((name, considered := stage(situation, considered)))
    wanted = situation.limit + MORE if not plan.phrases else most
    read, rest = _read(parts, considered, wanted, filters, warnings)
    if len(read):
        missing = not_held(plan.phrases, read)
        warnings += (f'Nothing found says "{phrase}" word for word.' for phrase in missing)
    for name, stage in parts.text_stages:
        traced.append((name, read := stage(situation, read)))
    whole = np.isin(considered.signals.keys, np.append(read.signals.keys, rest))
    return SearchResult(
        hits=tuple(_hit(read, at) for at in range(min(len(read), situation.limit))),
        sessions=_sessions(parts, considered.take(np.flatnonzero(whole)), situation.limit),
        warnings=tuple(warnings),
        trace=tuple(_traced(parts, traced)) if parts.explain else (),
    )


def _nominate(parts: Parts, plan: QueryPlan, filters: Filters, warnings: list[str]) -> Nomination:
    words = plan.words if parts.by_words else ()
    vector = _vector(parts, plan, warnings)
    nominated = parts.index.nominate(words, vector, NOMINATED, filters)
    if not plan.days:
        return nominated
    # Of these days also what would not be among the best of all days.
    of_days = [
        parts.index.nominate(words, vector, NOMINATED, _within(filters, days)).signals
        for days in plan.days
    ]
    signals = Signals.together([nominated.signals, *of_days])
    _, first = np.unique(signals.keys, return_index=True)
    return replace(nominated, signals=signals.take(np.sort(first)))


def _within(filters: Filters, days: DayRange) -> Filters:
    return replace(
        filters,
        since=max(filter(None, (filters.since, days.first))),
        until=min(filter(None, (filters.until, days.last))),
    )


def _vector(parts: Parts, plan: QueryPlan, warnings: list[str]) -> Vectors | None:
    if parts.embedder is None:
        return None
    try:
        vector = parts.embedder.embed([plan.text])[0]
    except EmbeddingError as error:
        warnings.append(f"{error.message} Searched by words only.")
        return None
    return vector if vector.any() else None


def _read(
    parts: Parts, candidates: Candidates, wanted: int, filters: Filters, warnings: list[str]
) -> tuple[Candidates, Sequence[int]]:
    """The best with their texts, as they stand in the files, and the keys of those not looked at."""
    keys = candidates.signals.keys.tolist()
    read: dict[int, tuple[Found, str]] = {}  # by place
    seen = 0
    while len(read) < wanted and seen < len(keys):
        places = range(seen, min(len(keys), seen + wanted - len(read)))
        read |= _texts(parts, {place: keys[place] for place in places})
        seen = places.stop
    if seen > len(read):
        warnings.append(
            f"{seen - len(read)} hits were left out: their files changed during the search."
        )
    chunks = tuple(found.chunk for found, _ in read.values())
    past = parts.index.superseded({chunk.record_id for chunk in chunks} - {""}, filters)
    with_texts = replace(
        candidates.take(list(read)),
        superseded=np.array([chunk.record_id in past for chunk in chunks], np.bool_),
        chunks=chunks,
        texts=tuple(text for _, text in read.values()),
    )
    return with_texts, keys[seen:]


def _texts(parts: Parts, keys: Mapping[int, int]) -> dict[int, tuple[Found, str]]:
    """Chunk and text by place, of those whose text still is what was indexed."""
    known = parts.index.fetch(list(keys.values()))
    found = {place: known[key] for place, key in keys.items() if key in known}
    with closing(parts.read_texts(item.chunk for item in found.values())) as texts:
        return {
            place: (item, text)
            for (place, item), text in zip(found.items(), texts, strict=True)
            if text is not None and parts.digest(text) == item.digest
        }


def _sessions(parts: Parts, candidates: Candidates, limit: int) -> tuple[SessionHit, ...]:
    ranked = rank_sessions(candidates)[:limit]
    keys = candidates.signals.keys
    found = parts.index.fetch([int(keys[at]) for at, _ in ranked])
    chats = ((found[key].chunk, score) for at, score in ranked if (key := int(keys[at])) in found)
    return tuple(
        SessionHit(chat=chunk.chat, score=score, best=chunk.citation)
        for chunk, score in chats
        if chunk.chat
    )


def _traced(parts: Parts, stages: Sequence[tuple[str, Candidates]]) -> Iterator[StageTrace]:
    shown = [(name, candidates.take(slice(_TRACED))) for name, candidates in stages]
    found = parts.index.fetch(
        list({key for _, candidates in shown for key in candidates.signals.keys.tolist()})
    )
    for name, candidates in shown:
        keys, scores = candidates.signals.keys.tolist(), candidates.score.tolist()
        yield StageTrace(
            stage=name,
            order=tuple(
                (str(found[key].chunk.citation), score)
                for key, score in zip(keys, scores, strict=True)
                if key in found
            ),
            found=tuple(_why(candidates, at) for at, key in enumerate(keys) if key in found),
        )


def _why(candidates: Candidates, at: int) -> dict[str, float]:
    """The values a stage went by; a rank of 0 is none."""
    return {
        name: column[at].item()
        for name, column in candidates.why.items()
        if column[at] or column.dtype.kind != "i"
    }


def _hit(candidates: Candidates, at: int) -> Hit:
    chunk, signals = candidates.chunks[at], candidates.signals
    ranks = {"words": int(signals.words_rank[at]), "meaning": int(signals.meaning_rank[at])}
    return Hit(
        citation=chunk.citation,
        text=candidates.texts[at],
        score=float(candidates.score[at]),
        record_id=chunk.record_id,
        category=chunk.category,
        session=chunk.session,
        chat=chunk.chat,
        role=chunk.role,
        dated=chunk.dated,
        sensitivity=chunk.sensitivity,
        channel=chunk.channel,
        heading=chunk.heading,
        superseded=candidates.superseded is not None and bool(candidates.superseded[at]),
        ranks={name: rank for name, rank in ranks.items() if rank},
    )
