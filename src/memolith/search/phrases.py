"""What stands in quotation marks must stand in the hit, word for word and in this order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from memolith.text.tokens import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memolith.search.candidates import Candidates, Situation

# A mark inside a word opens nothing: 5" and 3" are inches.
_QUOTED = re.compile(
    r'(?<!\w)"([^"\n]{1,200})"(?!\w)|“([^”\n]{1,200})”|«([^»\n]{1,200})»|„([^“”\n]{1,200})[“”]'
)
_MOST_PHRASES = 4


def phrases_of(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each quotation; case and accents do not count, stop words do.

    >>> phrases_of('who said "Hasta mañana" and «to be»?')
    (('hasta', 'manana'), ('to', 'be'))
    """
    found = (
        tuple(words("".join(match.groups(default="")))) for match in _QUOTED.finditer(question)
    )
    return tuple(dict.fromkeys(phrase for phrase in found if phrase))[:_MOST_PHRASES]


def require_phrases(situation: Situation, candidates: Candidates) -> Candidates:
    """A stage that keeps what holds every quotation; all, if nothing does."""
    if not situation.phrases:
        return candidates
    held = [
        at
        for at, (text, chunk) in enumerate(zip(candidates.texts, candidates.chunks, strict=True))
        if all(holds(phrase, text, chunk.heading) for phrase in situation.phrases)
    ]
    return candidates.take(held) if held else candidates


def not_held(phrases: Sequence[Sequence[str]], candidates: Candidates) -> Iterator[str]:
    """A warning for each quotation that none of the candidates holds."""
    for phrase in phrases:
        parts = zip(candidates.texts, candidates.chunks, strict=True)
        if not any(holds(phrase, text, chunk.heading) for text, chunk in parts):
            yield f'Nothing found says "{" ".join(phrase)}" word for word.'


def holds(phrase: Sequence[str], *texts: str) -> bool:
    """Whether the words stand side by side in one of the texts."""
    wanted = f" {' '.join(phrase)} "
    return any(wanted in f" {' '.join(words(text))} " for text in texts)
