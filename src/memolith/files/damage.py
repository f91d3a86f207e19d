"""Lines that were meant to be records and cannot be read as such: told wherever records are counted."""

from __future__ import annotations

from memolith.text.wording import counted
from memolith.values import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


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
    return tuple(
        f"{counted(len(lines), 'line')} of {path} are damaged, so they are left out;"
        f" the first is line {lines[0]}."
        if len(lines) > 1
        else f"{path} line {lines[0]} is damaged, so it is left out."
        for path, lines in lines_of.items()
    )
