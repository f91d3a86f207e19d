"""Answers kept for a while: never one that a write has overtaken.

The version of the store is part of what an answer is known by, so any write, by any process, makes
it unknown. An answer older than its time is still given once, while it is made anew behind.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from typing import Generic, TypeVar

from memolith import clock
from memolith.context.deadline import in_time
from memolith.context.known import Known, ids_at
from memolith.context.turn import Ask, Turn, turn_context
from memolith.errors import MemolithError
from memolith.files.disk_view import StoreVersion
from memolith.results import Filters, Hit, SearchResult, TurnContext
from memolith.store import Store

Version = Hashable

T = TypeVar("T")
# Beyond this multiple of its time an answer is made anew before it is given.
STALE_TIMES = 10


@dataclass(slots=True)
class _Answer(Generic[T]):
    value: T
    version: Version
    made: float
    renewing: bool = False


class AnswerCache(Generic[T]):
    """A bounded number of answers, the longest unused of which leave first. Safe for threads."""

    def __init__(
        self, entries: int, seconds: float, version: Callable[[], tuple[Version, bool]]
    ) -> None:
        """`version` gives the store's version, and whether a change right now would show in it."""
        self._entries = entries
        self._seconds = seconds
        self._version = version
        self._answers: OrderedDict[Hashable, _Answer[T]] = OrderedDict()
        self._guard = threading.Lock()

    def answer(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> T:
        """The answer to `key`, made if it is not known; only what `keep` agrees to is kept."""
        work = (key, make, keep)
        before = self._version()
        with self._guard:
            known = self._answers.get(key)
            age = clock.monotonic() - known.made if known else math.inf
            if known and known.version == before[0] and age <= self._seconds * STALE_TIMES:
                self._answers.move_to_end(key)
                if age > self._seconds and not known.renewing:
                    known.renewing = True
                    threading.Thread(target=self._renew, args=work, daemon=True).start()
                return known.value
        return self._make(*work, before)

    def __len__(self) -> int:
        """How many answers are kept."""
        return len(self._answers)

    def _make(
        self,
        key: Hashable,
        make: Callable[[], T],
        keep: Callable[[T], bool],
        before: tuple[Version, bool],
    ) -> T:
        value = make()
        version, settled = before  # as it was before we looked: a later write makes it unknown
        with self._guard:
            self._answers.pop(key, None)
            if settled and keep(value):
                self._answers[key] = _Answer(value, version, clock.monotonic())
                if len(self._answers) > self._entries:
                    self._answers.popitem(last=False)
        return value

    def _renew(self, key: Hashable, make: Callable[[], T], keep: Callable[[T], bool]) -> None:
        try:
            self._make(key, make, keep, self._version())
        except MemolithError:  # the next caller makes it, and sees what is wrong
            with self._guard:
                self._answers.pop(key, None)


class Recaller:
    """The cached searches of one memory in one process; safe to share between threads."""

    def __init__(self, store: Store, ask: Ask) -> None:
        """`ask` looks at the disk, whatever was seen a moment ago."""
        search = store.config.search
        own_words = (search.synonyms_path, search.stop_words_path)
        version = StoreVersion(store.root, store.config.index.extra_paths, own_words)
        self.config = store.config.context
        self._store, self._ask = store, ask
        limits = (self.config.cache_entries, self.config.cache_seconds, version)
        self._results = AnswerCache[SearchResult](*limits)
        self._contexts = AnswerCache[TurnContext](*limits)

    def recall(self, question: str, limit: int, filters: Filters) -> SearchResult:
        """A search whose answer may be a moment old, but never older than the last write."""

        def make() -> SearchResult:
            found = self._ask(question, [filters], [limit], math.inf)[0]
            self._store.note_shown(found.hits, question, "recall")
            return found

        # Of the moment, the day counts: what expires meanwhile is seen to below.
        key = (replace(filters, now=None), limit, self._store.clock.today(), _digest(question))
        # That nothing fits better is said in a warning too, but is no reason to search again.
        return self._results.answer(
            key,
            make,
            lambda found: len(found.warnings) == found.weak and self._will_hold(found.hits),
        )

    def recall_in_time(
        self, question: str, limit: int, filters: Filters, seconds: float
    ) -> SearchResult:
        """The same, but for at most so long; then nothing was found, and the warnings say why."""
        late = SearchResult(
            hits=(), warnings=(f"The search took longer than {seconds:g} seconds.",)
        )
        return in_time(lambda: self.recall(question, limit, filters), seconds, late)

    def context(self, turn: Turn, filters: Filters) -> TurnContext:
        """What is worth knowing before an answer, from the cache if nothing changed."""

        def make() -> TurnContext:
            known = Known((*turn.known, *ids_at(turn.known, self._store.root)))
            found = turn_context(turn, self.config, self._ask, filters, known)
            self._store.note_shown((*found.hits, *found.experiences), turn.message, "context")
            return found

        asked = _digest(turn.message, *turn.known)
        options = (turn.session, turn.kind, turn.chat, turn.max_tokens, turn.limit)
        key = (*options, self._store.clock.today(), asked)
        # What is held back is said in a warning too, but is no reason to search again.
        return self._contexts.answer(
            key,
            make,
            lambda context: (
                len(context.warnings) == bool(context.held)
                and self._will_hold((*context.hits, *context.experiences))
            ),
        )

    def _will_hold(self, hits: Iterable[Hit]) -> bool:
        """Whether none of them expires as long as the answer may be given."""
        until = self._store.clock.now() + timedelta(seconds=STALE_TIMES * self.config.cache_seconds)
        return all(hit.expires is None or hit.expires > until for hit in hits)


def _digest(*texts: str) -> bytes:
    """For the key of an answer: what the caller knows may be megabytes."""
    return blake2b(repr(texts).encode(), digest_size=16).digest()
