"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function from candidates to candidates; switching one off is leaving it out of the list.
Some hundred candidates are judged by what the index knows of them; only the best of these are read
from their files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memolith.config.sections import SearchConfig
from memolith.interfaces import NEAR, Embedder, Index, Nomination, Reranker, WordVectors
from memolith.results import WEAK, Filters, SearchResult
from memolith.search import reorder, votes
from memolith.search.candidates import (
    NOMINATED,
    Candidates,
    QueryContext,
    Stage,
    Staged,
    find_candidates,
    fuse,
    meaning_of,
    without_copies,
)
from memolith.search.doubt import exactness, is_weak, not_said
from memolith.search.passages import passages, prefer_own
from memolith.search.reading import Reading, ReadTexts
from memolith.search.showing import hits, retold, sessions, trace
from memolith.text.lines import short_id
from memolith.text.wording import counted

Stages = list[tuple[str, Stage]]


@dataclass(kw_only=True)
class Question:
    """A question put to an index: embedded once, and looked for in one pass for all kinds of hits.

    `kinds` are the filters it may be answered for; the limit of `query` is the greatest.
    """

    index: Index
    embedder: Embedder | None
    read_texts: ReadTexts
    word_vectors: WordVectors | None
    config: SearchConfig
    explain: bool
    reranker: Reranker | None
    query: QueryContext
    kinds: Sequence[Filters]

    def __post_init__(self) -> None:
        """Look for it."""
        config, query, model = self.config, self.query, self.reranker
        plan = query.plan if config.words else replace(query.plan, words=())
        self.query = replace(query, plan=plan, near=getattr(self.embedder, "near", NEAR))
        self.reading = Reading(self.index, self.read_texts)
        self._reranking = reorder.Reranking(model, config.rerank_seconds) if model else None
        self._stages, self._text_stages = stages(config, self.word_vectors, self._reranking)
        vector, self._warnings = meaning_of(plan.meant, self.embedder)
        most = max(NOMINATED, query.limit)
        self._nominated = find_candidates(self.index, plan, vector, self.kinds, most)

    def answer(self, filters: Filters, limit: int) -> SearchResult:
        """The best hits of one kind; what could not be done is said in the warnings."""
        reading, plan = self.reading, self.query.plan
        nominated = self._nominated[filters]
        query = _with_rarity(replace(self.query, limit=limit), nominated)
        fused = self._worth_staging(nominated, query)
        scored = _staged(self._stages, query, fused)
        ranked = scored[-1][1].in_order()
        wanted = max(limit, reorder.READ * bool(self._reranking))
        wanted = len(ranked) if query.plan.phrases else wanted
        read, seen = reading.read(ranked, wanted, filters)
        warnings = [*self._warnings, *self._doubts(nominated, read, filters, query)]
        shown = _staged(self._text_stages, query, read)
        if shown[-1][1].held_back:
            # Some of the best were moved down: then others may come up, and are read too.
            read, seen = reading.read(ranked, max(wanted, limit + reorder.MORE), filters)
            shown = _staged(self._text_stages, query, read)
        best = shown[-1][1]
        if moved := reading.moved(ranked):
            left_out = counted(moved, "hit")
            warnings.append(f"{left_out} left out: changed during the search, or cannot be read.")
        if self._reranking and self._reranking.problem:
            warnings.append(self._reranking.problem)
        left = _left(ranked, seen, best)
        chats = votes.rank_sessions(left, nominated.chat_vectors)[:limit]
        most = votes.max_score(plan.meant, left.lift, self.config)
        found = tuple(hits(best.take(slice(limit)), query, reading, most))
        names = frozenset(retold(found))
        traced = trace(reading, plan, [("fuse", fused), *scored], shown, most)
        return SearchResult(
            hits=found,
            past=names and names & set(map(short_id, self.index.record_states().superseded)),
            sessions=tuple(sessions(left, chats, reading, most)),
            warnings=tuple(warnings),
            trace=tuple(traced) if self.explain else (),
        )

    def _worth_staging(self, nominated: Nomination, query: QueryContext) -> Candidates:
        """The best by both rankings, and all that is from days the question names."""
        fused = fuse(without_copies(nominated.signals), self.config.rrf_k)
        if query.plan.phrases:  # quoted phrases are searched for in every candidate
            return fused
        chosen = np.arange(len(fused)) < max(NOMINATED, query.limit)
        chosen |= votes.is_from_any(query.plan.days, fused.signals.dated)
        return fused.take(chosen.nonzero()[0])

    def _doubts(
        self, nominated: Nomination, read: Candidates, filters: Filters, query: QueryContext
    ) -> Iterator[str]:
        """What makes doubtful that these are the answers."""
        plan = query.plan
        if not len(read):
            return
        yield from reorder.not_held(plan.phrases, read)
        if filters == self.kinds[0]:
            yield from not_said(plan, nominated, read)
            dated = nominated.signals.dated
            yield from votes.none_from(
                plan.days, plan.text, dated, query.today, decide=not plan.asked
            )
        if is_weak(nominated, read, query):
            yield WEAK


def _with_rarity(query: QueryContext, nominated: Nomination) -> QueryContext:
    """The query, with what the index knows of its words."""
    plan = query.plan
    rarity = dict(zip(plan.asked, nominated.rarity, strict=False))
    return replace(
        query,
        mean_similarity=nominated.mean_similarity,
        rarity=rarity | {word: rarity.get(stood_for, 0.0) for word, stood_for in plan.own.items()},
        exact=exactness(rarity, nominated.chunks, plan.names),
    )


def _staged(
    stages: Sequence[tuple[str, Stage]], query: QueryContext, candidates: Candidates
) -> Staged:
    """The candidates after each stage."""
    result = []
    for name, stage in stages:
        before, candidates = candidates, stage(query, candidates)
        if candidates is before:  # it had nothing to do, and found nothing
            candidates = replace(before, why={})
        result.append((name, candidates))
    return result


def _left(ranked: Candidates, seen: int, best: Candidates) -> Candidates:
    """What was not looked at, and what is left of the rest, with the scores that reading has given it."""
    given = dict(zip(best.signals.keys.tolist(), best.score.tolist(), strict=True))
    keys = ranked.signals.keys
    kept = np.isin(keys, best.signals.keys)
    kept[seen:] = True
    score = np.array(list(map(given.get, keys.tolist(), ranked.score.tolist())))
    return ranked.scored(score, {}).take(kept.nonzero()[0]).in_order()


def stages(
    config: SearchConfig, words: WordVectors | None, reranking: reorder.Reranking | None
) -> tuple[Stages, Stages]:
    """The stages that go by what the index knows, and those that go by what was read, as the settings have it."""
    by_votes = votes.are_counted(config)
    scored: Stages = [("weigh", votes.weigh)] if by_votes else []
    scored.append(("days", votes.prefer_days))
    if config.decay:
        scored.append(("decay", votes.decay(config.half_life_days, config.decay_strength)))
    if by_votes and words is not None:
        scored += [("passages", passages(words)), ("own", prefer_own(words))]
    shown: Stages = [
        ("phrases", reorder.require_phrases),
        *([("rerank", reranking)] if reranking else []),
        ("asked", reorder.demote_asked_before),
        ("replies", reorder.prefer_replies),
        ("names", reorder.prefer_names),
        ("supersede", reorder.demote_superseded),
    ]
    if config.diversify:
        shown.append(("diversify", reorder.diversify(config.mmr_lambda, config.mmr_floor)))
    return scored, shown
