"""What dreaming knows and would do: read from the files, nothing is written."""

from __future__ import annotations

from dataclasses import replace

from memolith.errors import NotFoundError
from memolith.files import layout
from memolith.files.passages import parse_citation
from memolith.files.promoted import promoted_facts
from memolith.files.recall_log import SNIPPET_CHARS
from memolith.jobs.changes import split_lines
from memolith.jobs.dream import last_dream
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.promotion import Judge, Judgement
from memolith.jobs.recalls import RECALLS, WEIGHTS, Recalled
from memolith.jobs.reports import DreamExplanation, DreamStatus
from memolith.text.pieces import claim_key

_HOW_TO_NAME = "Name it by a citation, the id of its record or its own words; what is tracked: memolith dream status"
_MAX_WAITING = 10
_MAX_UNDONE = 50
_MIN_PREFIX = 4  # of an id


def dream_status(place: Workplace) -> DreamStatus:
    """How much is tracked, when the last dream was, and what the next would promote."""
    with place.reading() as folder:
        snapshot = Snapshot(folder)
        # As the schedule would: asked by hand, it proposes again what was declined.
        judge = Judge(replace(place, by_hand=False), snapshot)
        chosen, refused = judge.judge_all()
        undone = [judge.judge(key) for key in judge.left_out()[:_MAX_UNDONE]]
        lines = split_lines(snapshot.read(place.config.profile.primary) or b"")
        facts = [lines[number - 1].decode(errors="replace") for number in promoted_facts(lines)]
        return DreamStatus(
            tracking=place.config.dream.track,
            tracked=len(judge.state.entries),
            noted_since=judge.state.noted,
            last_dream=last_dream(snapshot.read(layout.DREAM_DIARY) or b"") or None,
            promoted=len(facts),
            promoted_chars=sum(map(len, facts)),
            next=tuple(_explained(judge, one) for one in chosen),
            waiting=tuple(_explained(judge, one) for one in refused[:_MAX_WAITING]),
            undone=tuple(_explained(judge, one) for one in undone),
            warnings=(f"{RECALLS} cannot be read in full.",) if judge.state.is_damaged else (),
        )


def explain(place: Workplace, name: str) -> DreamExplanation:
    """Why a statement is promoted or not; by its key, citation, record id, claim or own words."""
    with place.reading() as folder:
        judge = Judge(place, Snapshot(folder))
        return _explained(judge, judge.judge(_key(judge, name)))


def _key(judge: Judge, name: str) -> str:
    """The key of the one entry that is called so."""
    entries = judge.state.entries
    if name in entries:
        return name
    place = parse_citation(name)
    # The record in the cited lines may be tracked by its line in another file.
    found = judge.sources.cited(place) if place else []
    names = {claim_key(name), *(one.claim for one in found), *(one.record_id for one in found)}

    def is_meant(entry: Recalled) -> bool:
        if place and entry.path == place.path and entry.first_line <= place.last_line:
            return place.first_line <= entry.last_line
        is_prefix = len(name) >= _MIN_PREFIX and entry.record_id.startswith(name)
        return is_prefix or not (names - {""}).isdisjoint((entry.claim, entry.record_id))

    matches = [key for key, entry in entries.items() if is_meant(entry)]
    if len(matches) == 1:
        return matches[0]
    message = f"No tracked statement is called {name!r}."
    if matches:
        message = f"{len(matches)} tracked statements are called {name!r}."
    elif found:
        message = f"{name} was not recalled yet: dreaming knows only what somebody asked for."
    raise NotFoundError(message, name=name, hint=_HOW_TO_NAME)


def _explained(judge: Judge, judged: Judgement) -> DreamExplanation:
    entry, found = judged.entry, judged.statement
    # What the file says now: the text that was recalled may have become secret since. Chats cannot.
    is_of_chat = entry.path == layout.CONVERSATIONS
    snippet = entry.snippet if is_of_chat else found.text[:SNIPPET_CHARS] if found else ""
    return DreamExplanation(
        key=judged.key,
        citation=judged.place,
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
