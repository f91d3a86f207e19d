"""Whether a question has anything to do with this memory, or only gets what happens to be nearest.

Something is always nearest. How near says little: in a large memory nonsense comes as near by meaning
as many a good question does. Words tell it apart, each by how rare it is here, and one that stands
nowhere most of all: the best chunk must have a fifth of what the question says, or three of its words.
In a small memory every word that is known is frequent, so the words of the hits are counted too.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from memolith.search.named import subjects
from memolith.text.choices import TRANSLATION
from memolith.text.terms import term_counts

if TYPE_CHECKING:
    from memolith.interfaces import Nomination
    from memolith.search.candidates import Candidates
    from memolith.search.plan import QueryPlan

# Of what the words of the question tell, the share that the best chunk must have …
_SHARE = 0.2
# … or as many words: of a long message nothing has a fifth.
_WORDS = 3
# Or it means the same: it is nearer than the nearest of so many would be by chance, whose distance
# grows with how many there are as that of the largest of as many draws does.
_SPREAD = 0.08  # of the way from what is usual here to what is identical, for one chunk
_MARGIN = 0.02
# … or the nearest stands alone: so many times further before the second than is usual of as many draws.
_ALONE = 5
_FEW = 30  # among these one is soon alone
# … or a hit has this share of the words, however frequent they are.
_COUNTED = 0.3
_LOOKED_AT = 4_000  # characters of a hit


def is_weak(found: Nomination, plan: QueryPlan, hits: Candidates) -> bool:
    """Whether nothing found has much to do with the question; of its days alone anything may tell.

    And who asks for decisions is answered by any.
    """
    told = sum(found.rarity)
    if not told or plan.days or (found.named is not None and len(found.named)):
        return False
    if plan.categories and not subjects(plan.asked):
        return False
    enough = min(_SHARE, _WORDS / len(found.rarity)) * told
    if found.signals.words.max(initial=0.0) >= enough:
        return False
    if _means_the_same(found):
        return False
    least = _COUNTED * len(plan.words)
    shown = zip(hits.texts, hits.chunks, strict=True)
    return all(_counted(plan, text, chunk.heading) < least for text, chunk in shown)


def _means_the_same(found: Nomination) -> bool:
    """Whether the nearest is nearer than by chance: than any would be, or than all others are."""
    meaning = found.signals.meaning
    if not len(meaning):
        return False
    nearest = float(meaning.max())
    second = float(meaning[meaning < nearest].max(initial=found.usual_meaning))
    draws = math.sqrt(2 * math.log(max(found.chunks, 2)))
    room = 1 - found.usual_meaning
    is_near = nearest - found.usual_meaning >= (_SPREAD * draws + _MARGIN) * room
    return is_near or (found.chunks > _FEW and nearest - second >= _ALONE * _SPREAD / draws * room)


def _counted(plan: QueryPlan, *texts: str) -> float:
    """How many words of the question stand in the texts, in either language; other names are less."""
    terms = frozenset(term for text in texts for term in term_counts(text[:_LOOKED_AT]))
    found = (max((word[term] for term in terms & word.keys()), default=0) for word in plan.words)
    return sum(1 if weight >= TRANSLATION else weight for weight in found)
