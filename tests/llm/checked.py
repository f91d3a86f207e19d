"""One summary as a model writes it, and what became of its lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memolith.interfaces import Statement, Summariser, Summary
from memolith.llm.check import CheckedWriter

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Checked:
    """The summary, how many lines each wrote, why lines were refused, and why the model wrote none."""

    summary: Summary
    taken: int
    by_rules: int
    refused: Counter[str]
    problem: str


def checked_summary(
    summariser: Summariser, statements: Sequence[Statement], max_chars: int
) -> Checked:
    """Ask once."""
    writer = CheckedWriter(summariser)
    told, _ = writer.write(statements, max_chars)
    return Checked(
        summary=Summary(statements=tuple(told), tokens=writer.counts["tokens"]),
        taken=writer.counts["model_lines"],
        by_rules=writer.counts["rule_lines"],
        refused=writer.refused,
        problem=next(iter(writer.problems), ""),
    )
