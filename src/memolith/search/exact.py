"""What a model of meanings cannot know: numbers, versions and names with digits are only themselves.

A model spells `SUP-4821` in pieces, and to it every ticket is like every other. So the more of what a
question tells is told by such words, and by such that stand in this memory, the less its meaning counts.
It is the same with a word it does not know, where the list of synonyms does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from memolith.interfaces import Nomination, WordVectors
from memolith.search.nominating import nowhere
from memolith.text.synonyms import is_listed
from memolith.text.tokens import words

_FEW = 4  # of more words, one says the less
_PIECES = 4  # bytes: what has at most two tokens is mostly an ordinary compound


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
    strange: Collection[str] = (),
) -> float:
    """How far words that only are themselves decide, from 0 to 1: by their share in what is told.

    Those have digits, or are `strange`. One of them among much else changes little. A word with digits
    that stands in none of so many chunks finds nothing, and takes nothing from the meaning.

    >>> exactness(["shipped", "with", "v2.1"], {"shipped": 1.0, "v2.1": 3.0}, 100)
    0.75
    >>> exactness(["what", "was", "SUP-4821", "about?"], {"sup4821": 5.4}, 100)
    0.0
    """
    with_digits = {word for stretch in stretches if has_digit(stretch) for word in words(stretch)}
    if not strange and with_digits.isdisjoint(rarity):
        return 0.0
    most = nowhere(chunks)
    told = sum(rarity[word] for word in with_digits & rarity.keys() if rarity[word] < most)
    told += sum(rarity[word] for word in strange)
    exact = with_digits.union(strange)
    other = sum(value for word, value in rarity.items() if word not in exact)
    return (told / (told + other)) ** max(1, len(rarity) / _FEW) if told else 0.0


def strange_words(found: Nomination, asked: Sequence[str], model: WordVectors | None) -> list[str]:
    """Those that stand nowhere themselves, and that our list has but the model spells in pieces.

    What they are called otherwise, if that is found, tells more than what their pieces mean.
    """
    most = nowhere(found.chunks)
    if model is None or max(found.rarity, default=0.0) < most or not found.signals.words.any():
        return []
    rare = zip(asked, found.rarity, strict=False)
    missing = [word for word, value in rare if value >= most and is_listed(word)]
    spelled = model.spell([[word] for word in missing])
    return [word for word, pieces in zip(missing, spelled, strict=True) if len(pieces) > _PIECES]
