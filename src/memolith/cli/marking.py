"""Marks in a text the words that were asked for, whatever their form or language."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from memolith.cli import output
from memolith.text.choices import choices
from memolith.text.scripts import has_words_without_spaces
from memolith.text.stopwords import keywords, language_of
from memolith.text.terms import stems
from memolith.text.tokens import words

_MOST_CHARS = 2_000
_MOST_WORDS = 32
_SPACE = re.compile(r"(\s+)")


class Marker:
    """Knows the words of one question, their stems and what else they may be called."""

    def __init__(self, question: str) -> None:
        """The question is understood, as a search does it, when that is needed first."""
        self._question = question[:_MOST_CHARS]

    @cached_property
    def _terms(self) -> frozenset[str]:
        asked = keywords(self._question)[:_MOST_WORDS]
        found = choices(asked, language=language_of(words(self._question)))
        return frozenset(term for word in found for term in word)

    def parts(self, line: str) -> list[str]:
        """The line in parts to print, with these words marked where the output is a terminal."""
        if not output.is_styled():
            return [line]
        return [marked for part in _SPACE.split(line) for marked in self._marked(part)]

    def first_of_best(self, lines: Sequence[str], count: int) -> int:
        """Where the so many lines begin that hold most of these words; the first of equals."""
        found = [self._found_in(line) for line in lines]
        starts = range(max(1, len(lines) - count + 1))
        return max(starts, key=lambda start: len(set().union(*found[start : start + count])))

    def _found_in(self, line: str) -> set[str]:
        return {term for word in words(line) for term in self._terms.intersection(stems(word))}

    def _marked(self, stretch: str) -> list[str]:
        if not self._is_asked_for(stretch):
            return [stretch]
        if stretch.isascii() or not has_words_without_spaces(stretch):
            return [output.mark(stretch)]
        # A whole sentence may stand between two spaces: only the characters asked for are meant.
        is_meant = [False] * len(stretch)
        for term in self._terms:
            at = stretch.find(term) if not term.isascii() else -1
            while at >= 0:
                is_meant[at : at + len(term)] = [True] * len(term)
                at = stretch.find(term, at + 1)
        if not any(is_meant):  # written in another form
            return [output.mark(stretch)]
        runs = groupby(zip(stretch, is_meant, strict=True), key=itemgetter(1))
        parts = ((meant, "".join(letter for letter, _ in run)) for meant, run in runs)
        return [output.mark(part) if meant else part for meant, part in parts]

    def _is_asked_for(self, stretch: str) -> bool:
        return any(self._terms.intersection(stems(word)) for word in words(stretch))
