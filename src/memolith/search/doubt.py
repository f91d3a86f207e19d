"""Whether a question has anything to do with this memory, or only gets what happens to be nearest.

Something is always nearest. Neither of two signs is enough to tell it apart: good answers share no word
with the question, and what is about something else shares some, or comes near by chance. Together they are
better: how much nearer the nearest is than one of this many chunks would be by chance, and how much of what
the question says is in the first hit, each word by how rare it is here, and one that is nowhere most
of all. How often that errs is in benchmarks/README.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping

from memolith.interfaces import NEAR, Nomination
from memolith.search.candidates import NOMINATED, Candidates, QueryContext
from memolith.search.plan import QueryPlan
from memolith.text.synonyms import TRANSLATION, with_halves
from memolith.text.terms import term_counts
from memolith.text.tokens import MARKS, words

# How near the nearest of this many is by chance, of the way from what is usual here to what is identical:
# it grows with how many there are as the largest of as many draws does.
_SPREAD = 0.08
_MARGIN = 0.02
# What having all words of the question is worth, against 1 for being as near as by chance …
_ALL_WORDS = 1.5
# … and what both must come to; where meaning cannot tell, a fifth of the words.
_ENOUGH = 1.05
_ENOUGH_WORDS = 0.2 * _ALL_WORDS
# Among this few chunks every word is frequent, and the nearest is what is usual: this
# share of the words is enough there, however frequent they are.
_FEW = 30
_COUNTED = 0.3
# A memory of one subject has the words of it everywhere: who has nearly all words of a question answers it.
_NEARLY_ALL = 0.7
# In a longer message a number is mentioned, not looked for.
_MAX_ASKED = 8
_SHORTEST_NUMBER = 3
_NTH = re.compile(r"\d+(?:st|nd|rd|th)")


def is_weak(found: Nomination, hits: Candidates, query: QueryContext) -> bool:
    """Whether nothing found has much to do with the question; if it asks for days alone, anything has."""
    if not sum(found.rarity):
        return False
    # What is from the days is first, whatever it says.
    looked_at = range(len(hits) if query.plan.days else 1)
    return all(_tells_little(found, _held(query.plan, hits, at), query) for at in looked_at)


def _tells_little(found: Nomination, held: list[float], query: QueryContext) -> bool:
    if sum(held) >= (_COUNTED if found.chunks <= _FEW else _NEARLY_ALL) * len(held):
        return False
    meant = 1 - query.exact if found.signals.meaning.any() else 0.0
    weighed = sum([share * rarity for share, rarity in zip(held, found.rarity, strict=False)])
    told = meant * _nearness(found, query.near) + _ALL_WORDS * weighed / sum(found.rarity)
    return told < meant * _ENOUGH + (1 - meant) * _ENOUGH_WORDS


def _nearness(found: Nomination, near: float) -> float:
    """How near the nearest is, by how near it would be by chance."""
    there = len(found.signals.keys)  # if they are few, all that the filters let through
    draws = math.sqrt(2 * math.log(max(2, there if there < NOMINATED else found.chunks)))
    by_chance = (_SPREAD * draws + _MARGIN) * min(1 - found.mean_similarity, near / NEAR)
    nearest = float(found.signals.meaning.max()) - found.mean_similarity
    return nearest / by_chance if by_chance > 0 else 0.0


def _held(plan: QueryPlan, hits: Candidates, at: int) -> list[float]:
    """Which words of the question are in a hit, in either language; other names are less."""
    terms = term_counts(hits.texts[at]).keys() | term_counts(hits.chunks[at].heading).keys()
    held = [max([word[term] for term in terms & word.keys()], default=0.0) for word in plan.words]
    return [1.0 if weight >= TRANSLATION else weight for weight in held]


def not_said(plan: QueryPlan, found: Nomination, hits: Candidates) -> Iterator[str]:
    """A warning for each number, version or id that is nowhere: one that is like it is another."""
    if len(plan.asked) > _MAX_ASKED:
        return
    rarity, most = dict(zip(plan.asked, found.rarity, strict=False)), nowhere(found.chunks)
    for stretch in dict.fromkeys(with_halves(plan.text).split()):
        name = stretch.strip(MARKS)
        whole, *parts = words(name) or [""]
        # A number or an id, and not a day of a month.
        is_exact = len(name) >= _SHORTEST_NUMBER and has_digit(name) and not _NTH.fullmatch(name)
        if not is_exact or rarity.get(whole, 0.0) < most:
            continue
        if not parts or not any(set(parts) <= set(words(text)) for text in hits.texts):
            yield f'Nothing says "{name}"; what is shown is only like it.'


def nowhere(chunks: int) -> float:
    """How rare a word is that is in none of this many chunks, or hardly less."""
    return math.log1p((chunks + 0.5) / 0.5) - 1e-6


# What a model of meanings cannot know: numbers, versions and names with digits are only themselves.
#
# A model spells `SUP-4821` in pieces, and to it every ticket is like every other. So the more of what a
# question says is said by such words of this memory, the less its meaning counts.

_FEW_WORDS = 4  # of more words, one says the less


has_digit = re.compile(r"\d").search


def exactness(rarity: Mapping[str, float], chunks: int, names: Collection[str] = ()) -> float:
    """How far words that only are themselves decide, from 0 to 1: by their share of the question.

    So are first names. One word with digits among much else changes little. One that is in none of the chunks finds
    nothing, and takes nothing from the meaning.

    >>> exactness({"shipped": 1.0, "v2.1": 3.0}, 100), exactness({"sup4821": 5.4}, 100)
    (0.75, 0.0)
    """
    most = nowhere(chunks)
    exact = {word for word in rarity if word in names or has_digit(word)}
    told = sum([rarity[word] for word in exact if rarity[word] < most])
    other = sum([value for word, value in rarity.items() if word not in exact])
    return (told / (told + other)) ** max(1, len(rarity) / _FEW_WORDS) if told else 0.0
