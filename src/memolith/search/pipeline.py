"""A search from the question to the hits: two rankings, fused, then a list of stages.

Every stage is a function from candidates to candidates; switching one off is leaving it out of the list.
Some hundred candidates are judged by what the index knows of them; only the best of these are read
from their files.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from memolith.errors import EmbeddingError
from memolith.interfaces import Signals
from memolith.retrieval import WEAK, Hit, SearchResult, SessionHit, StageTrace
from memolith.search.days import is_from_any
from memolith.search.diversify import MORE
from memolith.search.fuse import RRF_K, fuse, once, raw
from memolith.search.phrases import not_held
from memolith.search.reading import Reading
from memolith.search.relevance import is_weak
from memolith.search.sessions import rank_sessions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence

    from memolith.interfaces import Column, Embedder, Index, Nomination, Vectors
    from memolith.retrieval import Chunk, Filters, ReadText
    from memolith.search.candidates import Candidates, Situation, Stage
    from memolith.search.plan import QueryPlan
    from memolith.text.dates import DayRange

    _Staged = Sequence[tuple[str, Candidates]]

# How many of each ranking take part in the fusion, and how many of those are staged: more change no
# recall (benchmarks/recall). Who wants many hits gets them.
NOMINATED = 200
CONSIDERED = 200
# Of further kinds, of which a turn wants few hits beside the first: so many for each, and some more.
_BESIDE, _SOME_BESIDE = 4, 20
_TRACED = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a search works with."""

    index: Index
    embedder: Embedder | None
    read_texts: Callable[[Iterable[Chunk]], Generator[ReadText | None]]
    digest: Callable[[str], bytes]
    stages: Sequence[tuple[str, Stage]]
    text_stages: Sequence[tuple[str, Stage]] = ()  # those that look at texts, of the best only
    by_words: bool = True
    explain: bool = True
    rrf_k: int = RRF_K
    words_weight: float = 1.0
    meaning_weight: float = 1.0


class Question:
    """A question put to an index: embedded once, and looked for in one pass for all kinds of hits."""

    def __init__(
        self, parts: Parts, plan: QueryPlan, situation: Situation, kinds: Sequence[Filters]
    ) -> None:
        """`kinds` are the filters it may be answered for; by the first it is judged to be weak or not.

        The limit of `situation` is the greatest it may be answered with.
        """
        self._parts = parts
        self._judged_by = kinds[0]
        self._plan = plan
        self._situation = situation
        self._warnings: list[str] = []
        wanted = max(NOMINATED, situation.limit)
        self._nominated = _nominate(parts, plan, kinds, wanted, self._warnings)
        self._reading = Reading(parts.index, parts.read_texts, parts.digest)

    def answer(self, filters: Filters, limit: int) -> SearchResult:
        """The best hits of one kind; what could not be done is said in the warnings."""
        parts, plan, reading = self._parts, self._plan, self._reading
        nominated = self._nominated[filters]
        warnings = list(self._warnings)
        situation = _told(self._situation, limit, plan, nominated)
        considered = once(
            fuse(nominated.signals, parts.rrf_k, parts.words_weight, parts.meaning_weight)
        )
        if not plan.phrases:  # what stands in quotation marks is looked for in all there are
            is_first = filters == self._judged_by
            most = CONSIDERED if is_first else min(CONSIDERED, _BESIDE * limit + _SOME_BESIDE)
            considered = _worth_staging(considered, situation, most)
        nominees, scored = considered, _staged(parts.stages, situation, considered)
        considered = (scored[-1][1] if scored else considered).in_order()
        chats = rank_sessions(considered, parts.index.chat_vectors)[:limit]
        _find_at_once(reading, considered, chats, limit)
        read, seen = reading.read(considered, len(considered) if plan.phrases else limit, filters)
        if len(read):
            warnings += not_held(plan.phrases, read)
            is_judged = parts.by_words and filters == self._judged_by
            if is_judged and is_weak(nominated, plan, read):
                warnings.append(WEAK)
        shown = _staged(parts.text_stages, situation, read)
        if any(stage.held_back for _, stage in shown):
            # Some of the best were moved down: then others may come up, and are read too.
            read, seen = reading.read(considered, max(len(read), limit + MORE), filters)
            shown = _staged(parts.text_stages, situation, read)
        read = shown[-1][1] if shown else read
        if moved := reading.moved(considered):
            warnings.append(f"{moved} hits were left out: their files changed during the search.")
        left = considered
        if len(read) < seen:
            left = _without_lost(considered, seen, read)
            chats = rank_sessions(left, parts.index.chat_vectors)[:limit]
        return SearchResult(
            hits=_hits(read.take(slice(limit)), plan.days, reading),
            sessions=_sessions(reading, left, chats),
            warnings=tuple(warnings),
            trace=tuple(_traced(reading, nominees, scored, shown)) if parts.explain else (),
        )


def _told(situation: Situation, limit: int, plan: QueryPlan, nominated: Nomination) -> Situation:
    """The situation, with what plan and index tell of the question."""
    rarity = dict(zip(plan.asked, nominated.rarity, strict=False))
    return replace(
        situation,
        question=plan.meant,
        limit=limit,
        usual_meaning=nominated.usual_meaning,
        days=plan.days,
        rarity=rarity | {word: rarity.get(stood_for, 0.0) for word, stood_for in plan.own.items()},
        phrases=plan.phrases,
    )


