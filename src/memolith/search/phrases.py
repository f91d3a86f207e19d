"""What stands in quotation marks must stand in the hit, word for word and in this order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memolith.search.candidates import Candidates, QueryContext
from memolith.text.folding import bare_letters
from memolith.text.tokens import words

# A mark inside a word opens nothing: 5" and 3" are inches.
_QUOTED = re.compile(
    r'(?<!\w)"([^"\n]{1,200})"(?!\w)|“([^”\n]{1,200})”|«([^»\n]{1,200})»|„([^“”\n]{1,200})[“”]'
)
_MOST_PHRASES = 4
# Who says so many words besides tells something and mentions what others said, as chats do; who looks
# for a quotation says little else.
_LONG = 25


def phrases_of(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each quotation; case and accents do not count, stop words do.

    In a long message nothing is demanded: its quotations count as words, like all it says.

    >>> phrases_of('who said "Hasta mañana" and «to be»?')
    (('hasta', 'manana'), ('to', 'be'))
    """
    found = (
        tuple(words("".join(match.groups(default="")))) for match in _QUOTED.finditer(question)
    )
    phrases = tuple(dict.fromkeys(phrase for phrase in found if phrase))
    if phrases and len(words(_QUOTED.sub(" ", question))) > _LONG:
        return ()
    return phrases[:_MOST_PHRASES]


def require_phrases(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that keeps what holds most of the quotations: all of them, or as many as any does."""
    if not query.phrases:
        return candidates
    held = [sum(found) for found in _held(query.phrases, candidates)]
    most = max(held, default=0)
    holding = [at for at, count in enumerate(held) if count == most]
    return replace(candidates.take(holding), why={})


def _held(phrases: Sequence[Sequence[str]], candidates: Candidates) -> list[list[bool]]:
    """Which of the quotations each candidate holds."""
    return [
        [holds(phrase, text, chunk.heading) for phrase in phrases]
        for text, chunk in zip(candidates.texts, candidates.chunks, strict=True)
    ]


def not_held(phrases: Sequence[Sequence[str]], candidates: Candidates) -> Iterator[str]:
    """A warning for each quotation that none of the candidates holds, or if none holds them all."""
    if not phrases:
        return
    held = _held(phrases, candidates)
    missing = [phrase for at, phrase in enumerate(phrases) if not any(row[at] for row in held)]
    for phrase in missing:
        yield f'Nothing found says "{" ".join(phrase)}" word for word.'
    if not missing and not any(map(all, held)):
        yield "Nothing found says all of what stands in quotation marks."


def holds(phrase: Sequence[str], *texts: str) -> bool:
    """Whether the words stand side by side in one of the texts."""
    wanted = f" {' '.join(phrase)} "
    letters = [bare_letters(word) or b"" for word in phrase]
    return any(
        _may_hold(letters, bare_letters(text)) and wanted in f" {' '.join(words(text))} "
        for text in texts
    )


def _may_hold(parts: Sequence[bytes], letters: bytes | None) -> bool:
    """Mostly not even the letters of a phrase are in a text; taking it apart takes far longer."""
    return letters is None or all(part in letters for part in parts)
