"""Is a summary fit to stand for what it summarises? If not, the rules write it."""

from __future__ import annotations

from memolith.errors import SummariserError
from memolith.interfaces import Summary
from memolith.llm.faithful import find_change
from memolith.llm.rule_based import RuleBased

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memolith.interfaces import Statement, Summariser

# So much of what the rules would keep must be rested on: a summary may choose, not forget.
_LEAST_KEPT = 0.75
_LONGEST = 600
_BESIDE = 60  # characters: the rules' words may be a little longer than those they stand for


def checked_summary(
    summariser: Summariser, statements: Sequence[Statement], max_chars: int
) -> tuple[Summary, str]:
    """The summary, or that of the rules with the reason why the other was not taken."""
    by_rules = RuleBased().summarise(statements, max_chars)
    if type(summariser) is RuleBased:
        return by_rules, ""
    try:
        summary = summariser.summarise(statements, max_chars)
    except SummariserError as error:
        return by_rules, f"{summariser.name}: {error.message} The rules wrote the summary."
    summary, mended = _mended(summary, statements, max_chars)
    problem = find_problem(summary, statements, by_rules, max_chars)
    if not problem:
        return summary, f"{summariser.name}: {mended}. The rules wrote that line." if mended else ""
    spent = Summary(statements=by_rules.statements, tokens=summary.tokens)
    return spent, f"{summariser.name}: {problem}. The rules wrote the summary."


def find_problem(
    summary: Summary, statements: Sequence[Statement], by_rules: Summary, max_chars: int
) -> str:
    """What is wrong with a summary; "" when it can be taken."""
    size = sum(len(line.text) for line in summary.statements)
    if size > max_chars:
        return f"the summary has {size:,} characters and may have {max_chars:,}"
    sources = _by_id(statements)
    days = {statement.day for statement in statements}
    if days and any(not min(days) <= line.day <= max(days) for line in summary.statements):
        return "a line is dated outside of the time it tells of"
    for line in summary.statements:
        problem = _problem_of_line(line, sources)
        if problem:
            return problem
    kept = {record_id for line in by_rules.statements for record_id in line.ids}
    found = {record_id for line in summary.statements for record_id in line.ids}
    if len(kept & found) < _LEAST_KEPT * len(kept):
        return f"the summary rests on {len(kept & found)} of {len(kept)} records that matter"
    return ""


def _mended(
    summary: Summary, statements: Sequence[Statement], max_chars: int
) -> tuple[Summary, str]:
    """The summary with the rules' words for the few lines that are not true to their records, and why.

    Who says otherwise in half of the lines is not believed in the others: nothing is mended.
    """
    if sum(len(line.text) for line in summary.statements) > max_chars:
        return summary, ""
    sources = _by_id(statements)
    lines: list[Statement] = []
    problems: list[str] = []
    for line in summary.statements:
        cited = [one for record_id in line.ids for one in sources.get(record_id, ())]
        problem = find_change(line.text, cited) if cited and line.text.strip() else ""
        if problem:
            problems.append(problem)
            lines += RuleBased().summarise(cited, len(line.text) + _BESIDE).statements
        else:
            lines.append(line)
    if not problems or 2 * len(problems) >= len(summary.statements):
        return summary, ""
    return Summary(statements=tuple(lines), tokens=summary.tokens), problems[0]


def _by_id(statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    sources: dict[str, list[Statement]] = {}
    for statement in statements:
        for record_id in statement.ids:
            sources.setdefault(record_id, []).append(statement)
    return sources


def _problem_of_line(line: Statement, sources: dict[str, list[Statement]]) -> str:
    if not line.text.strip() or not line.text.isprintable():
        return "a line is empty or has control characters"
    if len(line.text) > _LONGEST:
        return "a line is too long"
    unknown = [record_id for record_id in line.ids if record_id not in sources]
    if unknown or not line.ids:
        return f"a line names {'an unknown record' if unknown else 'no record'}"
    cited = [statement for record_id in line.ids for statement in sources[record_id]]
    return find_change(line.text, cited)
