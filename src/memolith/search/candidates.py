"""What the stages of a search pass on to each other."""

from __future__ import annotations

from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date

    from memolith.interfaces import Signals
    from memolith.retrieval import Chunk
    from memolith.text.dates import DayRange

    Stage = Callable[["Situation", Sequence["Candidate"]], Sequence["Candidate"]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk that may answer, with everything that speaks for it."""

    chunk: Chunk
    signals: Signals
    score: float
    group: float = 0.0  # how well the whole chat or file fits, from 0 to 3
    superseded: bool = False

    def reading(self, chunk: Chunk) -> Candidate:
        """The same with the text of its chunk."""
        return Candidate(
            chunk=chunk,
            signals=self.signals,
            score=self.score,
            group=self.group,
            superseded=self.superseded,
        )

    def scored(self, score: float, group: float | None = None) -> Candidate:
        """The same with another score; `dataclasses.replace` takes five times as long."""
        return Candidate(
            chunk=self.chunk,
            signals=self.signals,
            score=score,
            group=self.group if group is None else group,
            superseded=self.superseded,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a stage may want to know besides the candidates."""

    question: str
    today: date
    limit: int
    usual_meaning: float = 0.0  # how near any chunk is, on average
    days: tuple[DayRange, ...] = ()  # that the question itself asks about