def _worth_staging(candidates: Candidates, situation: Situation, most: int) -> Candidates:
    """The best, and all that is from days the question names, however common its words are."""
    most = max(most, situation.limit)
    if not situation.days:
        return candidates.take(slice(most)) if len(candidates) > most else candidates
    chosen = np.arange(len(candidates)) < most
    chosen |= is_from_any(situation.days, candidates.signals.dated)
    return candidates if chosen.all() else candidates.take(np.flatnonzero(chosen))


def _staged(
    stages: Sequence[tuple[str, Stage]], situation: Situation, candidates: Candidates
) -> list[tuple[str, Candidates]]:
    """The candidates after each stage; one that had nothing to do hands on what it was given."""
    result = []
    for name, stage in stages:
        candidates = stage(situation, candidates)
        result.append((name, candidates))
    return result


def _nominate(
    parts: Parts, plan: QueryPlan, kinds: Sequence[Filters], wanted: int, warnings: list[str]
) -> dict[Filters, Nomination]:
    """The candidates of each kind; of days and of a chat, also what is not among the best of all."""
    words = plan.words if parts.by_words else ()
    vector = _vector(parts, plan, warnings)
    parts_of = {filters: [_within(filters, days) for days in plan.days] for filters in kinds}
    if words or vector is not None:
        for filters, narrower in parts_of.items():
            if filters.also_chat is not None:
                narrower.append(replace(filters, chat=filters.also_chat))
        every = [part for narrower in parts_of.values() for part in narrower]
        found = parts.index.nominate(words, vector, wanted, [*parts_of, *every])
    else:  # asked for days alone, or for nothing
        every = [part for narrower in parts_of.values() for part in narrower]
        found = parts.index.nominate(words, vector, 0, list(parts_of))
        found += parts.index.nominate(words, vector, wanted, every) if every else []
    rest = iter(found[len(parts_of) :])
    return {
        filters: _together([nominated, *islice(rest, len(narrower))])
        for (filters, narrower), nominated in zip(parts_of.items(), found, strict=False)
    }


def _together(found: Sequence[Nomination]) -> Nomination:
    """As the first, with what only the others have."""
    if len(found) == 1:
        return found[0]
    signals = Signals.together([nominated.signals for nominated in found])
    _, first = np.unique(signals.keys, return_index=True)
    return replace(found[0], signals=signals.take(np.sort(first)))


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
        vector = parts.embedder.embed([plan.meant])[0]
    except EmbeddingError as error:
        warnings.append(f"{error.message} Searched by words only.")
        return None
    return vector if vector.any() else None


def _without_lost(considered: Candidates, seen: int, read: Candidates) -> Candidates:
    """The candidates without those that were looked at and are not among what is left of these."""
    kept = np.isin(considered.signals.keys, read.signals.keys)
    kept[seen:] = True
    return considered.take(np.flatnonzero(kept))


def _find_at_once(
    reading: Reading, candidates: Candidates, chats: Sequence[tuple[int, float]], limit: int
) -> None:
    """Have the index look up what is likely to be shown, hits and chats, by one question."""
    places = [*range(min(limit, len(candidates))), *(at for at, _ in chats)]
    reading.find(dict.fromkeys(candidates.signals.keys[places].tolist()))


def _sessions(
    reading: Reading, candidates: Candidates, ranked: Sequence[tuple[int, float]]
) -> tuple[SessionHit, ...]:
    keys = candidates.signals.keys.tolist()
    found = reading.find(keys[at] for at, _ in ranked)
    chats = ((found[keys[at]].chunk, score) for at, score in ranked if keys[at] in found)
    return tuple(
        SessionHit(chat=chunk.chat, score=score, best=chunk.citation)
        for chunk, score in chats
        if chunk.chat
    )


def _traced(
    reading: Reading, nominated: Candidates, scored: _Staged, shown: _Staged
) -> Iterator[StageTrace]:
    """What each stage did; those that go by texts have put the candidates in order themselves."""
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
        yield StageTrace(
            stage=name,
            order=tuple(zip(cited, some.score[known].tolist(), strict=True)),
            found=tuple(_why(why, at) for at in known),
            note="nothing to do" if idle else "",
        )


def _why(columns: Mapping[str, Column], at: int) -> dict[str, float]:
    """The values a stage went by; a rank of 0 is none."""
    return {
        name: column[at].item()
        for name, column in columns.items()
        if column[at] or column.dtype.kind != "i"
    }


def _hits(candidates: Candidates, days: Sequence[DayRange], reading: Reading) -> tuple[Hit, ...]:
    signals, past = candidates.signals, candidates.superseded
    columns = zip(
        candidates.chunks,
        candidates.texts,
        candidates.score.tolist(),
        signals.words_rank.tolist(),
        signals.meaning_rank.tolist(),
        [False] * len(candidates) if past is None else past.tolist(),
        is_from_any(days, signals.dated).tolist(),
        map(reading.other_side, signals.keys.tolist()),
        strict=False,
    )
    return tuple(
        [
            Hit(
                citation=chunk.citation,
                text=text,
                score=score,
                record_id=chunk.record_id,
                category=chunk.category,
                session=chunk.session,
                chat=chunk.chat,
                role=chunk.role,
                dated=chunk.dated,
                sensitivity=chunk.sensitivity,
                channel=chunk.channel,
                heading=chunk.heading,
                superseded=superseded,
                expires=chunk.expires,
                of_a_day=of_a_day,
                other_side=other_side,
                ranks={
                    name: rank for name, rank in (("words", words), ("meaning", meaning)) if rank
                },
            )
            for chunk, text, score, words, meaning, superseded, of_a_day, other_side in columns
        ]
    )
