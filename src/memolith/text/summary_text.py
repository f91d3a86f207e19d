"""The text of a summary: a title, and a line for each statement with its day and its records."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from memolith.interfaces import Statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LINE = re.compile(
    r"^- (?P<day>\d{4}-\d\d-\d\d) (?P<text>.*?)(?: \[(?P<ids>[^\s\[\],]+(?:, [^\s\[\],]+)*)\])?$"
)
# A line names at most so many records; more said the same.
_MOST_IDS = 3
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_LONGEST_ID = 60


def short_id(record_id: str, chars: int = 8) -> str:
    """A name for a record: of a UUID its beginning, of any other id as much as can be read.

    >>> short_id("3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10")
    '3f6f0f0e'
    """
    kept = record_id[:chars] if _UUID.fullmatch(record_id) else record_id[:_LONGEST_ID]
    return re.sub(r"[\s\[\],]", "-", kept)


def summary_lines(statements: Iterable[Statement]) -> str:
    """The statements as lines.

    >>> from datetime import date
    >>> summary_lines([Statement(text="Ana moved.", ids=("3f6f0f0e", "9a1b2c3d"), day=date(2026, 11, 3))])
    '- 2026-11-03 Ana moved. [3f6f0f0e, 9a1b2c3d]'
    """
    return "\n".join(_line(statement) for statement in statements)


def read_summary(text: str, day: date, ids: tuple[str, ...]) -> list[Statement]:
    """The statements of a summary; a text that is none is one statement of this day and these ids."""
    lines = [replace(line, ids=line.ids or ids, category="compaction") for line in read_lines(text)]
    return lines or [Statement(text=text, ids=ids, day=day, category="compaction")]


def read_lines(text: str) -> Iterator[Statement]:
    """The lines of a text that are statements of a summary; others are left out.

    >>> [line.ids for line in read_lines("So:\\n- 2026-11-03 Ana moved. [3f6f0f0e, +4]")]
    [('3f6f0f0e',)]
    """
    for line in text.split("\n"):
        found = _LINE.match(line.strip())
        day = _day(found["day"]) if found is not None else None
        if found is not None and day is not None:
            named = found["ids"].split(", ") if found["ids"] else []
            ids = tuple(name for name in named if not name.startswith("+"))
            yield Statement(text=found["text"], ids=ids, day=day)


def without_record(text: str, record_id: str) -> str:
    """A summary without what rests on this record alone.

    >>> without_record("Title\\n- 2026-11-03 Ana moved. [3f6f0f0e]\\n- 2026-11-04 Tea. [9a1b2c3d]",
    ...     "3f6f0f0e-6d0b-4c1c-9f62-2a2f0e5d7a10")
    'Title\\n- 2026-11-04 Tea. [9a1b2c3d]'
    """
    gone = short_id(record_id)
    kept = []
    for line in text.split("\n"):
        found = _LINE.match(line)
        named = found["ids"].split(", ") if found is not None and found["ids"] else []
        if gone not in named:
            kept.append(line)
        elif len(named) > 1:
            others = ", ".join(name for name in named if name != gone)
            kept.append(f"{line[: line.rindex('[')]}[{others}]")
    return "\n".join(kept)


def _line(statement: Statement) -> str:
    named = [short_id(record_id) for record_id in statement.ids[:_MOST_IDS]]
    if len(statement.ids) > _MOST_IDS:
        named.append(f"+{len(statement.ids) - _MOST_IDS}")
    text = " ".join(statement.text.split())
    return f"- {statement.day.isoformat()} {text} [{', '.join(named)}]"


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
