"""What the stages of a search pass on to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from memolith.retrieval import Chunk

    Stage = Callable[["Situation", Sequence["Candidate"]], Sequence["Candidate"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that may answer, with everything that speaks for it."""

    key: int
    chunk: Chunk
    score: float
    words: float = 0.0  # raw BM25
    meaning: float = 0.0  # raw cosine
    ranks: Mapping[str, int] = field(default_factory=dict)
    superseded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a stage may want to know besides the candidates."""

    today: date
    limit: int
    dated_question: bool = False  # the question itself asks for certain days
