"""Which words of a question are first names: they mean nobody else, in no language."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from memolith.search.candidates import Candidates, QueryContext, best_first
from memolith.text.folding import fold
from memolith.text.tables import read_words
from memolith.text.tokens import MARKS, words

# Names that are often another word: at the beginning of a question they may be that.
_AMBIGUOUS = frozenset(
    "alba angeles april art august bill blanca concha consuelo dolores esperanza estrella grace hope"
    " june luz mark may mercedes milagros nieves paz perla pilar remedios rob rocio rosario rose"
    " salvador soledad summer violeta will".split()
)
# What has the same words, but not the name, has so much of its score.
_NOT_NAMED = 0.9


@cache
def _first_names() -> frozenset[str]:
    return frozenset(map(fold, read_words("first_names.txt")))


def first_names(text: str) -> frozenset[str]:
    """The first names in a question, folded; they are written with a capital.

    >>> sorted(first_names("¿Dónde vive Clara, y qué hace Pilar?"))
    ['clara', 'pilar']
    >>> sorted(first_names("Will the clara be used?"))
    []
    """
    stretches = text.split()
    found = set()
    for at, stretch in enumerate(stretches):
        word = stretch.strip(MARKS).removesuffix("'s").removesuffix("\u2019s")
        if word[:1].isupper() and word[1:].islower():
            name = fold(word)
            if name in _first_names() or (name in _AMBIGUOUS and (at or len(stretches) == 1)):
                found.add(name)
    return frozenset(found)


def prefer_names(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts what has the names of the question before what has the same words: *rosas*."""
    if not query.names or not len(candidates):
        return candidates
    held = np.array([len(query.names & _names_in(text)) for text in candidates.texts])
    score = candidates.score * np.where(held == held.max(), 1.0, _NOT_NAMED)
    order = best_first(score, candidates.signals.keys)
    return replace(candidates, score=score, why={"names": held}).take(order)


def _names_in(text: str) -> set[str]:
    """The words of a text that begin with a capital, folded."""
    stretches = (stretch.strip(MARKS) for stretch in text.split())
    return {word for one in stretches if one[:1].isupper() for word in words(one)}
