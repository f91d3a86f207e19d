"""Which chats answer as a whole: by their best turn, and by all that was said in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.retrieval import SessionHit
from memolith.search.weigh import GROUP, USER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.search.candidates import Candidate

# For a chat, the whole counts twice as much as it does for one of its turns; and who said the best
# turn hardly matters.
_USER_OF_A_SESSION = 0.1


def rank_sessions(candidates: Sequence[Candidate], limit: int) -> tuple[SessionHit, ...]:
    """The chats of the candidates, best first."""
    best: dict[str, SessionHit] = {}
    for hit in candidates:
        chat = hit.chunk.chat
        if not chat:
            continue
        score = hit.score + GROUP * hit.group
        score -= (USER - _USER_OF_A_SESSION) * hit.signals.by_user
        if chat not in best or score > best[chat].score:
            best[chat] = SessionHit(chat=chat, score=score, best=hit.chunk.citation)
    return tuple(sorted(best.values(), key=lambda found: -found.score)[:limit])
