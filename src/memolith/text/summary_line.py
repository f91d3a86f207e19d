"""One line of a summary: a day, what was said, the records that said it, and whose words they are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

_MOST_IDS = 3  # in a line; more said the same
_LONGEST_ID = 60
_NAME = r"[^\[\],\s]+"
_LINE = re.compile(
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
    """Day, text and all that is told in brackets at the end; None if it is no line of a summary.

    >>> read_line("- 2026-11-03 Ana moved. [user: 3f6f0f0e, +4]").names
    ('3f6f0f0e', '+4')
    >>> read_line("- 2026-11-03 Ana moved [again].").text
    'Ana moved [again].'
    """
    found = _LINE.fullmatch(line)
    try:
        day = date.fromisoformat(found["day"]) if found else None
    except ValueError:
        return None
    if found is None or day is None:
        return None
    names = tuple(found["names"].split(", ")) if found["names"] else ()
    return SummaryLine(day, found["text"], names, found["said_by"] or "")
