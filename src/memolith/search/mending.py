"""A word of a question that stands nowhere is a slip, or two words written as one: the nearest is asked for.

Which words there are only the index knows, and only by their terms. So all that the word may have been
meant to be is made of it, and the index is asked which of these it has. How a word is written, and beside
what, stands in the texts: of those found by such a term, which also say something else of the question, the
word that is no more than a slip away is taken. So a word that is right, but stands nowhere, is left alone.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from memolith.interfaces import WordVectors
from memolith.search.plan import QueryPlan
from memolith.search.written import Written
from memolith.text.choices import choices
from memolith.text.synonyms import is_listed
from memolith.text.terms import stems
from memolith.text.tokens import words

Rarity = Callable[[Sequence[str]], Sequence[float]]

# In a long message a slip does not matter.
_MOST_ASKED = 8
_MOST_MENDED = 2
# Of a shorter word too much is one letter away; a longer one is a key or a blob.
_SHORTEST, _LONGEST = 6, 24
_SHORTEST_PART = 3
_ONE_TOKEN = 2  # bytes
_SHORTEST_WITH_ANOTHER_LETTER = 7
# What is a letter away from a word as long as this one is that word, whatever stands beside it; and beside
# something else of the question it may have another ending too.
_LONG = 8


def mended(
    plan: QueryPlan,
    missing: Sequence[str],
    rarity: Rarity,
    written: Written,
    model: WordVectors | None,
) -> tuple[QueryPlan, tuple[str, ...]]:
    """The plan with words that are there in the place of such that are missing, and what was guessed."""
    if len(plan.asked) > _MOST_ASKED:
        return plan, ()
    asked, terms, said = list(plan.asked), list(plan.words), dict[str, list[str]]()
    slips = [word for word in missing if _may_be_a_slip(word, model) and not _in_parts(word, asked)]
    for word in slips[:_MOST_MENDED]:
        if instead := _nearest(word, rarity, written):
            at = asked.index(word)
            asked[at : at + 1] = new = [part for one in instead for part in words(one)[:1]]
            terms[at : at + 1] = choices(new)
            said[word] = instead
    if not said:
        return plan, ()
    meant = " ".join((plan.meant, *(part for instead in said.values() for part in instead)))
    guessed = {word: instead[0] for word, instead in said.items() if len(instead) == 1}
    notes = tuple(f'Nothing says "{word}"; looked for "{new}".' for word, new in guessed.items())
    return replace(plan, asked=asked, words=terms, meant=meant), notes


def _in_parts(word: str, asked: Sequence[str]) -> bool:
    """Whether this is a compound of the question, whose parts are asked for too: `rate-limit`."""
    return any(word != other and word.startswith(other) for other in asked)


def _may_be_a_slip(word: str, model: WordVectors | None) -> bool:
    """Whether neither our list nor the model has this word, which the model spells in pieces then."""
    if not (word.isascii() and word.isalpha() and _SHORTEST <= len(word) <= _LONGEST):
        return False
    if is_listed(word):
        return False
    return model is None or len(model.spell([[word]])[0]) > _ONE_TOKEN


def _nearest(word: str, rarity: Rarity, written: Written) -> list[str]:
    """The two words it is made of, or the one it is meant to be; of several the more frequent."""
    places = range(_SHORTEST_PART, len(word) - _SHORTEST_PART + 1)
    halves = [(word[:at], word[at:]) for at in places]
    slips = set(_slips(word))
    parts = list({part for half in halves for part in half} | slips)
    found = dict(zip(parts, rarity([stems(part)[0] for part in parts]), strict=True))
    for first, second in sorted(halves, key=lambda half: max(found[part] for part in half)):
        if max(found[first], found[second]) < math.inf and written.has_beside(first, second):
            return [first, second]
    known = sorted((value, other) for other, value in found.items() if other in slips)
    terms = dict.fromkeys(stems(other)[0] for value, other in known if value < math.inf)
    is_long = len(word) >= _LONG
    real = [one for term in terms for one in written.words_with(term, anywhere=is_long)]
    if near := [one for one in real if "".join(words(one)[:1]) in slips]:
        return near[:1]
    if not is_long:
        return []
    beside = (one for term in terms for one in written.words_with(term))
    return [one for one in beside if abs(len(one) - len(word)) <= 1][:1]


def _slips(word: str) -> Iterator[str]:
    """Every word that this may have been meant to be; nobody mistakes the first letter.

    >>> {"standup", "standard"} & set(_slips("standpu"))
    {'standup'}
    >>> "gutierrez" in set(_slips("guttierez"))
    True
    """
    for at in range(1, len(word)):
        yield word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
        yield word[:at] + word[at + 1 :]
    single = "".join(
        letter for letter, before in zip(word, " " + word, strict=False) if letter != before
    )
    yield from (single[: at + 1] + single[at:] for at in range(len(single)))
    for at in range(1, len(word) + 1):
        for letter in string.ascii_lowercase:
            yield word[:at] + letter + word[at:]
            if len(word) >= _SHORTEST_WITH_ANOTHER_LETTER:
                yield word[:at] + letter + word[at + 1 :]
