"""What a question asks for: its words with their stems and synonyms, quoted phrases, and days."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.text.stopwords import keywords
from memolith.text.terms import stems
from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# A question is not a document: beyond this nothing more is learned, and it only takes time.
MOST_CHARS = 8_000
MOST_WORDS = 32

_QUOTED = re.compile(r'"([^"]{2,200})"|“([^”]{2,200})”|«([^»]{2,200})»')


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """A question, understood."""

    text: str  # what is embedded
    words: Sequence[Mapping[str, float]]  # for each word the terms it may stand under, with weights
    phrases: tuple[tuple[str, ...], ...] = ()  # words that must stand side by side


def plan(question: str) -> QueryPlan:
    """Understand a question. Any text is a question; one without words finds nothing by words."""
    text = question[:MOST_CHARS]
    return QueryPlan(
        text=text,
        words=[dict.fromkeys(stems(word), 1.0) for word in keywords(text)[:MOST_WORDS]],
        phrases=tuple(
            tuple(words(next(filter(None, quoted.groups())))) for quoted in _QUOTED.finditer(text)
        ),
    )
