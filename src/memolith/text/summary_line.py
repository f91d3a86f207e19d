"""One line of a summary: a day, what was said, the records that said it, and whose words they are.

Sessions start with such lines, so reading them costs no pattern and no import.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

# A line names at most so many records; more said the same.
_MOST_IDS = 3
_LONGEST_ID = 60
_HEX = frozenset("0123456789abcdefABCDEF")
_ENDS_AN_ID = frozenset("[],")
_SAYERS = ("user", "agent")


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
    if _is_uuid(record_id):
        return record_id[:chars]
    return "".join("-" if _ends_an_id(char) else char for char in record_id[:_LONGEST_ID])


def handle(record_id: str) -> str:
    """What a person or an agent types for a record: the beginning of a UUID, any other id as it is."""
    return record_id[:8] if _is_uuid(record_id) else record_id


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
    day = _day(line[2:12]) if line.startswith("- ") and line[12:13] == " " else None
    if day is None or "\n" in line:
        return None
    text = line[13:]
    told, found, inside = text.rpartition(" [")
    if not found or not inside.endswith("]"):
        return SummaryLine(day, text)
    said_by, is_said, named = inside[:-1].partition(": ")
    if not is_said or said_by not in _SAYERS:
        said_by, named = "", inside[:-1]
    names = tuple(named.split(", "))
    return (
        SummaryLine(day, told, names, said_by)
        if all(map(_is_name, names))
        else SummaryLine(day, text)
    )


def _is_uuid(text: str) -> bool:
    if len(text) != 36 or text[8:24:5] != "----" or text.count("-") != 4:
        return False
    return _HEX.issuperset(text.replace("-", ""))


def _is_name(text: str) -> bool:
    return bool(text) and not any(map(_ends_an_id, text))


def _ends_an_id(char: str) -> bool:
    return char in _ENDS_AN_ID or char.isspace()


def _day(text: str) -> date | None:
    if text[4:5] != "-" or text[7:8] != "-" or not text.replace("-", "").isdigit():
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
