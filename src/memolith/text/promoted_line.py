"""One fact that dreaming promoted: what is said, where that stands, who said it, and in which record.

Whoever copies words must say whose they are: in MEMORY.md they would look like the user's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

TRAILER = "*(score: "  # stands behind every promoted fact
HEADING = "## Promoted by dreaming ("
# Whose words they may be. Lines of older versions and of other programs do not say it, and only
# what the user or an agent said was ever promoted: nobody is trusted more for not being named.
_UNKNOWN = "agent"
_ID = r"[^*,()\s]{1,100}"
_LINE = re.compile(
    r"- (?P<text>\s*\S.*) \*\(score: [\d.]+, source: (?P<source>[^*]*?)"
    rf"(?:, said by (?P<said_by>user|agent)(?:, record (?P<id>{_ID}))?)?\)\*\s*"
)


@dataclass(frozen=True, slots=True)
class Promoted:
    """A promoted fact; `record_id` is empty if it was no record that said it."""

    text: str
    source: str  # a citation
    said_by: str = _UNKNOWN
    record_id: str = ""

    @property
    def path(self) -> str:
        """The file that said it."""
        return self.source.rpartition("#L")[0]

    @property
    def is_of_note(self) -> bool:
        """Whether it is a part of a note, which may say more than this."""
        return self.path.count("/") >= 2


def write_promoted(fact: Promoted, score: float) -> str:
    """The line of a fact, without its end.

    >>> write_promoted(Promoted("Ana moved.", "memory/2026-04-09.md#L2", "agent", "3f6f0f0e"), 0.834)
    '- Ana moved. *(score: 0.83, source: memory/2026-04-09.md#L2, said by agent, record 3f6f0f0e)*'
    """
    record = f", record {fact.record_id}" if re.fullmatch(_ID, fact.record_id) else ""
    origin = f"source: {fact.source}, said by {fact.said_by}{record}"
    return f"- {fact.text} {TRAILER}{score:.2f}, {origin})*"


def read_promoted(line: str) -> Promoted | None:
    """The fact of a line; None if the line has another form.

    >>> read_promoted("- Ana moved. *(score: 0.83, source: memory/2026-04-09.md#L2)*")
    Promoted(text='Ana moved.', source='memory/2026-04-09.md#L2', said_by='agent', record_id='')
    """
    found = _LINE.fullmatch(line)
    if found is None:
        return None
    return Promoted(found["text"], found["source"], found["said_by"] or _UNKNOWN, found["id"] or "")
