"""Which chats answer as a whole: by their best turns, and by all that was said in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.retrieval import SessionHit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate


@dataclass(slots=True)
class _Chat:
    """The best vote of each kind among the turns of a chat; who said it does not matter here."""

    best: Candidate
    votes: list[float]
    lift: float

    def add(self, hit: Candidate) -> None:
        self.lift = max(self.lift, hit.lift)
        if len(hit.votes) == len(self.votes):
            self.votes = [max(pair) for pair in zip(self.votes, hit.votes, strict=True)]

    @property
    def score(self) -> float:
        votes = [*self.votes, *self.best.group]
        return sum(votes) / max(1, len(votes)) + self.lift


def rank_sessions(candidates: Sequence[Candidate], limit: int) -> tuple[SessionHit, ...]:
    """The chats of the candidates, best first; those whose texts were read before the others."""
    chats: dict[str, _Chat] = {}
    for hit in candidates:
        name = hit.chunk.chat
        if not name:
            continue
        if name in chats:
            chats[name].add(hit)
        else:
            chats[name] = _Chat(hit, list(hit.votes), hit.lift)
    ranked = sorted(chats.items(), key=lambda item: (-len(item[1].votes), -item[1].score))
    return tuple(
        SessionHit(chat=name, score=chat.score, best=chat.best.chunk.citation)
        for name, chat in ranked[:limit]
    )
