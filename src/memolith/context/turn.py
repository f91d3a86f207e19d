"""What is worth knowing before an answer: searched, chosen and quoted, within a budget and a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.context.digest import Digest, trust_of
from memolith.context.known import Known
from memolith.context.queries import derive
from memolith.context.searching import Searches
from memolith.context.skipping import skip_reason
from memolith.context_types import SESSION_KINDS, TurnContext
from memolith.errors import RefusedError
from memolith.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from memolith.config import ContextConfig
    from memolith.context.searching import Search
    from memolith.labels import SessionKind
    from memolith.retrieval import Filters, Hit


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message that is about to be answered, and what is known of the situation."""

    message: str
    session: str = "main"
    kind: SessionKind = "main"
    chat: str | None = None
    known: tuple[str, ...] = ()
    max_tokens: int | None = None
    limit: int | None = None
    deadline_seconds: float | None = None


def turn_context(
    turn: Turn, config: ContextConfig, search: Search, filters: Filters
) -> TurnContext:
    """Look for what helps with a message. What is not found in time is said in the warnings."""
    if turn.kind not in SESSION_KINDS:
        raise RefusedError(
            f"{turn.kind!r} is no kind of session.", hint=f"Use one of {', '.join(SESSION_KINDS)}."
        )
    reason = skip_reason(turn.message)
    if reason:
        return TurnContext(text="", skipped=reason)
    queries = derive(turn.message)
    known = Known(turn.known)
    searches = Searches(
        search,
        filters,
        " ".join(queries),
        lambda hit: _may_see(hit, turn, config) and not known.has(hit),
    )
    searches.run(
        config.max_results if turn.limit is None else max(0, turn.limit),
        config.experiences,
        turn.chat,
        config.deadline_seconds if turn.deadline_seconds is None else turn.deadline_seconds,
    )
    experiences = list(_once(searches.experiences, ()))
    digest = Digest(
        queries[0],
        list(_once(searches.memories, experiences)),
        experiences,
        config.turn_tokens if turn.max_tokens is None else max(0, turn.max_tokens),
    )
    return TurnContext(
        text=digest.text,
        hits=digest.hits,
        experiences=digest.experiences,
        queries=queries,
        left_out=digest.left_out,
        warnings=searches.warnings,
    )


def _may_see(hit: Hit, turn: Turn, config: ContextConfig) -> bool:
    """Not: secrets; what a group must not see; other people's chats; what came from outside."""
    if hit.sensitivity == "secret" or hit.superseded:
        return False
    if turn.kind == "group":
        return bool(hit.record_id) and hit.sensitivity == "public"
    if hit.chat and hit.chat == turn.chat:
        return True  # what was said in this very chat, by whomever
    return trust_of(hit) != "external" or (config.external == "mark" and not hit.chat)


def _once(hits: Iterable[Hit], shown: Iterable[Hit]) -> Iterator[Hit]:
    """Without what says the same as one before: an experience repeats the record it was made of."""
    said = {hit.text.strip() for hit in shown}
    for hit in hits:
        if hit.text.strip() not in said:
            said.add(hit.text.strip())
            yield hit
