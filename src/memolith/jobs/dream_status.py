"""What dreaming knows and would do: read from the files, nothing is written."""

from __future__ import annotations

from dataclasses import replace

from memolith.errors import NotFoundError
from memolith.files import layout, recall_log
from memolith.files.passages import parse_citation
from memolith.files.promoted import blocks
from memolith.jobs.changes import split_lines
from memolith.jobs.dream import last_dream
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.promotion import Judge, Judgement
from memolith.jobs.recalls import WEIGHTS, Recalled
from memolith.jobs.reports import DreamExplanation, DreamStatus
from memolith.text.pieces import claim_key
from memolith.types import Citation

_HOW_TO_NAME = "Name it by a citation, the id of its record or its own words; what is tracked: memolith dream status"
_MAX_WAITING = 10
_MAX_UNDONE = 50
_MIN_PREFIX = 4  # of an id or a claim


def dream_status(place: Workplace) -> DreamStatus:
    """How much is tracked, when the last dream was, and what the next would promote."""
    with place.reading() as folder:
        snapshot = Snapshot(folder)
        # As the schedule would: asked by hand, it proposes again what was declined.
        judge = Judge(replace(place, by_hand=False), snapshot)
        chosen, refused = judge.judge_all()
        undone = [judge.judge(key) for key in judge.taken_back()[:_MAX_UNDONE]]
        memory = snapshot.read(place.config.profile.primary) or b""
        facts = [fact for block in blocks(split_lines(memory)) for fact in block.facts]
        return DreamStatus(
            tracking=place.config.dream.track,
            tracked=len(judge.state.entries),
            noted_since=judge.state.noted,
            last_dream=last_dream(snapshot.read(layout.DREAM_DIARY) or b"") or None,
            promoted=len(facts),
            promoted_chars=sum(fact.chars for fact in facts),
            next=tuple(_explained(judge, one) for one in chosen),
            waiting=tuple(_explained(judge, one) for one in refused[:_MAX_WAITING]),
            undone=tuple(_explained(judge, one) for one in undone),
            warnings=tuple(f"{path} cannot be read in full." for path in judge.state.damaged),
        )


def explain(place: Workplace, name: str) -> DreamExplanation:
    """Why a statement is promoted or not; by its key, citation, record id, claim or own words."""
    with place.reading() as folder:
        judge = Judge(place, Snapshot(folder))
        return _explained(judge, judge.judge(_key(judge, name)))


def _key(judge: Judge, name: str) -> str:
    entries = judge.state.entries
    if name in entries:
        return name
    place = parse_citation(name)
    # The record in the cited lines may be tracked by its line in another file.
    found = judge.sources.cited(place) if place else []
    ids = {one.record.id for one in found if one.record}
    claims = {claim_key(name), *(claim_key(one.text) for one in found)}
    matches = [
        key
        for key, one in entries.items()
        if one.record_id in ids or one.claim in claims or _is_meant(one, name, place)
    ]
    if len(matches) == 1:
        return matches[0]
    message = f"No tracked statement is called {name!r}."
    if matches:
        message = f"{len(matches)} tracked statements are called {name!r}."
    elif found:
        message = f"{name} was not recalled yet: dreaming knows only what somebody asked for."
    raise NotFoundError(message, name=name, hint=_HOW_TO_NAME)


def _is_meant(entry: Recalled, name: str, place: Citation | None) -> bool:
    if place is None:
        is_prefix = entry.record_id.startswith(name) or entry.claim.startswith(name)
        return len(name) >= _MIN_PREFIX and is_prefix
    overlaps = entry.first_line <= place.last_line and place.first_line <= entry.last_line
    return entry.path == place.path and overlaps


def _explained(judge: Judge, judged: Judgement) -> DreamExplanation:
    entry = judged.entry
    found = judged.statement or judge.sources.statement(entry)
    # What the file says now: the text that was recalled may have become secret since. Chats cannot.
    snippet = found.text[: recall_log.SNIPPET_CHARS] if found else ""
    if entry.path == layout.CONVERSATIONS:
        snippet = entry.snippet
    return DreamExplanation(
        key=judged.key,
        citation=replace(judged, statement=found).place,
        snippet=snippet,
        promotes=not judged.reason,
        reason=judged.reason or None,
        score=judged.score.value,
        signals=judged.score.terms,
        weights=WEIGHTS,
        spread=judge.spread,
        recalls=entry.recalls,
        shown=entry.shown,
        used=entry.used,
        questions=len(entry.queries),
        days=entry.days,
        tags=entry.tags if snippet else (),
    )
