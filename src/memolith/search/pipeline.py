"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function from candidates to candidates; switching one off is leaving it out of the list.
Some hundred candidates are judged by what the index knows of them; only the best of these are read
from their files.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from memolith.config.sections import SearchConfig
from memolith.interfaces import NEAR, Embedder, Index, Nomination, Reranker, WordVectors
from memolith.results import WEAK, Chunk, Filters, ReadText, SearchResult
from memolith.search.candidates import Candidates, QueryContext, Stage, Staged
from memolith.search.doubt import exactness, is_weak, not_said
from memolith.search.nominate import find_candidates, fuse, meaning_of, once
from memolith.search.passages import TokensOf, passages
from memolith.search.plan import QueryPlan
from memolith.search.reading import Reading, with_successors
from memolith.search.reorder import (
    MORE,
    demote_superseded,
    diversify,
    not_held,
    prefer_names,
    require_phrases,
)
from memolith.search.rerank import READ, Reranking
from memolith.search.sessions import rank_sessions
from memolith.search.showing import hits, retold, sessions, trace
from memolith.search.votes import decay, is_from_any, max_score, none_from, prefer_days, weigh
from memolith.text.choices import with_halves
from memolith.text.summary_line import short_id
from memolith.text.wording import counted

# How many of each ranking take part in the fusion, and how many of those are staged: more change no
# recall (benchmarks/recall). Who wants many hits gets them.
NOMINATED = 200
CONSIDERED = 200
# Of further kinds, of which a turn wants few hits beside the first: so many for each, and some more.
_BESIDE, _SOME_BESIDE = 4, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a search works with."""

    index: Index
    embedder: Embedder | None
    read_texts: Callable[[Iterable[Chunk]], Generator[ReadText | None]]
    digest: Callable[[str], bytes]
    word_vectors: WordVectors | None
    config: SearchConfig
    explain: bool
    reranker: Reranker | None = None


class Question:
    """A question put to an index: embedded once, and looked for in one pass for all kinds of hits."""

    def __init__(
        self, resources: Resources, plan: QueryPlan, query: QueryContext, kinds: Sequence[Filters]
    ) -> None:
        """`kinds` are the filters it may be answered for; by the first it is judged to be weak or not.

        The limit of `query` is the greatest it may be answered with.
        """
        self._resources = resources
        self._plan = plan if resources.config.words else replace(plan, words=())
        near = getattr(resources.embedder, "near", NEAR)
        self._query = replace(query, near=near)
        self._first_kind = kinds[0]
        self._stages = stages(resources.config, resources.word_vectors, resources.index.tokens)
        model, seconds = resources.reranker, resources.config.rerank_seconds
        self._reranking = Reranking(model, seconds) if model else None
        # On texts, of the best candidates only.
        self._text_stages = text_stages(resources.config, self._reranking)
        self._reading = Reading(resources.index, resources.read_texts, resources.digest)
        vector, self._warnings = meaning_of(plan.meant, resources.embedder)
        self._nominated = find_candidates(
            resources.index, self._plan, vector, kinds, max(NOMINATED, query.limit)
        )

    def changed_files(self) -> set[str]:
        """The files that were not as the index says, when hits were read from them."""
        return self._reading.changed_files()

    def answer(self, filters: Filters, limit: int) -> SearchResult:
        """The best hits of one kind; what could not be done is said in the warnings."""
        resources, reading = self._resources, self._reading
        nominated = self._nominated[filters]
        query = _told(replace(self._query, limit=limit), self._plan, nominated)
        nominees = self._worth_staging(nominated, query, filters)
        scored = _staged(self._stages, query, nominees)
        ranked = _last(scored, nominees).in_order()
        chats = rank_sessions(ranked, resources.index.chat_vectors)[:limit]
        _find_at_once(reading, ranked, chats, limit)
        more = MORE * bool(query.names)
        wanted = len(ranked) if query.phrases else max(limit + more, READ * bool(self._reranking))
        read, seen = self._read(ranked, wanted, filters)
        warnings = [*self._warnings, *self._doubts(nominated, read, filters, query)]
        shown = _staged(self._text_stages, query, read)
        if any(stage.held_back for _, stage in shown):
            # Some of the best were moved down: then others may come up, and are read too.
            read, seen = self._read(ranked, max(wanted, limit + MORE), filters)
            shown = _staged(self._text_stages, query, read)
        best = _last(shown, read)
        if moved := reading.moved(ranked):
            are, files = ("is", "its file") if moved == 1 else ("are", "their files")
            warnings.append(
                f"{counted(moved, 'hit')} {are} left out:"
                f" {files} changed during the search, or cannot be read."
            )
        left = _without_lost(ranked, seen, best)
        if self._reranking:
            left = _rescored(left, best)
            warnings += self._reranking.warnings()
        if left is not ranked:
            ranked = left
            chats = rank_sessions(ranked, resources.index.chat_vectors)[:limit]
        most = max_score(query.question, ranked.lift, by_votes=resources.config.fusion == "votes")
        shown_hits = hits(best.first(limit), query, reading, most)
        names = frozenset(retold(shown_hits))
        return SearchResult(
            hits=shown_hits,
            past=names and names & set(map(short_id, resources.index.record_states().superseded)),
            sessions=sessions(reading, ranked, chats, most),
            warnings=tuple(warnings),
            trace=tuple(trace(reading, self._plan, nominees, scored, shown, most))
            if resources.explain
            else (),
        )

    def _read(self, ranked: Candidates, wanted: int, filters: Filters) -> tuple[Candidates, int]:
        """The best with their texts and what took their place, and how many had to be looked at."""
        read, seen = self._reading.read(ranked, wanted, filters)
        return with_successors(read, ranked, self._reading, filters), seen

    def _worth_staging(
        self, nominated: Nomination, query: QueryContext, filters: Filters
    ) -> Candidates:
        """The best by both rankings, and all that is from days the question names."""
        resources, limit = self._resources, query.limit
        fused = once(fuse(nominated.signals, resources.config.rrf_k))
        if resources.config.fusion == "rrf":  # copies took ranks
            fused = fuse(fused.signals, resources.config.rrf_k)
        if query.phrases:  # quoted phrases are searched for in every candidate
            return fused
        is_first = filters == self._first_kind
        most = CONSIDERED if is_first else min(CONSIDERED, _BESIDE * limit + _SOME_BESIDE)
        return _best_and_of_days(fused, query, max(most, limit))

    def _doubts(
        self, nominated: Nomination, read: Candidates, filters: Filters, query: QueryContext
    ) -> Iterator[str]:
        """What makes doubtful that these are the answers."""
        if len(read):
            yield from not_held(self._plan.phrases, read)
            if filters == self._first_kind:
                yield from not_said(self._plan, nominated, read)
                yield from self._no_such_days(nominated)
            if filters == self._first_kind and is_weak(nominated, self._plan, read, query):
                yield WEAK

    def _no_such_days(self, nominated: Nomination) -> Iterator[str]:
        """That nothing is from the days that the question names, if it is about them."""
        plan, today = self._plan, self._query.today
        dated = nominated.signals.dated
        return none_from(plan.days, plan.text, dated, today, decide=not plan.asked)


def _told(query: QueryContext, plan: QueryPlan, nominated: Nomination) -> QueryContext:
    """The query, with what plan and index tell of the question."""
    rarity = dict(zip(plan.asked, nominated.rarity, strict=False))
    return replace(
        query,
        question=plan.meant,
        mean_similarity=nominated.mean_similarity,
        days=plan.days,
        rarity=rarity | {word: rarity.get(stood_for, 0.0) for word, stood_for in plan.own.items()},
        exact=exactness(with_halves(plan.text).split(), rarity, nominated.chunks, plan.names),
        subjects=len(plan.asked),
        phrases=plan.phrases,
        names=plan.names,
    )


def _best_and_of_days(candidates: Candidates, query: QueryContext, most: int) -> Candidates:
    """The best, and all that is from the days asked for, however common its words are."""
    if not query.days:
        return candidates.first(most)
    chosen = np.arange(len(candidates)) < most
    chosen |= is_from_any(query.days, candidates.signals.dated)
    return candidates if chosen.all() else candidates.take(chosen.nonzero()[0])


def _staged(
    stages: Sequence[tuple[str, Stage]], query: QueryContext, candidates: Candidates
) -> Staged:
    """The candidates after each stage; one that had nothing to do hands on what it was given."""
    result = []
    for name, stage in stages:
        candidates = stage(query, candidates)
        result.append((name, candidates))
    return result


def _last(staged: Staged, before: Candidates) -> Candidates:
    """What the stages have left."""
    return staged[-1][1] if staged else before


def _find_at_once(
    reading: Reading, candidates: Candidates, chats: Sequence[tuple[int, float]], limit: int
) -> None:
    """Have the index look up what is likely to be shown, hits and chats, by one question."""
    places = [*range(min(limit, len(candidates))), *[at for at, _ in chats]]
    reading.find(dict.fromkeys(candidates.signals.keys[places].tolist()))


def _without_lost(considered: Candidates, seen: int, read: Candidates) -> Candidates:
    """The candidates without those that were looked at and are not among what is left of these."""
    kept = np.isin(considered.signals.keys, read.signals.keys)
    kept[seen:] = True
    return considered if kept.all() else considered.take(kept.nonzero()[0])


def _rescored(considered: Candidates, read: Candidates) -> Candidates:
    """The candidates in order, with the scores that reading has given some of them."""
    given = dict(zip(read.signals.keys.tolist(), read.score.tolist(), strict=True))
    before = zip(considered.signals.keys.tolist(), considered.score.tolist(), strict=True)
    score = np.array([given.get(key, score) for key, score in before])
    return considered.scored(score, {}).in_order()


# The list of stages, as the settings have it.

Stages = list[tuple[str, Stage]]


def stages(config: SearchConfig, words: WordVectors | None, tokens_of: TokensOf) -> Stages:
    """Those that go by what the index knows."""
    by_votes = config.fusion == "votes"
    found: Stages = [("weigh", weigh)] if by_votes else []
    found.append(("days", prefer_days))
    if config.decay:
        found.append(("decay", decay(config.half_life_days, config.decay_strength)))
    if by_votes and words is not None:
        found.append(("passages", passages(words, tokens_of)))
    return found


def text_stages(config: SearchConfig, reranking: Reranking | None) -> Stages:
    """Those that go by what was read from the files."""
    found: Stages = [
        ("phrases", require_phrases),
        *([("rerank", reranking)] if reranking else []),
        ("names", prefer_names),
        ("supersede", demote_superseded),
    ]
    if config.diversify:
        found.append(("diversify", diversify(config.mmr_lambda, config.mmr_floor)))
    return found
