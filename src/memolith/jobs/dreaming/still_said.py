"""Whether what was promoted is still said: its source may have been edited or deleted by hand since."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from memolith.files.document import Document
from memolith.jobs.statements import Statement
from memolith.text.folding import fold
from memolith.text.pieces import claim_key
from memolith.text.promoted_line import Promoted

Claims = Sequence[tuple[str, Statement]]  # each statement of a file with its claim key

_END = re.compile(r"[.!?;。！？]\s*$")
_ENDED = re.compile(r"\s*(?:[.!?;。！？]|$)")


class StillSaid:
    """Looks for the source of a promoted fact: where it is cited, then wherever it may have gone."""

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        claims: Callable[[str], Claims | None],
        paths: Callable[[], Iterable[str]],
    ) -> None:
        """`paths` gives every file, archives too, in which somebody may say it: no copies by jobs."""
        self._read = read
        self._claims = claims
        self._paths = paths

    def objection(self, fact: Promoted) -> str:
        """Why a fact must not stand any more; empty if it is said, or if nobody can tell.

        A file that is gone as a whole was put away: that takes back nothing of what was worth keeping.
        """
        data, cited = self._read(fact.path), self._claims(fact.path)
        if data is None or cited is None or Document.parse(fact.path, data).damages():
            return ""
        if _says(cited, fact):
            return ""
        if fact.record_id and _has_record(cited, fact):
            return "its record says something else now"
        return "" if self._is_elsewhere(fact) else "it is said nowhere any more"

    def _is_elsewhere(self, fact: Promoted) -> bool:
        """Whether its record, or else its words, stand in another file: copies by jobs say nothing."""
        return any(_says(self._claims(path) or (), fact) for path in self._paths())


def _says(known: Claims, fact: Promoted) -> bool:
    claim = claim_key(fact.text)
    said = (one for one in known if not one[1].generated and not _is_summary(one[1]))
    return any(key == claim or _is_part(fact.text, found.text) for key, found in said)


def _has_record(known: Claims, fact: Promoted) -> bool:
    return any(found.record_id == fact.record_id for _, found in known)


def _is_summary(found: Statement) -> bool:
    return found.record is not None and found.record.category == "compaction"


def _is_part(text: str, whole: str) -> bool:
    """Whether one or more whole sentences of a text are this: somebody wrote on behind it.

    >>> _is_part("Cookie weighs 12 kg.", "A dog! Cookie weighs 12 kg. She eats carrots.")
    True
    >>> _is_part("Cookie weighs 12 kg", "Cookie weighs 12 kg less than Rex")
    False
    """
    if len(text) >= len(whole):
        return False
    part, said = (" ".join(fold(one).split()) for one in (text, whole))
    at = said.find(part)
    if at < 0:
        return False
    begins = not said[:at].strip() or _END.search(said[:at])
    return bool(begins and (_END.search(part) or _ENDED.match(said, at + len(part))))
