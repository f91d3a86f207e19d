"""Candidates made by hand, so that a stage can be looked at alone."""

from __future__ import annotations

from datetime import date

from memolith.interfaces import Signals
from memolith.retrieval import Chunk
from memolith.search.candidates import Candidate, Situation

TODAY = date(2026, 11, 15)
SITUATION = Situation(question="what?", today=TODAY, limit=10)


def candidate(key: int, score: float = 0.0, text: str = "", **more: object) -> Candidate:
    """A candidate; arguments of a chunk or of signals go where they belong."""
    of_chunk = {name: more.pop(name) for name in list(more) if name in Chunk.__slots__}
    superseded = bool(more.pop("superseded", False))
    of_chunk.setdefault("kind", "record")
    signals = {"words": 0.0, "meaning": 0.0, **more}
    return Candidate(
        chunk=Chunk(
            text=text or f"text {key}",
            path="MEMORY.md",
            first_line=key,
            last_line=key,
            **of_chunk,
        ),  # type: ignore[arg-type]
        signals=Signals(key=key, **signals),  # type: ignore[arg-type]
        score=score,
        superseded=superseded,
    )


def turn(key: int, score: float = 0.0, text: str = "", **more: object) -> Candidate:
    """A candidate that is a turn of a chat."""
    return candidate(key, score, text, **{"kind": "turn", "role": "user", "chat": "c", **more})


def order(candidates: object) -> list[int]:
    """The keys, in order."""
    return [hit.signals.key for hit in candidates]  # type: ignore[attr-defined]
