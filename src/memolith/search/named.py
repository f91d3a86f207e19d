"""Who asks what was decided wants decisions: records of a category that the question names come first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from memolith.interfaces import Column, Signals
from memolith.search.candidates import Candidates, QueryContext

# The least that is added for being of such a category, against 1 for what is best in everything.
_LEAST = 0.2
_DECIDES = 1.0
_PREFERENCES = "prefer prefers preferred preference preferences"
_PREFERENCES += " prefiero prefiere prefieres prefieren preferimos preferencia preferencias"
# The words by which somebody asks for records of a category, folded.
_WORDS = {
    "decision": "decide decides decided deciding decision decisions"
    " decidi decidir decidio decidimos decidiste decidieron decidido decisiones",
    "preference": _PREFERENCES,
    "user-preference": _PREFERENCES,
    "learned": "lesson lessons learn learned learnt leccion lecciones aprender aprendi aprendimos aprendido",
}
_CATEGORIES = {
    word: tuple(name for name, some in _WORDS.items() if word in some.split())
    for words in _WORDS.values()
    for word in words.split()
}


def categories_named(asked: Iterable[str]) -> tuple[str, ...]:
    """The categories that words of a question name.

    >>> categories_named(["lessons", "october"])
    ('learned',)
    """
    named = (name for word in asked for name in _CATEGORIES.get(word, ()))
    return tuple(dict.fromkeys(named))


def subjects(asked: Iterable[str]) -> int:
    """How many of the words of a question say something else than a category."""
    return sum(word not in _CATEGORIES for word in asked)


def prefer_named(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that lifts records of a category the question names; without one it does nothing."""
    if query.named is None or not len(query.named):
        return candidates
    # One of the things asked for, as days are; more than all the rest if it is the only one.
    most = max(_LEAST, 1 / (1 + len(query.rarity))) if query.subjects else _DECIDES
    lift = is_named(query, candidates.signals) * most
    after = replace(candidates, lift=candidates.lift + lift)
    return after.scored(candidates.score + lift, {"named": lift})


def is_named(query: QueryContext, signals: Signals) -> Column:
    """Which chunks are records of a category the question names."""
    if query.named is None:
        return np.zeros(len(signals.record), np.bool_)
    # An even number for the record, one more for a copy of it: see `Signals.record`.
    found: Column = np.isin(signals.record // 2, query.named // 2) & (signals.record > 0)
    return found
