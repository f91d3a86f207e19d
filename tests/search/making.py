"""Candidates made by hand, so that a stage can be looked at alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date

import numpy as np

from memolith.interfaces import ASSISTANT, NOBODY, RECORD, TURN, USER, Column, Found, Signals
from memolith.results import Chunk
from memolith.search.candidates import Candidates, QueryContext
from memolith.search.plan import plan

TODAY = date(2026, 11, 15)
SITUATION = QueryContext(plan=replace(plan("what?", TODAY), asked=()), today=TODAY, limit=10)
_ROLES = {"": NOBODY, "user": USER, "assistant": ASSISTANT}


def situation(rarity: Mapping[str, float] | None = None, **planned: object) -> QueryContext:
    """That of a question with such a plan."""
    asked = replace(SITUATION.plan, **planned)  # type: ignore[arg-type]
    return replace(SITUATION, plan=asked, rarity=rarity or {})


@dataclass(frozen=True, kw_only=True)
class Made:
    """One candidate, before it becomes a row of columns."""

    key: int
    score: float = 0.0
    text: str = ""
    kind: int = RECORD
    role: str = ""
    chat: int = 0
    tokens: bytes = b""
    dated: date | None = None
    superseded: bool = False
    record_id: str = ""
    supersedes: str = ""
    votes: tuple[float, ...] = ()
    group: tuple[float, ...] = ()
    signals: dict[str, float] = field(default_factory=dict)


def candidate(key: int, score: float = 0.0, text: str = "", **more: object) -> Made:
    """A candidate that is a record; what is no field of it is a signal."""
    own = {name: more.pop(name) for name in list(more) if name in Made.__dataclass_fields__}
    return Made(key=key, score=score, text=text or f"text {key}", signals=more, **own)  # type: ignore[arg-type]


def turn(key: int, score: float = 0.0, text: str = "", **more: object) -> Made:
    """A candidate that is a turn of a chat."""
    return candidate(key, score, text, **{"kind": TURN, "role": "user", "chat": 1, **more})


def signals(*made: Made) -> Signals:
    """What the index says of them."""
    known = {
        "keys": [item.key for item in made],
        "kind": [item.kind for item in made],
        "role": [_ROLES[item.role] for item in made],
        "dated": [item.dated.toordinal() if item.dated else 0 for item in made],
        "chat": [item.chat for item in made],
    }
    columns = {name: [item.signals.get(name, 0) for item in made] for name in Signals.__slots__}
    found = Signals(**{name: np.array(known.get(name, columns[name])) for name in columns})
    return replace(found, tokens=_column(item.tokens for item in made))


def candidates(*made: Made) -> Candidates:
    """All of them as columns, as if they had been read."""
    votes = [item.votes for item in made]
    return replace(
        Candidates.of(signals(*made), np.array([item.score for item in made], float)),
        votes=np.array(votes, float).reshape(len(made), len(votes[0]) if votes else 0),
        weights=np.ones(len(votes[0]) if votes else 0),
        group_votes=np.array([sum(item.group) for item in made], float),
        group_voters=np.array([len(item.group) for item in made], float),
        superseded=np.array([item.superseded for item in made], bool),
        chunks=_column(_chunk(item) for item in made),
        texts=_column(item.text for item in made),
        newest=_column(_newest(item, made) for item in made),
    )


def _chunk(item: Made) -> Chunk:
    return Chunk(
        kind="turn" if item.kind == TURN else "record",
        text="",
        path="MEMORY.md",
        role=item.role,
        chat=str(item.chat or ""),
        first_line=item.key,
        last_line=item.key,
        record_id=item.record_id,
        supersedes=item.supersedes,
    )


def _column(values: Iterable[object]) -> Column:
    return np.fromiter(values, object)


def _newest(old: Made, made: tuple[Made, ...]) -> Found | None:
    """What holds now in its place."""
    newer = next(
        (item for item in made if item.supersedes and item.supersedes == old.record_id), None
    )
    if newer is None:
        return None
    return _newest(newer, made) or Found(newer.key, _chunk(newer), b"")


def order(found: Candidates) -> list[int]:
    """The keys, in order."""
    keys: list[int] = found.signals.keys.tolist()
    return keys
