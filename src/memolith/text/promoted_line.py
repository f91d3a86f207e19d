"""One fact that dreaming promoted: what is said, where that stands, who said it, and in which record.

Whoever copies words must say whose they are: in MEMORY.md they would look like the user's. Sessions
start with such lines, so reading them costs no pattern and no import.
"""

from __future__ import annotations

from dataclasses import dataclass

TRAILER = "*(score: "  # stands behind every promoted fact
HEADING = "## Promoted by dreaming ("
_SOURCE, _SAID_BY, _RECORD, _END = ", source: ", ", said by ", ", record ", ")*"
_LONGEST_ID = 100
_NOT_IN_AN_ID = frozenset("*,()")
# Whose words they may be. Lines of older versions and of other programs do not say it, and only
# what the user or an agent said was ever promoted: nobody is trusted more for not being named.
_SAYERS = ("user", "agent")
_UNKNOWN = "agent"


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
    record = f"{_RECORD}{fact.record_id}" if _is_id(fact.record_id) else ""
    origin = f"{fact.source}{_SAID_BY}{fact.said_by}{record}"
    return f"- {fact.text} {TRAILER}{score:.2f}{_SOURCE}{origin}{_END}"


def read_promoted(line: str) -> Promoted | None:
    """The fact of a line; None if the line has another form.

    >>> read_promoted("- Ana moved. *(score: 0.83, source: memory/2026-04-09.md#L2)*")
    Promoted(text='Ana moved.', source='memory/2026-04-09.md#L2', said_by='agent', record_id='')
    """
    text, found, trailer = line.rstrip().rpartition(f" {TRAILER}")
    if not text.startswith("- ") or not text[2:].strip() or not trailer.endswith(_END):
        return None
    score, found, origin = trailer.removesuffix(_END).partition(_SOURCE)
    if not found or not score.replace(".", "").isdigit() or "*" in origin:
        return None
    source, said_by, record_id = _taken_apart(origin)
    return Promoted(text[2:], source, said_by, record_id)


def _taken_apart(origin: str) -> tuple[str, str, str]:
    head, found, record_id = origin.rpartition(_RECORD)
    if not found or not _is_id(record_id):
        head, record_id = origin, ""
    source, found, said_by = head.rpartition(_SAID_BY)
    return (source, said_by, record_id) if found and said_by in _SAYERS else (origin, _UNKNOWN, "")


def _is_id(text: str) -> bool:
    is_short = 0 < len(text) <= _LONGEST_ID
    return is_short and not any(char in _NOT_IN_AN_ID or char.isspace() for char in text)
