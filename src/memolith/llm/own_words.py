"""The words of a line that its records do not have: one verb of its own makes another fact of it."""

from __future__ import annotations

from functools import cache

from memolith.text.folding import fold
from memolith.text.similarity import NEGATIONS
from memolith.text.stopwords import is_stop_word, language_of
from memolith.text.synonyms import synonyms_of
from memolith.text.tables import read_table
from memolith.text.terms import german_stem, stems
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LEAST_OF_A_STEM = 3  # letters: two say nothing


def own_words(text: str, said: Iterable[str]) -> Iterator[str]:
    """The words of a text that stand in none of these sentences, not by stem, form or synonym.

    >>> list(own_words("Wir verbieten PostgreSQL", ["Wir nehmen PostgreSQL"]))
    ['verbieten']
    >>> list(own_words("The team purchased a laptop", ["We bought a laptop for the team"]))
    []
    """
    known = {word for sentence in said for word in words(sentence)}
    roots = {root for word in known for root in _roots(word)}
    for word in dict.fromkeys(words(text)):
        if word in known or word in NEGATIONS:  # what is denied is compared sentence by sentence
            continue
        weighty = _rows("weighty").get(word)
        if weighty is not None:
            if known.isdisjoint(weighty):
                yield word
        elif not _only_joins(word) and roots.isdisjoint(_roots(word)) and not _means(word, roots):
            yield word


def _only_joins(word: str) -> bool:
    return word in _rows("joining") or is_stop_word(word, language_of([word]))


def _roots(word: str) -> set[str]:
    forms = _rows("forms").get(word, frozenset((word,)))
    found = {root for form in forms for root in (*stems(form), german_stem(form))}
    return {
        root for root in found if len(root.removeprefix("~de:").strip("~")) >= _LEAST_OF_A_STEM
    } | {word}


def _means(word: str, roots: set[str]) -> bool:
    """Whether a synonym, of one word, stands in the records."""
    others = (one.text for one in synonyms_of(word) if " " not in one.text)
    return any(not roots.isdisjoint(_roots(other)) for other in others)


@cache
def _rows(section: str) -> dict[str, frozenset[str]]:
    """Each word of a section, and those that stand in its line."""
    found: dict[str, frozenset[str]] = {}
    for (line,) in read_table("own_words.txt")[section]:
        row = frozenset(fold(line).split())
        found.update({word: found.get(word, frozenset()) | row for word in row})
    return found
