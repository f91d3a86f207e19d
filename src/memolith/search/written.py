"""Words as they stand in the texts: the index knows only their terms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import pairwise

from memolith.interfaces import Index, Nomination
from memolith.results import Filters
from memolith.search.candidates import Candidates
from memolith.search.exact import has_digit
from memolith.search.nominating import nowhere
from memolith.search.plan import QueryPlan
from memolith.search.reading import Reading
from memolith.text.clock_times import with_halves
from memolith.text.synonyms import is_listed
from memolith.text.terms import stems, term_counts, terms_of
from memolith.text.tokens import MARKS, words

_READ = 5  # texts with a term, the best
_FIRST = 10.0  # what must stand in a text counts so much more than what should
# In a longer message a number is mentioned, not looked for.
_MOST_ASKED = 8
_SHORTEST_NUMBER = 3
_NTH = re.compile(r"\d+(?:st|nd|rd|th)")


class Written:
    """What stands in the texts that may answer a question."""

    def __init__(
        self, index: Index, reading: Reading, filters: Filters, known: Sequence[Mapping[str, float]]
    ) -> None:
        """`known` are the words of the question that stand somewhere, by their terms."""
        self._index = index
        self._reading = reading
        self._filters = filters
        self._known = known

    def words_with(self, term: str, *, anywhere: bool = False) -> Iterator[str]:
        """The words with a term, as they are written; `anywhere`, or beside another word of the question."""
        seen = set[str]()
        for text in self._texts([{term: _FIRST}, *self._known]):
            there = term_counts(text).keys()
            if term in there and (anywhere or self._has_other(there)):
                for stretch in text.split():
                    word = stretch.strip(MARKS)
                    if word not in seen and term in terms_of(stretch)[1]:
                        seen.add(word)
                        yield word

    def _has_other(self, terms: Set[str]) -> bool:
        return not self._known or any(not terms.isdisjoint(word) for word in self._known)

    def has_beside(self, first: str, second: str) -> bool:
        """Whether two words stand side by side somewhere."""
        terms = stems(first)[0], stems(second)[0]
        return any(
            pair == terms
            for text in self._texts([{term: _FIRST} for term in terms])
            for pair in pairwise(stems(word)[0] for word in words(text))
        )

    def _texts(self, asked: Sequence[Mapping[str, float]]) -> Iterator[str]:
        signals = self._index.rank(asked, None, _READ, [self._filters])[0].signals
        return self._reading.texts(signals.keys[signals.words > 0].tolist())


def not_said(plan: QueryPlan, found: Nomination, hits: Candidates) -> Iterator[str]:
    """A warning for each number, version or id that stands nowhere: one that is like it is another."""
    if len(plan.asked) > _MOST_ASKED:
        return
    rarity, most = dict(zip(plan.asked, found.rarity, strict=False)), nowhere(found.chunks)
    for stretch in dict.fromkeys(with_halves(plan.text).split()):
        name = stretch.strip(MARKS)
        whole, *parts = words(name) or [""]
        if not _is_exact(name) or is_listed(whole) or rarity.get(whole, 0.0) < most:
            continue
        if not parts or not any(set(parts) <= set(words(text)) for text in hits.texts):
            yield f'Nothing says "{name}"; what is shown is only like it.'


def _is_exact(name: str) -> bool:
    """Whether this is a number or an id, and no day of a month.

    >>> _is_exact("SUP-4822"), _is_exact("7th"), _is_exact("two")
    (True, False, False)
    """
    return len(name) >= _SHORTEST_NUMBER and has_digit(name) and not _NTH.fullmatch(name)
