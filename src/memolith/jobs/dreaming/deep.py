"""Deep sleep: which recalled statements pass the gates, and why the others do not."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime

from memolith.config.sections import DreamConfig
from memolith.jobs.dreaming.meaning import Said
from memolith.jobs.dreaming.score import Score, score, variety
from memolith.jobs.dreaming.sources import Sources
from memolith.jobs.recall_state import Recalled, RecallState
from memolith.jobs.statements import Statement

YOU_UNDID_IT = "you undid or declined it; to allow it again: memolith dream --again"
# So many of the best are looked up in the files; a promotion is found long before.
_MOST_EXAMINED = 200
MAX_AGE_DAYS = 30  # since the last recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What deep sleep makes of one entry; `reason` says why it is not promoted, or is empty.

    `statement` is it as it stands in the files now, if that was looked up.
    """

    key: str
    entry: Recalled
    score: Score
    reason: str = ""
    statement: Statement | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Night:
    """What deep sleep judges by: the state, the files, and what MEMORY.md says already."""

    state: RecallState
    config: DreamConfig
    now: datetime
    promoted: Collection[str]  # claims that dreaming wrote and that still stand in MEMORY.md
    sources: Sources
    said: Said
    undone: Collection[str] = ()  # claims that somebody took back or declined
    by_hand: bool = (
        True  # somebody asks for a dream, and may be asked again about what was declined
    )
    again: bool = False  # … and wants what was undone to be looked at again


def judge(night: Night, key: str) -> Judgement:
    """The judgement of one entry, whatever its rank."""
    judged = _at_the_gates(night, key)
    return judged if judged.reason else _at_the_source(night, judged)


def judge_all(night: Night) -> tuple[list[Judgement], list[Judgement]]:
    """What is promoted, best first, and what passed the gates but is not."""
    chosen: list[Judgement] = []
    refused: list[Judgement] = []
    for judged in _ranked(night)[:_MOST_EXAMINED]:
        if len(chosen) >= night.config.max_per_run:
            refused.append(_refused(night, judged, "enough for one night (dream.max_per_run)"))
            continue
        found = _at_the_source(night, judged)
        if found.reason:
            refused.append(found)
        elif found.statement is not None:
            chosen.append(found)
            night.said.add(found.statement.text)  # two entries may say the same
    return chosen, refused


def taken_back(night: Night) -> list[str]:
    """The keys of what somebody undid or declined and that does not stand in MEMORY.md, the best first."""
    entries = night.state.entries
    gone = [
        key
        for key, entry in entries.items()
        if entry.claim in night.undone and entry.claim not in night.promoted
    ]
    return sorted(gone, key=lambda key: (-entries[key].recalls, key))


def _ranked(night: Night) -> list[Judgement]:
    passed = (
        judged
        for key, entry in night.state.entries.items()
        if entry.recalls >= night.config.min_recalls
        and not (judged := _at_the_gates(night, key)).reason
    )
    return sorted(passed, key=lambda judged: (-judged.score.value, judged.key))


def _at_the_gates(night: Night, key: str) -> Judgement:
    entry = night.state.entries[key]
    found = score(entry, night.state.signals.get(key, 0.0), night.now)
    reason = next(_closed_gates(night, entry, found), "")
    return Judgement(key=key, entry=entry, score=found, reason=reason)


def _closed_gates(night: Night, entry: Recalled, found: Score) -> Iterator[str]:
    config = night.config
    if entry.claim in night.promoted:
        yield "it was promoted and is in MEMORY.md"
    was_taken_out = bool(entry.promoted_at and not entry.dropped_at)
    if entry.claim in night.undone:
        if not night.again and (was_taken_out or not night.by_hand):
            yield YOU_UNDID_IT
    elif was_taken_out:
        yield "it was promoted once and taken out of MEMORY.md again"
    if entry.dropped_at and entry.last_at <= entry.dropped_at:
        yield "it made room for others, and nobody has asked for it since"
    if entry.recalls < config.min_recalls:
        yield f"recalled {entry.recalls} of {config.min_recalls} times (dream.min_recalls)"
    if variety(entry) < config.min_queries:
        yield f"{variety(entry)} of {config.min_queries} questions (dream.min_queries)"
    if found.age_days > MAX_AGE_DAYS:
        yield f"last recalled {found.age_days:.0f} days ago"
    if found.value < config.min_score:
        yield f"score {found.value:.2f} is below {config.min_score:g} (dream.min_score)"


def _at_the_source(night: Night, judged: Judgement) -> Judgement:
    found = night.sources.find(judged.entry)
    if isinstance(found, str):
        return _refused(night, judged, found)
    if night.said.says(found.text):
        return _refused(night, judged, "MEMORY.md says it already")
    return Judgement(key=judged.key, entry=judged.entry, score=judged.score, statement=found)


def _refused(night: Night, judged: Judgement, reason: str) -> Judgement:
    return Judgement(
        key=judged.key,
        entry=judged.entry,
        score=judged.score,
        reason=reason,
        statement=night.sources.statement(judged.entry),  # lines move: it is cited where it stands
    )
