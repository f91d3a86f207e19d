"""What a message asks memory for: a long one is not a good question as it stands."""

from __future__ import annotations

import re

from memolith.text.cut import cut

# A message up to here is a question as it stands. Of a longer one: its beginning, what it asks
# further down, and the names it mentions there.
_MOST_CHARS = 500
_LOOKED_AT = 20_000
_QUESTION = re.compile(r"[^.!?\n。！？]{8,300}[?？؟]")
_NAME = re.compile(r"(?<![.!?:\n]\s)(?<!^)\b[A-Z][\w'’-]*[a-z]\w*\b|\b[A-Z]{2,5}\b")
_MOST_QUESTIONS = 3
_MOST_NAMES = 8


def derive(message: str) -> tuple[str, ...]:
    """The queries of a message, all of them searched for in one pass.

    >>> derive("Which port does staging use?")
    ('Which port does staging use?',)
    """
    text = " ".join(message[:_LOOKED_AT].split())
    first = cut(text, _MOST_CHARS).text
    rest = text[len(first) :]
    if not rest:
        return (first,)
    questions = [found.strip() for found in _QUESTION.findall(rest)][-_MOST_QUESTIONS:]
    names = [name for name in dict.fromkeys(_NAME.findall(rest)) if name not in first]
    queries = [first, *questions]
    if names:
        queries.append(" ".join(names[:_MOST_NAMES]))
    return tuple(dict.fromkeys(queries))
