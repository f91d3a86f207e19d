"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function of the candidates; switching one off is leaving it out of the list.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError
from memolith.retrieval import Hit, SearchResult, StageTrace
from memolith.search.candidates import Candidate, Situation
from memolith.search.fuse import fuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memolith.interfaces import Embedder, Index, Scored
    from memolith.retrieval import Chunk, Filters
    from memolith.search.candidates import Stage
    from memolith.search.plan import QueryPlan

# How many of each ranking take part in the fusion, and how many of those are read and staged.
NOMINATED = 200
CONSIDERED = 60


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
    rankings = {
        "words": parts.index.keyword_search(plan.words, NOMINATED, filters)
        if plan.words and parts.by_words
        else [],
        "meaning": _by_meaning(parts, plan, filters, warnings),
    }
    candidates: Sequence[Candidate] = _read(parts, rankings, filters, warnings, situation.limit)
    trace = [_traced("fuse", candidates)]
    for name, stage in parts.stages:
        candidates = stage(situation, candidates)
        trace.append(_traced(name, candidates))
    return SearchResult(
        hits=tuple(_hit(candidate) for candidate in candidates[: situation.limit]),
        warnings=tuple(warnings),
        trace=tuple(trace),
    )


def _by_meaning(
    parts: Parts, plan: QueryPlan, filters: Filters, warnings: list[str]
) -> Sequence[Scored]:
    if parts.embedder is None:
        return []
    try:
        vector = parts.embedder.embed([plan.text])[0]
    except EmbeddingError as error:
        warnings.append(f"{error.message} Searched by words only.")
        return []
    return parts.index.vector_search(vector, NOMINATED, filters) if vector.any() else []


def _read(
    parts: Parts,
    rankings: dict[str, Sequence[Scored]],
    filters: Filters,
    warnings: list[str],
    limit: int,
) -> list[Candidate]:
    """Candidates with their texts, as they stand in the files; a record that stands twice, once."""
    fused = fuse(rankings)
    found = parts.index.fetch([key for key, _ in fused[: max(CONSIDERED, 3 * limit)]])
    ranks = {
        name: {hit.key: (rank, hit.score) for rank, hit in enumerate(ranking, 1)}
        for name, ranking in rankings.items()
    }
    candidates: dict[object, Candidate] = {}
    chunks = list(parts.read_texts(item.chunk for item in found.values()))
    texts = dict(zip(found, chunks, strict=True))
    moved = 0
    for key, score in fused:
        chunk = texts.get(key)
        if key not in found:
            continue
        if chunk is None or parts.digest(chunk) != found[key].digest:
            moved += 1
            continue
        candidates.setdefault(
            chunk.record_id or key,
            Candidate(
                key=key,
                chunk=chunk,
                score=score,
                words=ranks["words"].get(key, (0, 0.0))[1],
                meaning=ranks["meaning"].get(key, (0, 0.0))[1],
                ranks={name: places[key][0] for name, places in ranks.items() if key in places},
            ),
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
        ranks=candidate.ranks,
    )
