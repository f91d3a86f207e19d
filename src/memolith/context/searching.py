"""The searches behind one turn: what is found by the deadline counts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from memolith.context.deadline import in_time
from memolith.retrieval import WEAK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memolith.retrieval import Filters, Hit, SearchResult

    Search = Callable[[str, int, Filters], SearchResult]
    MaySee = Callable[[Hit], bool]

# Twice as many as are shown, and some more: some must not be seen, or are known already.
_ASKED_FOR_MORE = 10
# … and so many when hardly any of those may be seen, as when other chats fill the answer.
_ASKED_FOR_AT_LEAST = 200
# What no word of the message speaks for must be among the nearest by meaning.
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Found:
    """What was found by the deadline."""

    memories: tuple[Hit, ...] = ()
    experiences: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()


class Searches:
    """The searches for memories, turns of this chat and experiences that answer a message."""

    def __init__(self, search: Search, filters: Filters, question: str, may_see: MaySee) -> None:
        """`may_see` decides which hits count."""
        self._search = search
        self._filters = filters
        self._question = question
        self._may_see = may_see
        self._missing = "memories"  # what is being searched for
        self._is_over = False  # nobody waits any more
        self._is_weak = False  # what the last search found is only the nearest
        # Replaced as a whole: another thread looks at it when the time is over.
        self._found = Found()

    def run(self, limit: int, experiences: int, chat: str | None, seconds: float) -> Found:
        """Search for at most so long; what is missing then is said in the warnings."""
        if in_time(lambda: self._run(limit, experiences, chat), seconds):
            return self._found
        self._is_over = True
        found = self._found
        late = (
            f"The search for {self._missing} took longer than {seconds:g} seconds and goes on in"
            " the background; this answer is without it."
        )
        return replace(found, warnings=(*found.warnings, late))

    def _run(self, limit: int, experiences: int, chat: str | None) -> None:
        memories = self._hits(self._filters, limit)
        if self._is_weak:
            return  # nobody asked for it: what is only the nearest is not handed over
        self._found = replace(self._found, memories=tuple(memories))
        if chat is not None and not self._is_over:
            self._missing = "what was said in this chat"
            turns = self._hits(replace(self._filters, chat=chat), limit)
            self._found = replace(self._found, memories=tuple(_merged(memories, turns)[:limit]))
        if experiences and not self._is_over:
            self._missing = "past experiences"
            only = replace(self._filters, category="experience")
            hits = self._hits(only, experiences)
            self._found = replace(self._found, experiences=tuple(hits))

    def _hits(self, filters: Filters, limit: int) -> list[Hit]:
        hits, enough = self._asked_for(2 * limit + _ASKED_FOR_MORE, filters, limit)
        if not enough:
            hits, _ = self._asked_for(max(4 * limit, _ASKED_FOR_AT_LEAST), filters, limit)
        return hits

    def _asked_for(self, most: int, filters: Filters, limit: int) -> tuple[list[Hit], bool]:
        """The hits that may be seen, and whether asking for more would add none."""
        found = self._search(self._question, most, filters)
        self._is_weak = found.weak
        warnings = dict.fromkeys((*self._found.warnings, *found.warnings))
        warnings.pop(WEAK, None)
        self._found = replace(self._found, warnings=tuple(warnings))
        hits = [hit for hit in found.hits if _speaks_for_itself(hit) and self._may_see(hit)]
        return hits[:limit], len(hits) >= limit or len(found.hits) < most


def _speaks_for_itself(hit: Hit) -> bool:
    return "words" in hit.ranks or hit.ranks.get("meaning", 0) <= _NEAREST


def _merged(some: Sequence[Hit], others: Sequence[Hit]) -> list[Hit]:
    """By score, each place once: both come from the same question and are weighed alike."""
    once = {(hit.citation, hit.role): hit for hit in (*some, *others)}
    return sorted(once.values(), key=lambda hit: -hit.score)
