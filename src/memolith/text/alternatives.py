"""Things of which somebody chooses one: who prefers dark mode does not prefer light mode.

Which they are stands in the tables `claims.*.txt`, one a language.
"""

from __future__ import annotations

import re

from memolith.text.cues import listed, one_of
from memolith.text.folding import fold

_TABLE = "claims"


def kinds(section: str) -> dict[str, tuple[int, str]]:
    """Each word of a section whose lines exclude each other: the number of its line, and its first name."""
    return {
        fold(word): (number, fold(same.split("/")[0]))
        for number, row in enumerate(listed(section, _TABLE))
        for same in row.split()
        for word in same.split("/")
    }


_KIND = kinds("choose")
_CHOOSES = re.compile(
    rf"^(?P<who>[^.!?;,]{{1,40}}?)\s+(?:(?:{one_of('how often', _TABLE)})\s+)?"
    rf"(?:(?P<prefers>{one_of('prefers', _TABLE)})|{one_of('uses', _TABLE)})\s+(?P<thing>[^.!?;,]{{2,60}})$"
)


def choice(plain: str) -> tuple[str, str, str] | None:
    """Who, what they choose about, and what they chose, of a folded sentence; None for any other.

    >>> choice("user prefers dark mode")
    ('user', 'prefer … mode', 'dark')
    >>> choice("user prefers tea")
    """
    match = _CHOOSES.match(plain)
    if match is None:
        return None
    words = match["thing"].split()
    chosen = [word for word in words if word in _KIND]
    if len(chosen) != 1:
        return None
    verb = "prefer" if match["prefers"] else "use"
    kind, name = _KIND[chosen[0]]
    rest = " ".join("…" if word == chosen[0] else word for word in words)
    about = f"{verb} {rest}" if rest != "…" else f"{verb} {kind}"
    return match["who"], about, name
