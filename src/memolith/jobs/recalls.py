"""The log of recalls, what was shown and what was used, and how it is folded into what is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, zip_longest

from memolith.files.layout import NESTED_MEMORY, ROOT_MEMORY
from memolith.files.recall_log import LOG, OLDER_LOG, encode_event
from memolith.files.record_format import RecordFormatError, parse_time
from memolith.jobs.recall_state import (
    MAX_DAYS,
    MAX_QUERIES,
    Recalled,
    RecallState,
    claim_of,
)
from memolith.text.terms import concept_tags


# Neither frozen nor keyword-only: a dream makes fifty thousand of them.
@dataclass(slots=True)
class Shown:
    """One statement that a surface showed, as the answer to one question."""

    at: datetime
    day: str
    query: str  # a digest: the question itself is not kept
    # From here on as in a row of the log.
    path: str
    first_line: int
    last_line: int
    score: float  # from 0 to 1
    record_id: str
    snippet: str
    claim: str
    answered: int  # 1, or 0 if it only filled the list behind better hits
    # Of the event: by what it was asked, and the words of the statement that the question has too.
    surface: str = ""
    words: tuple[str, ...] = ()


# The types of a row; JSON writes a score of 0 or 1 as an integer.
_ROWS = {(str, int, int, score, str, str, str, int) for score in (float, int)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Used:
    """Lines that were read after they were shown, or a record that was reported as helpful."""

    at: datetime
    day: str
    path: str = ""
    first_line: int = 0
    last_line: int = 0
    record_id: str = ""


def read_log(
    read: Callable[[str], bytes | None], since: datetime | None = None
) -> list[Shown | Used]:
    """The events of the log, and of the full one that was put aside, oldest first; or those since a moment.

    Torn and foreign lines are skipped.
    """
    # A last line without its end is still being written.
    logs = [(read(path) or b"").split(b"\n")[:-1] for path in (OLDER_LOG, LOG)]
    found = chain.from_iterable(map(_parse, chain(*logs)))
    return [event for event in found if since is None or event.at >= since]


def fold(
    state: RecallState, events: Sequence[Shown | Used], own_output: Collection[str] = ()
) -> RecallState:
    """The state with these events in it. The same question on the same day counts once.

    `own_output` are the files with copies, which are cited only if no other file says the same.
    """
    if not events:
        return state
    entries = dict(state.entries)
    by_claim = {claim_of(entry): key for key, entry in entries.items()}
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
        entries[new_key] = entry
        by_claim[claim] = new_key
    if used:
        entries = _with_uses(entries, used)
    updated = max(event.at for event in events)
    return replace(state, entries=entries, updated=max(state.updated or updated, updated))


def _free_key(entries: dict[str, Recalled], entry: Recalled) -> str:
    """The key of its place; if another statement is known by that place, with the claim behind it."""
    return entry.key if entry.key not in entries else f"{entry.key}:{entry.claim}"


def _shown(
    entry: Recalled | None, events: Sequence[Shown], own_output: Collection[str]
) -> Recalled:
    """The entry with these events in it, as a new value; cited is the latest of the best places."""
    best = max(reversed(events), key=lambda event: _rank(event.path, own_output))
    if entry is None:
        entry = Recalled(
            path=best.path,
            first_line=best.first_line,
            last_line=best.last_line,
            snippet=best.snippet,
            recalls=0,
            total_score=0.0,
            max_score=0.0,
            first_at=events[0].at,
            last_at=events[0].at,
            tags=concept_tags(best.snippet),
        )
    else:
        entry = replace(entry)
        if _rank(best.path, own_output) >= _rank(entry.path, own_output):
            entry.path, entry.snippet = best.path, best.snippet
            entry.first_line, entry.last_line = best.first_line, best.last_line
    entry.claim, entry.record_id = best.claim, best.record_id or entry.record_id
    entry.shown += len(events)
    if answers := [event for event in events if event.answered]:
        _count(answers, entry)
    return entry


def _count(answers: Sequence[Shown], entry: Recalled) -> None:
    """Count the answers into an entry that nobody else has seen yet."""
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


def _rank(path: str, own_output: Collection[str]) -> int:
    """Of several places that say the same, the one to cite: rather a source than our copy of it."""
    if path in own_output:
        return 0
    return 1 if path in (ROOT_MEMORY, NESTED_MEMORY) else 2


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


def without(data: bytes, names: Collection[str]) -> bytes:
    """A log without statements that have one of these ids, claims or paths of files."""
    encoded = [json.dumps(name).encode() for name in names]
    lines = (
        _line_without(line, names) if any(name in line for name in encoded) else line
        for line in data.split(b"\n")
    )
    return b"".join(line + b"\n" for line in lines if line)


def _line_without(line: bytes, names: Collection[str]) -> bytes:
    content = _content(line)
    hits = content.get("hits")
    if not isinstance(hits, list):
        return b""
    left = [row for row in hits if isinstance(row, list) and not any(name in row for name in names)]
    if left != hits:
        content.pop("words", None)  # those of what goes are among them
    return encode_event({**content, "hits": left}) if left else b""


def _content(line: bytes) -> dict[str, object]:
    try:
        content = json.loads(line.decode())  # given bytes it would guess the encoding first
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _parse(line: bytes) -> Iterable[Shown | Used]:
    match _content(line) if line else {}:
        case {"at": str(at), "day": str(day), **content}:
            try:
                moment = parse_time(at, "at")
            except RecordFormatError:
                return
        case _:
            return
    match content:
        case {"query": str(query), "hits": list(rows)}:
            surface, words = str(content.get("surface", "")), content.get("words")
            words = words if isinstance(words, list) else ()
            for row, shared in zip_longest(rows, words[: len(rows)], fillvalue=()):
                # A pattern would say the same, five times slower.
                if isinstance(row, list) and tuple(map(type, row)) in _ROWS:
                    told = tuple(map(str, shared)) if isinstance(shared, list) else ()
                    yield Shown(*(moment, day, query, *row, surface, told))
        case {"used": [str(path), int(first), int(last), str(name)]}:
            yield Used(
                at=moment, day=day, path=path, first_line=first, last_line=last, record_id=name
            )
