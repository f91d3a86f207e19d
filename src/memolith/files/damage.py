"""Lines that were meant to be records and cannot be read as such: told wherever records are counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memolith.text.cleaning import shown_path


@dataclass(frozen=True, slots=True)
class Damage:
    """A line that looks like a record and is not one."""

    path: str
    line: int
    reason: str


def damage_warnings(damages: Iterable[Damage]) -> tuple[str, ...]:
    """One sentence for each file; `doctor` gives the reasons, which may quote what stands there.

    >>> damage_warnings([Damage("MEMORY.md", 7, "x")])
    ('MEMORY.md line 7 is damaged, so it is left out.',)
    >>> damage_warnings([Damage("MEMORY.md", 7, "x"), Damage("MEMORY.md", 9, "y")])
    ('2 lines of MEMORY.md are damaged, so they are left out; the first is line 7.',)
    """
    lines_of: dict[str, list[int]] = {}
    for damage in damages:
        lines_of.setdefault(damage.path, []).append(damage.line)
    return tuple(f"{told_of(path, len(lines), lines[0])}." for path, lines in lines_of.items())


def told_of(path: str, lines: int, first: int) -> str:
    """That so many lines of a file are damaged, as a sentence that may go on."""
    if lines == 1:
        return f"{shown_path(path)} line {first} is damaged, so it is left out"
    return f"{lines:,} lines of {shown_path(path)} are damaged, so they are left out; the first is line {first}"
