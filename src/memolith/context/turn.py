"""What is worth knowing before an answer: searched, chosen and quoted, within a budget and a deadline."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from memolith.context.known import Known
from memolith.context.queries import derive
from memolith.context.skipping import skip_reason
from memolith.context_types import SESSION_KINDS, TurnContext
from memolith.errors import MemolithError, RefusedError
from memolith.retrieval import Filters, SearchResult
from memolith.text.budget import estimate_tokens
from memolith.text.quotation import fence, quoted_line, source
from memolith.values import dataclass
from memolith.visibility import trust

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memolith.config import ContextConfig
    from memolith.labels import SessionKind
    from memolith.retrieval import Hit

    Search = Callable[[str, int, Filters], SearchResult]

HEADING = "## Relevant Memories"
EXPERIENCES = "Relevant past experiences:"
_MOST_CHARS_OF_A_HIT = 700
_SHARE_OF_EXPERIENCES = 0.25
# More is asked for than shown: some of it must not be seen, or is known already.
_FEWEST_ASKED_FOR = 60


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
    limit = config.max_results if turn.limit is None else max(0, turn.limit)
    work = _Work(queries, search, filters, limit, config.experiences)
    deadline = turn.deadline_seconds
    warnings = work.within(config.deadline_seconds if deadline is None else deadline)
    known = Known(turn.known)

    def wanted(hits: Iterable[Hit]) -> list[Hit]:
        return [hit for hit in hits if _may_see(hit, turn, config) and not known.has(hit)]

    experiences = wanted(work.experiences)[: config.experiences]
    mine = {hit.record_id for hit in experiences if hit.record_id}
    memories = [hit for hit in wanted(work.memories) if hit.record_id not in mine][:limit]
    budget = config.turn_tokens if turn.max_tokens is None else max(0, turn.max_tokens)
    return _written(memories, experiences, budget, queries, warnings)


class _Work:
    """The searches of one turn, in a thread that may be left behind at the deadline."""

    def __init__(
        self, queries: Sequence[str], search: Search, filters: Filters, limit: int, experiences: int
    ) -> None:
        self._queries = queries
        self._search = search
        self._filters = filters
        self._limit = limit
        self._experiences = experiences
        self._error: MemolithError | None = None
        self._warnings: tuple[str, ...] = ()
        self._done = 0
        self.memories: tuple[Hit, ...] = ()
        self.experiences: tuple[Hit, ...] = ()

    def within(self, seconds: float) -> tuple[str, ...]:
        """Search for at most so long; returns what to warn about."""
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        thread.join(seconds)
        if self._error is not None:
            raise self._error
        if not thread.is_alive():
            return self._warnings
        missing = "past experiences" if self._done else "memories"
        return (
            *self._warnings,
            f"The search for {missing} took longer than {seconds:g} seconds and goes on in the "
            "background; this answer is without them.",
        )

    def _run(self) -> None:
        try:
            question = " ".join(self._queries)
            most = max(_FEWEST_ASKED_FOR, 3 * self._limit)
            found = self._search(question, most, self._filters)
            self._warnings = found.warnings
            self.memories = found.hits
            self._done = 1
            if self._experiences:
                only = _with_category(self._filters, "experience")
                self.experiences = self._search(question, 3 * self._experiences, only).hits
        except MemolithError as error:
            self._error = error


def _with_category(filters: Filters, category: str) -> Filters:
    from dataclasses import replace

    return replace(filters, category=category)


def _may_see(hit: Hit, turn: Turn, config: ContextConfig) -> bool:
    """Not: secrets; what a group must not see; other people's chats; what came from outside."""
    if hit.sensitivity == "secret" or hit.superseded:
        return False
    if turn.kind == "group":
        return bool(hit.record_id) and hit.sensitivity == "public"
    if hit.chat and hit.chat == turn.chat:
        return True  # what was said in this very chat, by whomever
    return _trust(hit) != "external" or (config.external == "mark" and not hit.chat)


def _trust(hit: Hit) -> str:
    """How far a hit is trusted; what has no channel stands in a file that a person edits."""
    return trust(hit.channel) if hit.channel not in ("", "unknown") else "user"


def _line(hit: Hit) -> str:
    known = _trust(hit)
    mark = source(
        str(hit.citation),
        f"external: {hit.channel[:40]}" if known == "external" else known,
        str(hit.dated or ""),
    )
    kind = quoted_line(hit.category, 40) if hit.category else "chat" if hit.chat else "file"
    speaker = f"{hit.role}: " if hit.role else ""
    return f"- [{kind}] {speaker}{quoted_line(hit.text, _MOST_CHARS_OF_A_HIT)} {mark}"


def _written(
    memories: Sequence[Hit],
    experiences: Sequence[Hit],
    budget: int,
    queries: tuple[str, ...],
    warnings: tuple[str, ...],
) -> TurnContext:
    left = budget - estimate_tokens(fence(f"{HEADING}\n\n[truncated - 99 more memories available]"))
    some = _fitting(experiences, int(left * _SHARE_OF_EXPERIENCES))
    if some:
        left -= (
            sum(estimate_tokens(line) + 1 for _, line in some) + estimate_tokens(EXPERIENCES) + 2
        )
    shown = _fitting(memories, left)
    left_out = len(memories) - len(shown) + len(experiences) - len(some)
    parts = list[str]()
    if shown or left_out:
        lines = [HEADING, "", *(line for _, line in shown)]
        if left_out:
            lines.append(f"[truncated - {left_out} more memories available]")
        parts.append("\n".join(lines))
    if some:
        parts.append("\n".join([EXPERIENCES, *(line for _, line in some)]))
    return TurnContext(
        text=fence("\n\n".join(parts)) if shown or some else "",
        hits=tuple(hit for hit, _ in shown),
        experiences=tuple(hit for hit, _ in some),
        queries=queries,
        left_out=left_out,
        warnings=warnings,
    )


def _fitting(hits: Sequence[Hit], tokens: int) -> list[tuple[Hit, str]]:
    """The hits whose lines fit, in order; a long one does not keep shorter ones out."""
    taken: list[tuple[Hit, str]] = []
    for hit in hits:
        line = _line(hit)
        cost = estimate_tokens(line) + 1
        if cost <= tokens:
            taken.append((hit, line))
            tokens -= cost
    return taken
