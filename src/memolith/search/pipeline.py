"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function of the candidates; switching one off is leaving it out of the list.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError
from memolith.retrieval import Hit, SearchResult, StageTrace
from memolith.search.candidates import Candidate
from memolith.search.fuse import RRF_K, fuse, fused
from memolith.search.phrases import holds
from memolith.search.sessions import rank_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from memolith.interfaces import Embedder, Found, Index, Signals, Vectors
    from memolith.retrieval import Chunk, Filters
    from memolith.search.candidates import Situation, Stage
    from memolith.search.plan import QueryPlan
    from memolith.text.dates import DayRange

# How many of each ranking take part in the fusion, and how many of those are staged: more change no
# recall (benchmarks/recall) and cost time for each. Who wants many hits gets them.
NOMINATED = 200
CONSIDERED = 100
# How many of the best are read from their files: opening a file costs more than all stages do.
READ = 50
_TRACED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a search works with."""

    index: Index
    embedder: Embedder | None
    read_texts: Callable[[Iterable[Chunk]], Generator[Chunk | None]]
    digest: Callable[[Chunk], bytes]
    stages: Sequence[tuple[str, Stage]]
    text_stages: Sequence[tuple[str, Stage]] = ()  # those that look at texts, of the best only
    by_words: bool = True
    explain: bool = True
    rrf_k: int = RRF_K


def search(parts: Parts, plan: QueryPlan, filters: Filters, situation: Situation) -> SearchResult:
    """The best hits for a plan; what could not be done is said in the warnings."""
    warnings: list[str] = []
    words = plan.words if parts.by_words else ()
    vector = _vector(parts, plan, warnings)
    nominated = parts.index.nominate(words, vector, NOMINATED, filters)
    signals = {item.key: item for item in nominated.signals}
    for days in plan.days:
        # Of these days also what would not be among the best of all days.
        within = _within(filters, days)
        for item in parts.index.nominate(words, vector, NOMINATED, within).signals:
            signals.setdefault(item.key, item)
    situation = replace(
        situation,
        question=plan.text,
        usual_meaning=nominated.usual_meaning,
        days=plan.days,
        rarity=dict(zip(plan.asked, nominated.rarity, strict=False)),
        phrases=plan.phrases,
    )
    # What stands in quotation marks is looked for in all that was nominated.
    most = max(CONSIDERED, situation.limit) if not plan.phrases else len(signals)
    fused_signals = fuse(signals.values(), parts.rrf_k)[:most]
    found = parts.index.fetch([item.key for item in fused_signals])
    traced = [("fuse", candidates := _candidates(parts, found, signals, filters))]
    for name, stage in parts.stages:
        traced.append((name, candidates := stage(situation, candidates)))
    wanted = max(READ, situation.limit) if not plan.phrases else most
    read, rest = _read(parts, candidates, found, wanted, warnings)
    if plan.phrases and read:
        warnings.extend(_not_found(plan.phrases, read))
    for name, stage in parts.text_stages:
        traced.append((name, read := stage(situation, read)))
    return SearchResult(
        hits=tuple(_hit(candidate) for candidate in read[: situation.limit]),
        sessions=rank_sessions([*read, *rest], situation.limit),
        warnings=tuple(warnings),
        trace=tuple(_traced(*step) for step in traced) if parts.explain else (),
    )


def _not_found(phrases: Sequence[Sequence[str]], candidates: Sequence[Candidate]) -> Iterator[str]:
    for phrase in phrases:
        if not any(holds(phrase, hit.chunk.text, hit.chunk.heading) for hit in candidates):
            yield f'Nothing found says "{" ".join(phrase)}" word for word.'


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


def _candidates(
    parts: Parts, found: Mapping[int, Found], signals: Mapping[int, Signals], filters: Filters
) -> Sequence[Candidate]:
    """Candidates, still without their texts; a record that stands twice, once."""
    once: dict[object, Found] = {}
    for item in found.values():
        once.setdefault(item.chunk.record_id or item.key, item)
    records = {item.chunk.record_id for item in once.values() if item.chunk.record_id}
    past = parts.index.superseded(records, filters)
    return [
        Candidate(
            chunk=item.chunk,
            signals=signals[item.key],
            score=fused(signals[item.key], parts.rrf_k),
            why=_raw(signals[item.key]) if parts.explain else {},
            superseded=item.chunk.record_id in past,
        )
        for item in once.values()
    ]


def _read(
    parts: Parts,
    candidates: Sequence[Candidate],
    found: Mapping[int, Found],
    wanted: int,
    warnings: list[str],
) -> tuple[Sequence[Candidate], Sequence[Candidate]]:
    """The best with their texts, as they stand in the files, and those nobody will look at."""
    read: list[Candidate] = []
    moved = 0
    with closing(parts.read_texts(hit.chunk for hit in candidates)) as chunks:
        for hit, chunk in zip(candidates, chunks, strict=True):
            if chunk is None or parts.digest(chunk) != found[hit.signals.key].digest:
                moved += 1
                continue
            read.append(hit.reading(chunk))
            if len(read) == wanted:
                break
    if moved:
        warnings.append(f"{moved} hits were left out: their files changed during the search.")
    return read, candidates[len(read) + moved :]


def _raw(signals: Signals) -> dict[str, float]:
    """What the index says of a chunk: scores, and its place in both rankings."""
    return {
        "bm25": signals.words,
        "cosine": signals.meaning,
        **_ranks(signals),
        "chat_bm25": signals.group_words,
        "user_bm25": signals.group_user_words,
        "title_cosine": signals.group_title,
    }


def _traced(name: str, candidates: Sequence[Candidate]) -> StageTrace:
    shown = candidates[:_TRACED]
    return StageTrace(
        stage=name,
        order=tuple((str(hit.chunk.citation), hit.score) for hit in shown),
        found=tuple(hit.why for hit in shown),
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
