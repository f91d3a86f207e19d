"""The terms of many chunks at once: every stretch between spaces is taken apart only once.

Indexing a memory for the first time is mostly this. So a stretch becomes a number when it is first
met, and the rest (counting, the judgement of the language, adding up fields) is done on arrays.
"""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from memolith.index.words import TERM_UNIT, term_hash
from memolith.interfaces import Terms
from memolith.text.terms import is_second_form, terms_of

Integers = NDArray[np.int64]

# How much a term in the titles above counts, against 1 in the text.
HEADING_WEIGHT = 0.5
_MOST_STRETCHES = 300_000
_MOST_COUNTED = 255
_LONGEST_REMEMBERED = 64  # what is longer is a blob, or a script without spaces
_LANGUAGES = {"en": 1, "es": 2, None: 0}


class Vocabulary:
    """Numbers for stretches and terms, for as long as one sync takes."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._forget()

    def pack(self, texts: Sequence[tuple[str, str]]) -> list[Terms]:
        """For each text and the titles above it its terms."""
        if len(self._stops) > _MOST_STRETCHES:
            self._forget()
        fields = [[text.split() for text, _ in texts], [titles.split() for _, titles in texts]]
        weights = (round(1 / TERM_UNIT), round(HEADING_WEIGHT / TERM_UNIT))
        parts = [self._terms(field) for field in fields]
        owners = np.concatenate([owners for owners, _ in parts])
        terms = np.concatenate([terms for _, terms in parts])
        counts = np.repeat(weights, [len(terms) for _, terms in parts])
        return self._packed(len(texts), owners, terms, counts)

    def _terms(self, texts: Sequence[Sequence[str]]) -> tuple[Integers, Integers]:
        """Every term of every text, by number, and the text it stands in."""
        sizes = [len(text) for text in texts]
        look_up = self._stretches.__getitem__
        found = np.fromiter(map(look_up, chain.from_iterable(texts)), np.int64, sum(sizes))
        owners = np.repeat(np.arange(len(texts)), sizes)
        language = np.frombuffer(self._languages, np.uint8)[found]
        english = np.bincount(owners[language == 1], minlength=len(texts))
        spanish = np.bincount(owners[language == 2], minlength=len(texts))
        every = np.frombuffer(self._stops, np.int64)
        starts, stops = every[found - 1], every[found]
        is_english = (english > 3 * spanish)[owners]
        in_english = np.frombuffer(self._in_english, np.int64)[found]
        stops = np.where(is_english, starts + in_english, stops)
        terms = np.frombuffer(self._of_stretches, np.int64)[stretches(starts, stops)]
        return np.repeat(owners, stops - starts), terms

    def _packed(
        self, size: int, owners: Integers, terms: Integers, counts: Integers
    ) -> list[Terms]:
        hashes = np.frombuffer(self._hashes, np.int64)
        first = np.frombuffer(self._is_first, np.uint8)[terms]
        lengths = np.bincount(owners, first * counts, size) * TERM_UNIT
        keys = owners * len(hashes) + terms
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.diff(keys, prepend=-1))
        added = np.add.reduceat(counts[order], starts) if len(starts) else counts
        often = np.minimum(added, _MOST_COUNTED).astype(np.uint8)
        owners, terms = np.divmod(keys[starts], max(1, len(hashes)))
        ends = np.searchsorted(owners, np.arange(size + 1))
        numbers = hashes[terms]
        return [
            Terms(numbers[start:stop], often[start:stop], length)
            for start, stop, length in zip(ends[:-1], ends[1:], lengths, strict=True)
        ]

    def _forget(self) -> None:
        self._stretches = _Numbers(self._learn, _LONGEST_REMEMBERED)
        # By stretch: the language it tells, how many of its terms an English text has, and where the
        # terms of all stretches until it end. The first stretch is none.
        self._languages, self._in_english, self._stops = (
            array("B", [0]),
            array("q", [0]),
            array("q", [0]),
        )
        self._of_stretches = array("q")
        self._terms_by_name = _Numbers(self._learn_term)
        self._hashes, self._is_first = array("q"), array("B")

    def _learn(self, stretch: str) -> int:
        english, other, language = terms_of(stretch)
        more = other[1:] if other[:1] == english else (Counter(other) - Counter(english)).elements()
        self._languages.append(_LANGUAGES[language])
        self._in_english.append(len(english))
        self._of_stretches.extend(map(self._terms_by_name.__getitem__, (*english, *more)))
        self._stops.append(len(self._of_stretches))
        return len(self._stops) - 1

    def _learn_term(self, term: str) -> int:
        self._hashes.append(term_hash(term))
        self._is_first.append(not is_second_form(term))
        return len(self._hashes) - 1


class _Numbers(dict[str, int]):
    """What is asked for the first time is learned, and remembered unless it is too long."""

    def __init__(self, learn: Callable[[str], int], longest: float = math.inf) -> None:
        self._learn = learn
        self._longest = longest

    def __missing__(self, name: str) -> int:
        number = self._learn(name)
        if len(name) <= self._longest:
            self[name] = number
        return number


def stretches(starts: Integers, stops: Integers) -> Integers:
    """All numbers from each start to its stop, one stretch after the other."""
    sizes = stops - starts
    before = np.cumsum(sizes) - sizes
    numbers: Integers = np.arange(int(sizes.sum())) + np.repeat(starts - before, sizes)
    return numbers
