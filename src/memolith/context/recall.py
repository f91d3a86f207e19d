"""Recall with a memory of its own: answers that were given a moment ago and still hold."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from memolith.context.cache import AnswerCache
from memolith.context.turn import turn_context
from memolith.context.version import StoreVersion
from memolith.context_types import TurnContext
from memolith.retrieval import SearchResult

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from datetime import date

    from memolith.config import ContextConfig
    from memolith.context.turn import Search, Turn
    from memolith.retrieval import Filters


class Recaller:
    """The cached searches of one memory in one process; safe to share between threads."""

    def __init__(
        self, root: str, config: ContextConfig, search: Search, today: Callable[[], date]
    ) -> None:
        """`search` looks at the disk, whatever was seen a moment ago."""
        self._config = config
        self._search = search
        self._today = today
        version = StoreVersion(root)
        size, seconds = config.cache_entries, config.cache_seconds
        self._results = AnswerCache[SearchResult](size, seconds, version)
        self._contexts = AnswerCache[TurnContext](size, seconds, version)

    def recall(self, question: str, limit: int, filters: Filters) -> SearchResult:
        """A search whose answer may be a moment old, but never older than the last write."""
        return self._results.answer(
            (*_without_moment(filters), limit, self._today(), _digest([question])),
            lambda: self._search(question, limit, filters),
            lambda result: not result.warnings,
        )

    def context(self, turn: Turn, filters: Filters) -> TurnContext:
        """What is worth knowing before an answer, from the cache if nothing changed."""
        key = (turn.session, turn.kind, turn.chat, turn.max_tokens, turn.limit, self._today())
        return self._contexts.answer(
            (*key, _digest([turn.message, *turn.known])),
            lambda: turn_context(turn, self._config, self._search, filters),
            lambda context: not context.warnings,
        )


def _digest(texts: Iterable[str]) -> bytes:
    """For the key of an answer: what the caller knows may be megabytes."""
    digest = blake2b(digest_size=16)
    for text in texts:
        data = text.encode(errors="surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.digest()


def _without_moment(filters: Filters) -> tuple[Hashable, ...]:
    return (
        filters.category, filters.session, filters.chat, filters.since, filters.until,
        filters.path, filters.include_secret, filters.as_of,
    )  # fmt: skip
