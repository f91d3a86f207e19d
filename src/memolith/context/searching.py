"""The searches behind one turn: what is found by the deadline counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

from memolith.context.deadline import in_time
from memolith.results import WEAK, Filters, Hit, SearchResult

Answer = Callable[[Filters, int], SearchResult]
MaySee = Callable[[Hit], bool]
T = TypeVar("T")


class Ask(Protocol):
    """Puts a question to the index once, and does some work with its answers by filters."""

    def __call__(
        self, question: str, kinds: Sequence[Filters], most: int, work: Callable[[Answer], T], /
    ) -> T:
        """What the work comes to, which may ask for at most so many hits of each kind."""
        ...


# A few more than are shown: some must not be seen. And half as many again if some are known already.
_ASKED_FOR_MORE = 3
# … and so many when hardly any of those may be seen, as when other chats fill the answer.
_ASKED_FOR_AT_LEAST = 200
# Half as good as the best is not worth an agent's context: 1 of 210 messages that answered a question of
# the recall sets was less, of all that was found one in twelve. What no word of the message speaks for
# must be better, and among the nearest by meaning: something is always nearest.
_SHARE_WITH_WORDS = 0.5
_SHARE_BY_MEANING = 0.6
_NEAREST = 5


@dataclass(frozen=True, slots=True)
class Found:
    """What was found by the deadline."""

    memories: tuple[Hit, ...] = ()
    experiences: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()
    past: frozenset[str] = frozenset()  # see `SearchResult`


class Searches:
    """Memories, turns of this chat and experiences that answer a message: one question to the index."""

    def __init__(
        self, ask: Ask, filters: Filters, question: str, may_see: MaySee, *, some_known: bool
    ) -> None:
        """`may_see` decides which hits count; it refuses more of them if some are known already."""
        self._some_known = some_known
        self._ask = ask
        self._filters = filters
        self._question = question
        self._may_see = may_see
        self._missing = "memories"  # what is being searched for
        self._is_over = False  # nobody waits any more
        self._is_weak = False  # what was found is only the nearest
        # Replaced as a whole: another thread looks at it when the time is over.
        self._found = Found()

    def run(self, limit: int, experiences: int, chat: str | None, seconds: float) -> Found:
        """Search for at most so long; what is missing then is said in the warnings."""
        memories = replace(self._filters, also_chat=chat)
        learned = replace(self._filters, category="experience")
        kinds = [memories, learned] if experiences else [memories]
        most = _at_most(max(limit, experiences))

        def work(answer: Answer) -> None:
            self._found, self._is_weak = Found(), False  # begun anew, if the index was
            hits = self._hits(answer, memories, limit)
            if self._is_weak or self._is_over:
                return  # nobody asked for it: what is only the nearest is not handed over
            self._found = replace(self._found, memories=tuple(hits))
            if experiences:
                self._missing = "past experiences"
                hits = self._hits(answer, learned, experiences)
                self._found = replace(self._found, experiences=tuple(hits))

        if in_time(lambda: self._ask(self._question, kinds, most, work), seconds):
            return self._found
        self._is_over = True
        found = self._found
        late = (
            f"The search for {self._missing} took longer than {seconds:g} seconds:"
            " this answer is without it."
        )
        return replace(found, warnings=(*found.warnings, late))

    def _hits(self, answer: Answer, filters: Filters, limit: int) -> list[Hit]:
        some = limit + limit // (2 if self._some_known else 6) + _ASKED_FOR_MORE
        hits, enough = self._asked_for(answer, some, filters, limit)
        if not enough:
            hits, _ = self._asked_for(answer, _at_most(limit), filters, limit)
        return hits

    def _asked_for(
        self, answer: Answer, most: int, filters: Filters, limit: int
    ) -> tuple[list[Hit], bool]:
        """The hits that may be seen, and whether asking for more would add none."""
        found = answer(filters, most)
        self._is_weak = found.weak
        warnings = dict.fromkeys((*self._found.warnings, *found.warnings))
        warnings.pop(WEAK, None)
        past = self._found.past | found.past
        self._found = replace(self._found, warnings=tuple(warnings), past=past)
        telling = _telling(found.hits)
        hits = [hit for hit in telling if self._may_see(hit)]
        all_seen = len(hits) == len(telling) or len(found.hits) < most
        return hits[:limit], all_seen or len(hits) >= limit


def _at_most(limit: int) -> int:
    return max(4 * limit, _ASKED_FOR_AT_LEAST)


def _telling(hits: Sequence[Hit]) -> list[Hit]:
    """Those that something speaks for; if the message asks for days and nothing else, what is from them.

    For what took the place of such a one speaks what it took the place of.
    """
    with_words = [hit for hit in hits if "words" in hit.ranks]
    asked_for = [hit for hit in hits if hit.named]
    if asked_for and not with_words:
        return asked_for
    best = max((hit.score for hit in with_words), default=0.0)
    good = [hit.named or _is_good(hit, best) for hit in hits]
    newest = {hit.superseded_by for hit, is_good in zip(hits, good, strict=True) if is_good}
    return [
        hit for hit, is_good in zip(hits, good, strict=True) if is_good or hit.citation in newest
    ]


def _is_good(hit: Hit, best: float) -> bool:
    """Whether it is worth showing beside the best that has words of the message."""
    if "words" in hit.ranks:
        return hit.score >= best * _SHARE_WITH_WORDS
    return _is_near(hit) and hit.score >= best * _SHARE_BY_MEANING


def _is_near(hit: Hit) -> bool:
    return hit.ranks.get("meaning", 0) <= _NEAREST
