"""What dreaming knows and would do: read from the files, nothing is written."""

from __future__ import annotations

from dataclasses import replace

from memolith.errors import NotFoundError
from memolith.files import layout, recall_log
from memolith.files.passages import parse_citation
from memolith.files.promoted import blocks
from memolith.jobs.changes import split_lines
from memolith.jobs.dream import Folding, asleep, open_night
from memolith.jobs.dreaming.deep import Judgement, Night, judge, judge_all, taken_back
from memolith.jobs.dreaming.diary import last_dream
from memolith.jobs.dreaming.score import WEIGHTS
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.recall_state import Recalled
from memolith.jobs.reports import DreamExplanation, DreamStatus
from memolith.jobs.statements import Statement
from memolith.text.pieces import claim_key

_HOW_TO_NAME = "Name it by a citation, the id of its record or its own words; what is tracked: memolith dream status"
_MOST_WAITING = 10
_MOST_UNDONE = 50


def dream_status(place: Workplace) -> DreamStatus:
    """How much is tracked, when the last dream was, and what the next would promote."""
    with place.reading() as folder:
        snapshot = Snapshot(folder)
        folding = Folding(layout.own_output(place.config))
        folded = folding.read(snapshot)
        # As the schedule would: asked by hand, it proposes again what was declined.
        night = _night(replace(place, by_hand=False), snapshot, folding)
        chosen, refused = judge_all(night)
        memory = snapshot.read(place.config.profile.primary) or b""
        facts = [fact for block in blocks(split_lines(memory)) for fact in block.facts]
        return DreamStatus(
            tracking=place.config.dream.track,
            tracked=len(night.state.entries),
            noted_since=folded.noted,
            last_dream=last_dream(snapshot.read(layout.DREAM_DIARY) or b"") or None,
            promoted=len(facts),
            promoted_chars=sum(fact.chars for fact in facts),
            next=tuple(_explained(night, judged) for judged in chosen),
            waiting=tuple(_explained(night, judged) for judged in refused[:_MOST_WAITING]),
            undone=tuple(
                _explained(night, judge(night, key)) for key in taken_back(night)[:_MOST_UNDONE]
            ),
            warnings=tuple(f"{path} cannot be read in full." for path in folded.before.damaged),
        )


def explain(place: Workplace, name: str) -> DreamExplanation:
    """Why a statement is promoted or not; by its key, citation, record id, claim or own words."""
    with place.reading() as folder:
        night = _night(place, Snapshot(folder), Folding(layout.own_output(place.config)))
        key = _key(night, name)
        return _explained(night, judge(night, key))


def _night(place: Workplace, snapshot: Snapshot, folding: Folding) -> Night:
    state, rest = asleep(snapshot, place.config.profile.primary, place.clock.now(), folding)
    return open_night(place, snapshot, replace(state, signals=rest.signals))


def _key(night: Night, name: str) -> str:
    entries = night.state.entries
    if name in entries:
        return name
    matches = _cited_now(night, name) or [
        key for key, entry in entries.items() if _is_meant(entry, name)
    ]
    if len(matches) == 1:
        return matches[0]
    raise NotFoundError(_why_not_found(night, name, len(matches)), name=name, hint=_HOW_TO_NAME)


def _why_not_found(night: Night, name: str, matches: int) -> str:
    if matches:
        return f"{matches} tracked statements are called {name!r}."
    cited = parse_citation(name)
    if cited is not None and night.sources.cited(cited):
        return f"{name} was not recalled yet: dreaming knows only what somebody asked for."
    return f"No tracked statement is called {name!r}."


def _cited_now(night: Night, name: str) -> list[str]:
    """The entries of what stands in the cited lines now: the record may be tracked by another file."""
    cited = parse_citation(name)
    found = night.sources.cited(cited) if cited is not None else []
    ids = {one.record.id for one in found if one.record is not None}
    claims = {claim_key(one.text) for one in found}
    return [
        key
        for key, entry in night.state.entries.items()
        if entry.record_id in ids or entry.claim in claims
    ]


def _is_meant(entry: Recalled, name: str) -> bool:
    cited = parse_citation(name)
    if cited is not None:
        same = entry.path == cited.path
        return same and entry.first_line <= cited.last_line and cited.first_line <= entry.last_line
    if entry.claim and entry.claim == claim_key(name):
        return True
    return len(name) >= 4 and (entry.record_id.startswith(name) or entry.claim.startswith(name))


def _explained(night: Night, judged: Judgement) -> DreamExplanation:
    entry = judged.entry
    found = judged.statement or night.sources.statement(entry)
    snippet = _snippet(entry, found)
    return DreamExplanation(
        key=judged.key,
        citation=str(found.citation) if found else f"{entry.path}#L{entry.first_line}",
        snippet=snippet,
        promotes=not judged.reason,
        reason=judged.reason or None,
        score=judged.score.value,
        signals=judged.score.signals,
        weights=WEIGHTS,
        boost=judged.score.boost,
        recalls=entry.recalls,
        shown=entry.shown,
        used=entry.used,
        questions=len(entry.queries),
        days=entry.days,
        tags=entry.tags if snippet else (),
    )


def _snippet(entry: Recalled, found: Statement | None) -> str:
    """What the file says now: the text that was recalled may have become secret since."""
    if entry.path == layout.CONVERSATIONS:
        return entry.snippet  # turns have no sensitivity
    return found.text[: recall_log.SNIPPET_CHARS] if found else ""
