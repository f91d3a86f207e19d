"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function of the candidates; switching one off is leaving it out of the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError
from memolith.retrieval import Hit, SearchResult, StageTrace
from memolith.search.candidates import Candidate
from memolith.search.fuse import fuse, fused
from memolith.search.sessions import rank_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memolith.interfaces import Embedder, Index, Signals, Vectors
    from memolith.retrieval import Chunk, Filters
    from memolith.search.candidates import Situation, Stage
    from memolith.search.plan import QueryPlan
    from memolith.text.dates import DayRange

# How many of each ranking take part in the fusion, and how many of those are read and staged.
NOMINATED = 200
CONSIDERED = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a search works with."""

    index: Index
    embedder: Embedder | None
    read_texts: Callable[[Iterable[Chunk]], Iterator[Chunk | None]]
    digest: Callable[[Chunk], bytes]
    stages: Sequence[tuple[str, Stage]]
    by_words: bool = True


def search(parts: Parts, plan: QueryPlan, filters: Filters, situation: Situation) -> SearchResult:
    """The best hits for a plan; what could not be done is said in the warnings."""
    warnings: list[str] = []
    words = plan.words if parts.by_words else ()
    vector = _vector(parts, plan, warnings)
    nominated = parts.index.nominate(words, vector, NOMINATED, filters)
    signals = {found.key: found for found in nominated.signals}
    for days in plan.days:
        # Of these days also what would not be among the best of all days.
        within = _within(filters, days)
        for found in parts.index.nominate(words, vector, NOMINATED, within).signals:
            signals.setdefault(found.key, found)
    situation = replace(situation, usual_meaning=nominated.usual_meaning, days=plan.days)
    candidates = _read(parts, fuse(signals.values())[:CONSIDERED], filters, warnings)
    trace = [_traced("fuse", candidates)]
    for name, stage in parts.stages:
        candidates = stage(situation, candidates)
        trace.append(_traced(name, candidates))
    return SearchResult(
        hits=tuple(_hit(candidate) for candidate in candidates[: situation.limit]),
        sessions=rank_sessions(candidates, situation.limit),
        warnings=tuple(warnings),
        trace=tuple(trace),
    )


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
    parts: Parts, nominated: Sequence[Signals], filters: Filters, warnings: list[str]
) -> Sequence[Candidate]:
    """Candidates with their texts, as they stand in the files; a record that stands twice, once."""
    found = parts.index.fetch([signals.key for signals in nominated])
    texts = dict(zip(found, parts.read_texts(item.chunk for item in found.values()), strict=True))
    candidates: dict[object, Candidate] = {}
    moved = 0
    for signals in nominated:
        key = signals.key
        if key not in found:
            continue
        chunk = texts[key]
        if chunk is None or parts.digest(chunk) != found[key].digest:
            moved += 1
            continue
        candidates.setdefault(
            chunk.record_id or key, Candidate(chunk=chunk, signals=signals, score=fused(signals))
        )
    if moved:
        warnings.append(f"{moved} hits were left out: their files changed during the search.")
    records = {hit.chunk.record_id for hit in candidates.values() if hit.chunk.record_id}
    past = parts.index.superseded(records, filters)
    return [replace(hit, superseded=hit.chunk.record_id in past) for hit in candidates.values()]


def _traced(name: str, candidates: Sequence[Candidate]) -> StageTrace:
    return StageTrace(
        stage=name, order=tuple((str(hit.chunk.citation), hit.score) for hit in candidates[:50])
    )


def _hit(candidate: Candidate) -> Hit:
    chunk = candidate.chunk
    return Hit(
        citation=chunk.citation,
        text=chunk.text,
        score=candidate.score,
        record_id=chunk.record_id,
        category=chunk.category,
        session=chunk.session,
        chat=chunk.chat,
        role=chunk.role,
        dated=chunk.dated,
        sensitivity=chunk.sensitivity,
        channel=chunk.channel,
        heading=chunk.heading,
        superseded=candidate.superseded,
        ranks=_ranks(candidate.signals),
    )


def _ranks(signals: Signals) -> dict[str, int]:
    ranks = {"words": signals.words_rank, "meaning": signals.meaning_rank}
    return {name: rank for name, rank in ranks.items() if rank}
