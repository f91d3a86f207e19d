"""Is a summary fit to stand for what it summarises? Line by line; what is not, the rules write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from memolith.errors import SummariserError
from memolith.interfaces import Statement, Summariser, Summary
from memolith.llm.rule_based import RuleBased, are_rules, is_told
from memolith.llm.verbatim import in_their_words
from memolith.text.folding import fold
from memolith.text.sentences import sentences, worth

# So much of what the rules would keep must be rested on: a summary may choose, not forget.
_LEAST_KEPT = 0.75
_LONGEST = 600
_BY_RULES = "The rules wrote the summary."
USELESS_ANSWERS = 3  # in a row of which nothing is taken, and the rules write the rest of a job


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A summary that may stand, and what came of the lines of whoever was asked for it."""

    summary: Summary
    taken: int = 0  # lines that stand as they were written
    refused: Counter[str] = field(default_factory=Counter)  # why lines do not, and how many
    problem: str = ""  # why not one stands


def checked_summary(
    summariser: Summariser,
    statements: Sequence[Statement],
    max_chars: int,
    told: Mapping[str, date] | None = None,
) -> Checked:
    """The summary, with the rules' lines for those that cannot be shown to be true to their records.

    What is `told` by other summaries (`rule_based.units`) is not told once more.
    """
    rules = RuleBased(told)
    by_rules = rules.summarise(statements, max_chars)
    if are_rules(summariser):
        return Checked(summary=by_rules)
    try:
        answer = summariser.summarise(statements, max_chars)
    except SummariserError as error:
        return Checked(
            summary=replace(by_rules, tokens=error.tokens),
            problem=f"{summariser.name}: {error.message} {_BY_RULES}",
        )
    lines, refused = _shown(answer.statements, statements)
    taken = len(answer.statements) - refused.total()
    lines = [line for line in lines if not is_told(line, told or {})]
    mended = _mended(lines, answer.statements, statements, rules, max_chars)
    problem = _problem(answer, mended, by_rules, max_chars) if taken else _none_stands(refused)
    if problem:
        return Checked(
            summary=replace(by_rules, tokens=answer.tokens),
            refused=refused + Counter({"part of an answer that was refused": taken}),
            problem=f"{summariser.name}: {problem}. {_BY_RULES}",
        )
    whole = Summary(statements=mended, tokens=answer.tokens)
    return Checked(summary=whole, taken=taken, refused=refused)


class NotAsked:
    """A summariser of which no answer could be taken so often that it is not asked any more in this job."""

    def __init__(self, name: str) -> None:
        """The name of who would have been asked."""
        self.name = name

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Raises SummariserError: the rules write."""
        del statements, max_chars
        raise SummariserError("It was not asked any more: nothing of its last answers was taken.")


def _shown(
    answered: Iterable[Statement], statements: Sequence[Statement]
) -> tuple[list[Statement], Counter[str]]:
    """The lines that are sentences of their records, and why the others are not."""
    sources = _by_id(statements)
    lines: list[Statement] = []
    refused = Counter[str]()
    for line in answered:
        problem = _problem_of_form(line, sources) or _small_talk(line.text)
        if not problem:
            found, problem = in_their_words(line.text, _cited(line, sources))
            lines += found
        if problem:
            refused[problem] += 1
    return lines, refused


def _small_talk(text: str) -> str:
    return "" if any(map(worth, sentences(text))) else "small talk"


def _problem_of_form(line: Statement, sources: dict[str, list[Statement]]) -> str:
    if not line.text.strip() or not line.text.isprintable():
        return "empty, or with control characters"
    if len(line.text) > _LONGEST:
        return "too long"
    return "" if line.ids and all(one in sources for one in line.ids) else "without a known record"


def _mended(
    lines: Sequence[Statement],
    answered: Iterable[Statement],
    statements: Sequence[Statement],
    rules: RuleBased,
    max_chars: int,
) -> tuple[Statement, ...]:
    """The lines that stand, and the rules' for records that were named by lines which do not."""
    told = {record_id for line in lines for record_id in line.ids}
    named = {record_id for line in answered for record_id in line.ids} - told
    left = [one for one in statements if not named.isdisjoint(one.ids)]
    room = max_chars - sum(len(line.text) for line in lines)
    added = rules.summarise(left, room).statements if left and room > 0 else ()
    said = {fold(line.text) for line in lines}
    both = [*lines, *(line for line in added if fold(line.text) not in said)]
    return tuple(sorted(both, key=lambda line: line.day))


def _problem(
    answer: Summary, mended: Sequence[Statement], by_rules: Summary, max_chars: int
) -> str:
    """What is wrong with a summary as a whole; "" when it can be taken."""
    size = sum(len(line.text) for line in answer.statements)
    if size > max_chars:
        return f"the summary has {size:,} characters and may have {max_chars:,}"
    kept = {record_id for line in by_rules.statements for record_id in line.ids}
    found = {record_id for line in mended for record_id in line.ids}
    if len(kept & found) < _LEAST_KEPT * len(kept):
        return f"the summary rests on {len(kept & found)} of {len(kept)} records that matter"
    return ""


def _none_stands(refused: Counter[str]) -> str:
    return (
        f"of its lines none stands: {reasons(refused)}"
        if refused
        else "no line came in the form it was asked for"
    )


def reasons(refused: Counter[str]) -> str:
    """Why lines were refused, the most frequent first.

    >>> reasons(Counter({"too long": 1, "without a known record": 3}))
    '3 without a known record, 1 too long'
    """
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.most_common())


def _by_id(statements: Sequence[Statement]) -> dict[str, list[Statement]]:
    sources: dict[str, list[Statement]] = {}
    for statement in statements:
        for record_id in statement.ids:
            sources.setdefault(record_id, []).append(statement)
    return sources


def _cited(line: Statement, sources: dict[str, list[Statement]]) -> list[Statement]:
    return [one for record_id in line.ids for one in sources[record_id]]
