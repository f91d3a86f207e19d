"""Chats with recall and recap, and experiences in groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from memolith.results import Turn
from memolith.types import Record
from memolith.web.call import Call

_TURNS = 100
_RECORDS = 100


def chats(call: Call) -> Response:
    """The chats, the turns of one, and its recap."""
    turns = call.memory.chats.turns()
    known: dict[str, list[Turn]] = {}
    for turn in turns:
        known.setdefault(turn.chat, []).append(turn)
    names = sorted(known, key=lambda name: known[name][-1].created, reverse=True)
    chat = call.query.get("chat") or (names[0] if names else "")
    about = call.query.get("about", "").strip()
    recap = call.memory.chats.recap(chat, about=about or None) if chat else None
    shown = recap.found or recap.turns if recap and about else tuple(known.get(chat, ()))
    return call.html(
        "chats.html",
        names=[(name, len(known[name]), known[name][-1]) for name in names],
        chat=chat,
        about=about,
        recap=recap,
        turns=shown[-_TURNS:],
        left_out=max(0, len(shown) - _TURNS),
        is_on=call.memory.config.chat.enabled,
    )


def experiences(call: Call) -> Response:
    """Experiences and preferences by category, session or name; or what bears on a question."""
    groups = call.memory.jobs.relationships()
    by = call.query.get("by", "")
    by = by if by in ("category", "session", "entity") else "category"
    found: Mapping[str, Sequence[Record]] = getattr(groups, f"by_{by}")
    question = call.query.get("q", "").strip()
    hits = call.memory.jobs.query_experiences(question, 20) if question else None
    name = call.query.get("name", "")
    shown = {name: found[name]} if name in found else found
    return call.html(
        "experiences.html",
        by=by,
        q=question,
        hits=hits,
        names=[(key, len(records)) for key, records in found.items()],
        name=name if name in found else "",
        groups=[(key, records[::-1][:_RECORDS]) for key, records in list(shown.items())[:20]],
    )
