"""The text of a summary: a title, and a line for each statement with its day and its records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date

from memolith.interfaces import Statement
from memolith.text.summary_line import named_in_brackets, read_line, short_id, write_line
from memolith.text.wording import HIDDEN


def summary_lines(statements: Iterable[Statement]) -> str:
    """The statements as lines.

    >>> from datetime import date
    >>> summary_lines([Statement(text="Ana moved.", ids=("3f6f0f0e", "9a1b2c3d"), day=date(2026, 11, 3))])
    '- 2026-11-03 Ana moved. [3f6f0f0e, 9a1b2c3d]'
    """
    return "\n".join(write_line(one.day, one.text, one.ids, one.said_by) for one in statements)


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
        found = read_line(line.strip())
        if found is not None:
            yield Statement(text=found.text, ids=found.ids, day=found.day, said_by=found.said_by)


def with_stand_ins(text: str, secret: Collection[str]) -> str:
    """A summary with a line that stands for each which one of these records says, be it among others.

    >>> with_stand_ins("- 2026-11-03 Ana moved. [3f6f0f0e]\\n- 2026-11-04 Tea. [9a1b2c3d]", {"3f6f0f0e"})
    '(secret record hidden)\\n- 2026-11-04 Tea. [9a1b2c3d]'
    """
    isdisjoint = frozenset(secret).isdisjoint
    return "\n".join(
        HIDDEN if (told := read_line(line.strip())) and not isdisjoint(told.ids) else line
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
