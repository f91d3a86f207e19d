"""How alike two texts or two sets of words are."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from memolith.text.tables import word_list
from memolith.text.tokens import words

# The only words that may differ between copies: «must», «after», «all» or «his» are not among them.
SMALL = word_list("small")

# One of these more or less turns a sentence into its opposite.
NEGATIONS = word_list("negations")


def jaccard(one: AbstractSet[str], other: AbstractSet[str]) -> float:
    """The share of words that two sets have in common; two empty sets have nothing in common.

    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def copy_key(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What near copies have in common: their telling words by stem, in order, and their signs.

    Texts with one key differ only in small words, case, punctuation and inflection. Another name, day
    or number, or the same words in another order, make a different fact.

    >>> copy_key("Ana owns the release key.") == copy_key("ana owns a RELEASE key")
    True
    >>> copy_key("The rent is due every Friday") == copy_key("The rent is due every Monday")
    False
    >>> copy_key("Balance: -5 €") == copy_key("Balance: 5 €")
    False
    """
    return tuple(_content(words(text))), tuple(signs(text))


def tells_apart(one: str, other: str) -> bool:
    """Whether texts of one meaning are two facts: by a name, day, number, «not» or their order.

    >>> tells_apart("The rent is 950 euros", "Rent: 990 euros"), tells_apart("tea", "likes tea")
    (True, False)
    >>> tells_apart("The call is led by Tom", "The call is led by Eva")
    True
    >>> tells_apart("They sold the red car", "They sold the blue car")
    True
    """
    mine, theirs = words(one), words(other)
    if signs(one) != signs(other):
        return True
    if any(_weighs(word) for word in set(mine) ^ set(theirs)):
        return True
    first, second = _content(mine), _content(theirs)
    if set(first) == set(second):
        # A clause that moved to the other end changes nothing: because it rained, they stayed.
        before, after = list(dict.fromkeys(first)), list(dict.fromkeys(second))
        return all(before[at:] + before[:at] != after for at in range(len(before) or 1))
    names = _names(one) | _names(other)
    if _only(names, mine) != _only(names, theirs):
        return True
    return _swapped(first, second)


def _swapped(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether one word stands in the place of another that does not mean the same: red, blue."""
    if len(one) != len(other) or len(one) < 2:
        return False
    places = [at for at, word in enumerate(one) if word != other[at]]
    return len(places) == 1 and not _mean_the_same(one[places[0]], other[places[0]])


def _mean_the_same(one: str, other: str) -> bool:
    from memolith.text.synonyms import synonyms_of

    both = ((one, other), (other, one))
    return any(that in (found.text for found in synonyms_of(this)) for this, that in both)


def signs(text: str) -> list[str]:
    """The currencies of a text and the minus signs of its numbers: words do not show them.

    >>> signs("from -5 € to 7 $"), signs("2026-11-15")
    (['$', '-', '€'], [])
    """
    if not any(sign in text for sign in "-−€$£¥₹"):
        return []
    spaced = f" {text}"
    return sorted(
        sign.replace("−", "-")
        for before, sign, after in zip(spaced, spaced[1:], f"{spaced[2:]} ", strict=False)
        if sign in "€$£¥₹" or (sign in "-−" and after in "0123456789€$£¥₹" and before in " (\t\n:=")
    )


def _weighs(word: str) -> bool:
    from memolith.text.date_phrases import MONTHS, WEEKDAYS

    dated = word in WEEKDAYS or word in MONTHS
    return dated or word in NEGATIONS or any(letter.isdigit() for letter in word)


def _names(text: str) -> set[str]:
    """The words of a text that a capital makes a name."""
    from memolith.text.names import names_and_numbers

    return {
        word for name in names_and_numbers(text) if not name[:1].isdigit() for word in words(name)
    }


def _only(wanted: AbstractSet[str], found: Sequence[str]) -> list[str]:
    """Those of the words that are wanted, each once, in their order."""
    return [word for word in dict.fromkeys(found) if word in wanted]


def _content(found: Sequence[str]) -> list[str]:
    """The stems of the words that are not small, in their order; of all if every one is small."""
    from memolith.text.terms import stems

    return [stems(word)[0] for word in [one for one in found if one not in SMALL] or found]
