"""Fold what was noted into what is known: pure, so that a dry run does the same and writes nothing."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from memolith.files.layout import NESTED_MEMORY, ROOT_MEMORY
from memolith.jobs.recall_state import MAX_DAYS, MAX_QUERIES, Recalled, RecallState
from memolith.jobs.recalls import Shown, Used
from memolith.text.concepts import concept_tags
from memolith.text.pieces import claim_key

_SOURCE = 2  # what stands highest: see `_standing`


def fold(
    state: RecallState, events: Sequence[Shown | Used], own_output: Collection[str] = ()
) -> RecallState:
    """The state with these events in it. The same question on the same day counts once.

    `own_output` are the files with copies, which are cited only if no other file says the same.
    """
    if not events:
        return state
    entries = dict(state.entries)
    signals = dict(state.signals)
    by_claim = {_claim(entry): key for key, entry in entries.items()}
    groups: dict[str, list[Shown]] = {}
    used = []
    for event in events:
        if isinstance(event, Shown):
            groups.setdefault(event.claim, []).append(event)
        else:
            used.append(event)
    for claim, shown in groups.items():
        key = by_claim.get(claim)
        entry = _shown(entries.pop(key) if key else None, shown, own_output)
        new_key = _free_key(entries, entry)
        if key and key in signals and key != new_key:
            signals[new_key] = signals.pop(key)
        entries[new_key] = entry
        by_claim[claim] = new_key
    if used:
        entries = _with_uses(entries, used)
    updated = max(event.at for event in events)
    return replace(
        state,
        entries=entries,
        signals=signals,
        updated=max(state.updated or updated, updated),
    )


def _claim(entry: Recalled) -> str:
    """Entries of other programs have no claim; their beginning has to do."""
    return entry.claim or claim_key(entry.snippet)


def _free_key(entries: dict[str, Recalled], entry: Recalled) -> str:
    """The key of its place; if another statement is known by that place, with the claim behind it."""
    return entry.key if entry.key not in entries else f"{entry.key}:{entry.claim}"


def _shown(
    entry: Recalled | None, events: Sequence[Shown], own_output: Collection[str]
) -> Recalled:
    last = events[-1]
    if _standing(last.path, own_output) < _SOURCE:
        last = max(reversed(events), key=lambda event: _standing(event.path, own_output))
    if entry is None:
        entry = _new(last, events)
    else:
        is_better = _standing(last.path, own_output) >= _standing(entry.path, own_output)
        entry = _shown_again(entry, last if is_better else entry, last, len(events))
    answers = [event for event in events if event.answered]
    if answers:
        _count(answers, entry)
    return entry


def _new(last: Shown, events: Sequence[Shown]) -> Recalled:
    return Recalled(
        path=last.path,
        first_line=last.first_line,
        last_line=last.last_line,
        snippet=last.snippet,
        recalls=0,
        total_score=0.0,
        max_score=0.0,
        first_at=events[0].at,
        last_at=events[0].at,
        tags=concept_tags(last.snippet),
        shown=len(events),
        claim=last.claim,
        record_id=last.record_id,
    )


def _shown_again(entry: Recalled, place: Shown | Recalled, last: Shown, times: int) -> Recalled:
    return replace(
        entry,
        path=place.path,
        first_line=place.first_line,
        last_line=place.last_line,
        snippet=place.snippet,
        shown=entry.shown + times,
        claim=last.claim,
        record_id=last.record_id or entry.record_id,
    )


def _count(answers: Sequence[Shown], entry: Recalled) -> None:
    """Count the answers into an entry that nobody else has seen yet: a copy would take twice the time."""
    counted = _once_a_day(entry, answers)
    days = sorted({*entry.days, *[event.day for event in answers]})
    today = [event.query for event in counted if event.day == days[-1]]
    earlier = entry.last_queries if days[-1] in entry.days[-1:] else ()
    queries = dict.fromkeys([*entry.queries, *[event.query for event in answers]])
    entry.recalls += len(counted)
    entry.total_score += sum([event.score for event in counted])
    entry.max_score = max([entry.max_score, *[event.score for event in answers]])
    entry.last_at = max([entry.last_at, *[event.at for event in answers]])
    entry.days = tuple(days[-MAX_DAYS:])
    entry.queries = tuple(queries)[-MAX_QUERIES:]
    entry.last_queries = tuple(dict.fromkeys([*earlier, *today]))[-MAX_QUERIES:]


def _standing(path: str, own_output: Collection[str]) -> int:
    """Of several places that say the same, the one to cite: rather a source than our copy of it."""
    if path in own_output:
        return 0
    return 1 if path in (ROOT_MEMORY, NESTED_MEMORY) else _SOURCE


def _once_a_day(entry: Recalled, events: Sequence[Shown]) -> list[Shown]:
    """The events without a question that was counted on that day already."""
    last_day = entry.days[-1] if entry.days else ""
    seen = {(last_day, query) for query in entry.last_queries}
    found: dict[tuple[str, str], Shown] = {}
    for event in events:
        found.setdefault((event.day, event.query), event)
    return [event for asked, event in found.items() if asked not in seen]


def _with_uses(entries: dict[str, Recalled], used: Sequence[Used]) -> dict[str, Recalled]:
    """Count what was read after it was shown; what nobody was shown is not a recall."""
    by_path: dict[str, list[str]] = {}
    by_record: dict[str, list[str]] = {}
    for key, entry in entries.items():
        by_path.setdefault(entry.path, []).append(key)
        if entry.record_id:
            by_record.setdefault(entry.record_id, []).append(key)
    for event in used:
        for key in {*by_record.get(event.record_id, ()), *by_path.get(event.path, ())}:
            entry = entries[key]
            if entry.first_at <= event.at and _means(event, entry):
                entries[key] = replace(entry, used=entry.used + 1)
    return entries


def _means(event: Used, entry: Recalled) -> bool:
    if event.record_id and event.record_id == entry.record_id:
        return True
    same_file = event.path == entry.path
    return same_file and (
        event.first_line <= entry.last_line and entry.first_line <= event.last_line
    )
