"""Marks in a text the words that were asked for, whatever their form or language."""

from __future__ import annotations

import re

from memolith.cli import output
from memolith.text.choices import choices
from memolith.text.stopwords import keywords, language_of
from memolith.text.terms import stems
from memolith.text.tokens import words

_MOST_CHARS = 2_000
_MOST_WORDS = 32
_SPACE = re.compile(r"(\s+)")


class Marker:
    """Knows the words of one question, their stems and what else they may be called."""

    def __init__(self, question: str) -> None:
        """Understand the question as a search does."""
        text = question[:_MOST_CHARS]
        asked = keywords(text)[:_MOST_WORDS]
        found = choices(asked, language=language_of(words(text)))
        self._terms = frozenset(term for word in found for term in word)

    def parts(self, line: str) -> list[str]:
        """The line in parts to print, with these words marked where the output is a terminal."""
        return [
            output.mark(part) if self._is_asked_for(part) else part for part in _SPACE.split(line)
        ]

    def _is_asked_for(self, stretch: str) -> bool:
        return any(self._terms.intersection(stems(word)) for word in words(stretch))
