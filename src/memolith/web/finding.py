"""Search: hits as somebody types, and why each is where it is."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from memolith.results import SearchResult, StageTrace
from memolith.types import CATEGORIES
from memolith.web.call import Call

_LIMIT, _MORE, _TRACED = 10, 20, 50
_FILTERS = ("category", "session", "chat", "since", "until")
# What each stage is called, and what it does.
STAGES = {
    "fuse": ("Words and meaning", "Two rankings, by words and by meaning, become one."),
    "weigh": ("Votes", "Each sign that it answers adds its vote."),
    "days": ("Days", "What is dated as the question says moves up."),
    "rerank": ("Re-ranked", "A model has read it together with the question."),
    "asked": ("Asked before", "A question of yours moves down where records answer it."),
    "replies": ("Replies", "In a chat, what follows a question comes before the question."),
    "names": ("Names", "Hits with the name that the question names come first."),
    "decay": ("Age", "Of two equal hits the newer comes first."),
    "passages": ("Passages", "How closely its best lines match."),
    "own": ("Yourself", "Asked about yourself, what you said of yourself comes first."),
    "phrases": ("Quoted phrases", "What has the phrase in quotes comes first."),
    "supersede": ("Replaced", "What no longer holds moves down."),
    "diversify": ("Diversity", "Copies of a better hit move down."),
}


def search(call: Call) -> Response:
    """The page, or the hits alone while somebody types."""
    question = call.query.get("q", "").strip()
    limit = min(call.number("limit", _LIMIT), 100)
    result = _ask(call, question, limit) if question else None
    return call.html(
        "search_hits.html" if call.part else "search.html",
        q=question,
        filters={name: call.query.get(name, "") for name in _FILTERS},
        categories=CATEGORIES,
        result=result,
        limit=limit,
        more=limit + _MORE if result and len(result) == limit else 0,
    )


def _ask(call: Call, question: str, limit: int, *, explain: bool = False) -> SearchResult:
    given = {name: call.query.get(name) or None for name in _FILTERS}
    return call.memory.search(question, limit, explain=explain, **given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Step:
    """What one stage did to one hit."""

    name: str
    does: str
    before: int | None
    after: int | None
    score: float
    values: tuple[tuple[str, str], ...]
    idle: bool


def why(call: Call) -> Response:
    """How a hit came to its place, stage by stage."""
    place = call.query.get("place", "")
    result = _ask(call, call.query.get("q", ""), _TRACED, explain=True)
    read = next((stage.note for stage in result.trace if stage.stage == "question"), None)
    return call.html("search_why.html", steps=_steps(result.trace, place), read=read, place=place)


def _steps(trace: tuple[StageTrace, ...], place: str) -> list[Step]:
    steps: list[Step] = []
    before: int | None = None
    for stage in trace:
        ranked = {one.citation: (rank, one) for rank, one in enumerate(stage.order, 1)}
        if not ranked:
            continue
        after, one = ranked.get(place, (None, None))
        name, does = STAGES.get(stage.stage, (stage.stage.capitalize(), ""))
        values = one.values.items() if one else ()
        shown = tuple((key.replace("_", " "), f"{value:.3g}") for key, value in values if value)
        score = one.score if one else 0.0
        steps.append(Step(name, does, before, after, score, shown, idle=bool(stage.note)))
        before = after
    return steps
