"""Things of which somebody chooses one: who prefers dark mode does not prefer light mode.

Which they are stands in the tables `claims.*.txt`, one a language; some only for who prefers one: tea or coffee.
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
_PREFERRED = kinds("prefer one")
_CHOOSES = re.compile(
    rf"^(?:(?P<who>[^.!?;,]{{1,40}}?)\s+)?(?:(?:{one_of('how often', _TABLE)})\s+)?"
    rf"(?:(?P<prefers>{one_of('prefers', _TABLE)})|{one_of('uses', _TABLE)})\s+(?P<thing>[^.!?;,]{{2,60}})$"
)
_ARTICLES = frozenset(fold(word) for word in listed("articles", _TABLE))


def choice(plain: str) -> tuple[str, str, str] | None:
    """Who, what they choose about, and what they chose, of a folded sentence; None for any other.

    >>> choice("user prefers dark mode")
    ('user', 'prefer … mode', 'dark')
    >>> choice("luis prefiere el te") is None, choice("luis usa el te")
    (False, None)
    """
    match = _CHOOSES.match(plain)
    if match is None:
        return None
    words = [word for word in match["thing"].split() if word not in _ARTICLES]
    known = {**_PREFERRED, **_KIND} if match["prefers"] else _KIND
    chosen = [word for word in words if word in known]
    if len(chosen) != 1:
        return None
    verb = "prefer" if match["prefers"] else "use"
    kind, name = known[chosen[0]]
    table = "" if chosen[0] in _KIND else "only "
    rest = " ".join("…" if word == chosen[0] else word for word in words)
    about = f"{verb} {rest}" if rest != "…" else f"{verb} {table}{kind}"
    return match["who"] or "", about, name
