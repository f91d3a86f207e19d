"""The searches behind one turn: what is found by the deadline counts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from memolith.context.deadline import in_time
from memolith.results import WEAK, Filters, Hit, SearchResult

MaySee = Callable[[Hit], bool]


class Ask(Protocol):
    """Puts a question to the index once, for several sets of filters."""

    def __call__(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limits: Sequence[int],
        seconds: float = math.inf,
        /,
    ) -> list[SearchResult]:
        """For each set of filters at most so many hits; files are indexed for at most so long."""
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
_NEAREST_OF_DAYS = 2  # what is from a day that the message names scores higher for it
# Of the time for an answer, so much may go into files that changed.
_INDEXING = 0.4


@dataclass(frozen=True, slots=True)
class Found:
    """What was found by the deadline."""

    memories: tuple[Hit, ...] = ()
    experiences: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()
    past: frozenset[str] = frozenset()  # see `SearchResult`


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a turn looks for: so many memories, with those of its chat, and past experiences."""

    memories: int
    experiences: int
    chat: str | None
    some_known: bool  # then more of them are refused
    seconds: float


def find(ask: Ask, filters: Filters, question: str, may_see: MaySee, wanted: Wanted) -> Found:
    """Search for at most so long; what is late is said in the warnings. `may_see` refuses hits."""
    found = list[Found]()
    if in_time(
        lambda: found.append(_find(ask, filters, question, may_see, wanted)), wanted.seconds
    ):
        return found[0]
    late = f"The search took longer than {wanted.seconds:g} seconds: this answer is without it."
    return Found(warnings=(late,))


def _find(ask: Ask, filters: Filters, question: str, may_see: MaySee, wanted: Wanted) -> Found:
    limits = [wanted.memories, wanted.experiences][: 1 + bool(wanted.experiences)]
    kinds = [replace(filters, also_chat=wanted.chat), replace(filters, category="experience")]
    kinds = kinds[: len(limits)]
    asked = [limit + limit // (2 if wanted.some_known else 6) + _ASKED_FOR_MORE for limit in limits]
    answers = ask(question, kinds, asked, wanted.seconds * _INDEXING)
    chosen = [_seen(answer, may_see, answers[0]) for answer in answers]
    for at, (limit, (hits, is_some)) in enumerate(zip(limits, chosen, strict=True)):
        if is_some and len(hits) < limit and len(answers[at].hits) >= asked[at]:
            (answers[at],) = ask(question, [kinds[at]], [_at_most(limit)], 0.0)
            chosen[at] = _seen(answers[at], may_see, answers[0])
    warnings = dict.fromkeys(warning for answer in answers for warning in answer.warnings)
    warnings.pop(WEAK, None)
    past = frozenset[str]().union(*(answer.past for answer in answers))
    if answers[0].weak:  # nobody asked for it: what is only the nearest is not handed over
        return Found(warnings=tuple(warnings), past=past)
    memories, *others = [
        tuple(hits[:limit]) for limit, (hits, _) in zip(limits, chosen, strict=True)
    ]
    learned = tuple(hit for hits in others for hit in hits)
    return Found(memories=memories, experiences=learned, warnings=tuple(warnings), past=past)


def _seen(answer: SearchResult, may_see: MaySee, first: SearchResult) -> tuple[list[Hit], bool]:
    """The hits that tell something and may be seen, and whether some of them may not.

    All are measured by the best of the `first` answer.
    """
    telling = _telling(answer.hits, first.hits)
    hits = [hit for hit in telling if may_see(hit)]
    return hits, len(hits) < len(telling)


def _at_most(limit: int) -> int:
    return max(4 * limit, _ASKED_FOR_AT_LEAST)


def _telling(hits: Sequence[Hit], first: Sequence[Hit]) -> list[Hit]:
    """Those that something speaks for; if the message asks for days and nothing else, what is from them.

    For what took the place of such a one speaks what it took the place of.
    """
    best = max((hit.score for hit in first if "words" in hit.ranks), default=0.0)
    if not best and any(hit.named for hit in first):
        return [hit for hit in hits if hit.named]
    good = [_is_good(hit, best) for hit in hits]
    newest = {hit.superseded_by for hit, is_good in zip(hits, good, strict=True) if is_good}
    return [
        hit for hit, is_good in zip(hits, good, strict=True) if is_good or hit.citation in newest
    ]


def _is_good(hit: Hit, best: float) -> bool:
    """Whether it is worth showing beside the best that has words of the message."""
    if "words" in hit.ranks:
        return hit.score >= best * _SHARE_WITH_WORDS
    nearest = _NEAREST_OF_DAYS if hit.named else _NEAREST
    return hit.ranks.get("meaning", 0) <= nearest and hit.score >= best * _SHARE_BY_MEANING
