"""Lines that Memolith writes itself: those of a summary, and facts that dreaming promoted.

A line of a summary has a day, what was said, the records that said it, and whose words they are. A promoted fact
says the same of one fact and its place: a copy must say whose words they are, because in MEMORY.md they
would look like the user's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from memolith.text.wording import HIDDEN

if TYPE_CHECKING:
    from memolith.interfaces import Statement  # slow, and most who read a line do without it

_MOST_IDS = 3  # in a line; more said the same
_LONGEST_ID = 60
_NAME = r"[^\[\],\s]+"
_SUMMARY_LINE = re.compile(
    r"- (?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2}) (?P<text>.*?)"
    rf"(?: \[(?:(?P<said_by>user|agent): )?(?P<names>{_NAME}(?:, {_NAME})*)\])?"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SummaryLine:
    """What a line says; `names` are short ids, and how many more there are."""

    day: date
    text: str
    names: tuple[str, ...] = ()
    said_by: str = ""  # user or agent; empty where the line does not say it

    @property
    def ids(self) -> tuple[str, ...]:
        """The records it names."""
        return tuple(name for name in self.names if not name.startswith("+"))


def short_id(record_id: str, chars: int = 8) -> str:
    """A name for a record: of a UUID its beginning, of any other id as much as can be read.

    >>> short_id("3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10")
    '3f6f0f0e'
    """
    if _UUID.fullmatch(record_id):
        return record_id[:chars]
    return re.sub(r"[\[\],\s]", "-", record_id[:_LONGEST_ID])


def handle(record_id: str) -> str:
    """What a person or an agent types for a record: the beginning of a UUID, any other id as it is."""
    return record_id[:8] if _UUID.fullmatch(record_id) else record_id


def write_line(day: date, text: str, ids: Sequence[str], said_by: str = "") -> str:
    """The line for a statement.

    >>> write_line(date(2026, 11, 3), "Ana moved.", ("3f6f0f0e", "9a1b2c3d"), "agent")
    '- 2026-11-03 Ana moved. [agent: 3f6f0f0e, 9a1b2c3d]'
    """
    named = [short_id(record_id) for record_id in ids[:_MOST_IDS]]
    if len(ids) > _MOST_IDS:
        named.append(f"+{len(ids) - _MOST_IDS}")
    return f"- {day.isoformat()} {' '.join(text.split())} {named_in_brackets(named, said_by)}"


def named_in_brackets(names: Sequence[str], said_by: str) -> str:
    """The end of a line: who said it, if it is to say so, and in which records."""
    return f"[{said_by}: {', '.join(names)}]" if said_by else f"[{', '.join(names)}]"


def read_line(line: str) -> SummaryLine | None:
    """Day, text and all that is in brackets at the end; None if it is not a line of a summary.

    >>> read_line("- 2026-11-03 Ana moved. [user: 3f6f0f0e, +4]").names
    ('3f6f0f0e', '+4')
    >>> read_line("- 2026-11-03 Ana moved [again].").text
    'Ana moved [again].'
    """
    found = _SUMMARY_LINE.fullmatch(line)
    try:
        day = date.fromisoformat(found["day"]) if found else None
    except ValueError:
        return None
    if found is None or day is None:
        return None
    names = tuple(found["names"].split(", ")) if found["names"] else ()
    return SummaryLine(day, found["text"], names, found["said_by"] or "")


def summary_lines(statements: Iterable[Statement]) -> str:
    """The statements as lines.

    >>> from datetime import date
    >>> from memolith.interfaces import Statement
    >>> summary_lines([Statement(text="Ana moved.", ids=("3f6f0f0e", "9a1b2c3d"), day=date(2026, 11, 3))])
    '- 2026-11-03 Ana moved. [3f6f0f0e, 9a1b2c3d]'
    """
    return "\n".join(write_line(one.day, one.text, one.ids, one.said_by) for one in statements)


def read_summary(text: str, day: date, ids: tuple[str, ...]) -> list[Statement]:
    """The statements of a summary; a text that is none is one statement of this day and these ids."""
    from memolith.interfaces import Statement

    lines = [replace(line, ids=line.ids or ids, category="compaction") for line in read_lines(text)]
    return lines or [Statement(text=text, ids=ids, day=day, category="compaction")]


def read_lines(text: str) -> Iterator[Statement]:
    """The lines of a text that are statements of a summary; others are left out.

    >>> [line.ids for line in read_lines("So:\\n- 2026-11-03 Ana moved. [3f6f0f0e, +4]")]
    [('3f6f0f0e',)]
    """
    from memolith.interfaces import Statement

    for line in text.split("\n"):
        found = read_line(line.strip())
        if found is not None:
            yield Statement(text=found.text, ids=found.ids, day=found.day, said_by=found.said_by)


def with_stand_ins(text: str, secret: Collection[str]) -> str:
    """A summary with a placeholder for each line that one of these records is a source of.

    >>> with_stand_ins("- 2026-11-03 Ana moved. [3f6f0f0e]\\n- 2026-11-04 Tea. [9a1b2c3d]", {"3f6f0f0e"})
    '(secret record hidden)\\n- 2026-11-04 Tea. [9a1b2c3d]'
    """
    isdisjoint = frozenset(secret).isdisjoint
    return "\n".join(
        HIDDEN if (statement := read_line(line.strip())) and not isdisjoint(statement.ids) else line
        for line in text.split("\n")
    )


def without_record(text: str, record_id: str) -> str:
    """A summary without what rests on this record alone.

    >>> without_record("Title\\n- 2026-11-03 Ana moved. [3f6f0f0e]\\n- 2026-11-04 Tea. [9a1b2c3d]",
    ...     "3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10")
    'Title\\n- 2026-11-04 Tea. [9a1b2c3d]'
    """
    gone = short_id(record_id)
    kept = []
    for line in text.split("\n"):
        found = read_line(line)
        if found is None or gone not in found.names:
            kept.append(line)
        elif len(found.names) > 1:
            others = [name for name in found.names if name != gone]
            kept.append(line[: line.rindex("[")] + named_in_brackets(others, found.said_by))
    return "\n".join(kept)


TRAILER = "*(score: "  # follows every promoted fact
HEADING = "## Promoted by dreaming ("
# Whose words they may be. Lines of older versions and of other programs do not say it, and only
# what the user or an agent said was ever promoted: nobody is trusted more for not being named.
_UNKNOWN = "agent"
_ID = r"[^*,()\s]{1,100}"
_PROMOTED_LINE = re.compile(
    r"- (?P<text>\s*\S.*) \*\(score: [\d.]+, source: (?P<source>[^*]*?)"
    rf"(?:, said by (?P<said_by>user|agent)(?:, record (?P<id>{_ID}))?)?\)\*\s*"
)


@dataclass(frozen=True, slots=True)
class Promoted:
    """A promoted fact; `record_id` is empty if its source is not a record."""

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
    found = _PROMOTED_LINE.fullmatch(line)
    if found is None:
        return None
    return Promoted(found["text"], found["source"], found["said_by"] or _UNKNOWN, found["id"] or "")
