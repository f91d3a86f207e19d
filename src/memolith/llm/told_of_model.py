"""What a report tells of the model that was asked for summaries: what it wrote, what was refused, what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from memolith.llm.checking import Checked, reasons

_MOST_NAMED = 3


def model_counts(asked: Iterable[Checked]) -> dict[str, int]:
    """How many summaries have lines of the model, how many lines stand and were refused, and the tokens."""
    checked = list(asked)
    return {
        "model_summaries": sum(one.taken > 0 for one in checked),
        "model_lines": sum(one.taken for one in checked),
        "refused_lines": sum(one.refused.total() for one in checked),
        "tokens": sum(one.summary.tokens for one in checked),
    }


def refusals(checked: Mapping[str, Checked], name: str) -> Iterator[str]:
    """Why rules wrote what the model of this name was asked for, as warnings; by what each summary is of."""
    problems: dict[str, list[str]] = {}
    for of, one in checked.items():
        if one.problem:
            problems.setdefault(one.problem, []).append(of)
    for problem, summaries in problems.items():
        more = f" and {len(summaries) - _MOST_NAMED:,} more" if summaries[_MOST_NAMED:] else ""
        yield f"{problem} ({', '.join(summaries[:_MOST_NAMED])}{more})"
    refused = sum((one.refused for one in checked.values() if not one.problem), Counter[str]())
    if refused:
        lines = refused.total() + sum(one.taken for one in checked.values())
        yield (
            f"{name}: {refused.total():,} of {lines:,} lines were refused, and the rules wrote of these records "
            f"instead: {reasons(refused)}."
        )
