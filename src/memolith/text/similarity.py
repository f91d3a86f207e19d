"""How alike two texts, two sets of words or two vectors are."""

from __future__ import annotations

import math

from memolith.text.folding import fold
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

# Above this share of common words two records say the same.
NEAR_COPY = 0.85

# One of these more or less turns a sentence into its opposite.
NEGATIONS = frozenset(
    "no not never none nothing neither nor without dont doesnt didnt isnt arent wasnt werent cant cannot"
    " couldnt wont wouldnt shouldnt hasnt havent hadnt ni nunca jamas nada nadie ningun ninguna sin tampoco".split()
)


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of words that two sets have in common; two empty sets have nothing in common.

    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    """The cosine of the angle between two vectors of one length; 0 if either is zero or not finite.

    >>> cosine([1.0, 0.0], [1.0, 1.0])
    0.7071067811865475
    """
    if len(one) != len(other):
        raise ValueError(f"vectors of {len(one)} and {len(other)} numbers cannot be compared")
    # Scaled first: squares of very large or very small numbers would not fit a float.
    largest, other_largest = (max(map(abs, vector), default=0.0) for vector in (one, other))
    if not (0 < largest < math.inf and 0 < other_largest < math.inf):
        return 0.0
    first = [number / largest for number in one]
    second = [number / other_largest for number in other]
    value = sum(a * b for a, b in zip(first, second, strict=True)) / (
        math.hypot(*first) * math.hypot(*second)
    )
    return value if math.isfinite(value) else 0.0


def is_near_copy(one: str, other: str, *, at_least: float = NEAR_COPY) -> bool:
    """Whether two texts say the same in nearly the same words.

    Different numbers or a «not» more make a different fact, however alike the rest is.

    >>> is_near_copy("Ana owns the release key.", "ana owns the RELEASE key")
    True
    >>> is_near_copy("The rent is 950 euros a month", "The rent is 990 euros a month")
    False
    """
    if fold(one).split() == fold(other).split():
        return True
    if tells_apart(one, other):
        return False
    return jaccard(set(words(one)), set(words(other))) >= at_least


def tells_apart(one: str, other: str) -> bool:
    """Whether a number or a «not» stands in one of two texts only: then they are two facts.

    >>> tells_apart("The rent is 950 euros", "Rent: 990 euros"), tells_apart("tea", "likes tea")
    (True, False)
    """
    return any(_weighs(word) for word in set(words(one)) ^ set(words(other)))


def _weighs(word: str) -> bool:
    return word in NEGATIONS or any(letter.isdigit() for letter in word)
