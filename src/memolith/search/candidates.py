"""What the stages of a search pass on to each other."""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
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
    votes: tuple[float, ...] = ()  # of the chunk itself, each from 0 to 1
    group: tuple[float, ...] = ()  # of the chat or file it belongs to
    lift: float = 0.0  # what its day added to the score
    superseded: bool = False
    why: Mapping[str, float] = field(default_factory=dict)  # what the last stage found, by name

    # `dataclasses.replace` takes five times as long as these, for hundreds of candidates a search.

    def reading(self, chunk: Chunk) -> Candidate:
        """The same with the text of its chunk."""
        return Candidate(
            chunk=chunk,
            signals=self.signals,
            score=self.score,
            votes=self.votes,
            group=self.group,
            lift=self.lift,
            superseded=self.superseded,
            why=self.why,
        )

    def scored(self, score: float, why: Mapping[str, float], *, lift: float = 0.0) -> Candidate:
        """The same with another score, and how much of the change is due to its day."""
        return Candidate(
            chunk=self.chunk,
            signals=self.signals,
            score=score,
            votes=self.votes,
            group=self.group,
            lift=self.lift + lift,
            superseded=self.superseded,
            why=why,
        )

    def voted(
        self,
        score: float,
        votes: tuple[float, ...],
        group: tuple[float, ...],
        why: Mapping[str, float],
    ) -> Candidate:
        """The same after a vote."""
        return Candidate(
            chunk=self.chunk,
            signals=self.signals,
            score=score,
            votes=votes,
            group=group,
            lift=self.lift,
            superseded=self.superseded,
            why=why,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a stage may want to know besides the candidates."""

    question: str
    today: date
    limit: int
    usual_meaning: float = 0.0  # how near any chunk is, on average
    days: tuple[DayRange, ...] = ()  # that the question itself asks about
    rarity: Mapping[str, float] = field(default_factory=dict)  # of its words: how much each tells
    phrases: tuple[tuple[str, ...], ...] = ()  # what it says in quotation marks


def best_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """By score; of equal ones the chunk that was written last."""
    return sorted(candidates, key=lambda hit: (-hit.score, -hit.signals.key))
