"""What a model of meanings cannot know: numbers, versions and names with digits are only themselves.

A model spells `SUP-4821` in pieces, and to it every ticket is like every other. So the more of what a
question tells is told by such words of this memory, the less its meaning counts.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memolith.search.nominating import nowhere
from memolith.text.tokens import words

_FEW = 4  # of more words, one says the less


def has_digit(text: str) -> bool:
    """Whether there is a digit in it.

    >>> has_digit("v2.1"), has_digit("two")
    (True, False)
    """
    return not text.isalpha() and any(map(str.isdigit, text))


def exactness(
    stretches: Sequence[str],
    rarity: Mapping[str, float],
    chunks: int,
    names: Collection[str] = (),
) -> float:
    """How far words that only are themselves decide, from 0 to 1: by their share in what is told.

    So are first names. One word with digits among much else changes little. One that is in none of so many chunks finds
    nothing, and takes nothing from the meaning.

    >>> exactness(["shipped", "with", "v2.1"], {"shipped": 1.0, "v2.1": 3.0}, 100)
    0.75
    >>> exactness(["what", "was", "SUP-4821", "about?"], {"sup4821": 5.4}, 100)
    0.0
    """
    with_digits = {word for stretch in stretches if has_digit(stretch) for word in words(stretch)}
    with_digits |= set(names)
    if with_digits.isdisjoint(rarity):
        return 0.0
    most = nowhere(chunks)
    told = sum(rarity[word] for word in with_digits & rarity.keys() if rarity[word] < most)
    other = sum(value for word, value in rarity.items() if word not in with_digits)
    return (told / (told + other)) ** max(1, len(rarity) / _FEW) if told else 0.0
