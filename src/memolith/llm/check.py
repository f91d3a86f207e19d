"""Is what a model wrote true to the records it cites? Line by line; what is not, the rules write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from memolith.errors import SummariserError
from memolith.interfaces import Statement, Summariser, Summary
from memolith.llm.rules import Rules
from memolith.text.cues import begins
from memolith.text.names import entities, names_and_numbers
from memolith.text.similarity import NEGATIONS
from memolith.text.terms import is_stop_word, stems
from memolith.text.tokens import fold, words

_MAX_CHARS = 600
# Of the room, in percent; the rest is for records that the model does not mention.
_SHARE_OF_THE_MODEL = 75
_MIN_SHARE = 0.5  # of the content words of a line, in the records it cites
MAX_USELESS_ANSWERS = 2  # in a row; then the rules write the rest of a job
# Addresses, paths, options, placeholders and everything in backticks.
_LITERAL = re.compile(
    r"`[^`]+`|https?://\S+|\S+@\S+|\S*[\w~.]*/[\w./~-]+|--?\w[\w-]*|\$\S+|\b\w+(?:[._]\w+)+\b"
)
# Text that speaks to a model is never sent to one.
_TO_A_MODEL = re.compile(
    r"(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior)|"
    r"system prompt|you (?:are|must) now\b|(?:ai|assistant|summari[sz]er|model)s?[:,] |<\|?(?:im_start|system)|\[/?inst\]|"
    r"\b(?:write|add|append|include|output|reply|answer|respond) (?:the|this|a|an|exactly|only|with)\b.{0,30}\b(?:line|note|summary|text|words?|notes|following)|"
    r"ignora .{0,30}instrucciones|ignoriere .{0,30}anweisung"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A summary that may be kept, and what became of the lines of the model that was asked for it."""

    summary: Summary
    taken: int = 0  # lines of the model
    refused: Counter[str] = field(default_factory=Counter)  # why lines were not taken, and how many
    problem: str = ""  # why none was

    @property
    def by_rules(self) -> int:
        """How many lines the rules wrote."""
        return len(self.summary.statements) - self.taken


def checked_summary(
    summariser: Summariser, statements: Sequence[Statement], max_chars: int
) -> Checked:
    """The summary: the model's lines that are true to their records, and the rules' lines for what they leave out."""
    rules = Rules()
    if type(summariser) is Rules:
        return Checked(summary=rules.summarise(statements, max_chars))
    harmless = [one for one in statements if not _TO_A_MODEL.search(fold(one.text))]
    room = max_chars * _SHARE_OF_THE_MODEL // 100
    try:
        answer = summariser.summarise(harmless, room)
    except SummariserError as error:
        return Checked(
            summary=replace(rules.summarise(statements, max_chars), tokens=error.tokens),
            problem=f"{summariser.name}: {error.message} The rules wrote the summary.",
        )
    taken, refused = list[Statement](), Counter[str]()
    contents = [(one, _content(one.text)) for one in harmless]
    for written in answer.statements:
        line, cited = _with_its_records(written, contents)
        problem = next(_problems(line, cited), "")
        if not problem and len(line.text) > room:
            problem = "more than there is room for"
        if problem:
            refused[problem] += 1
        else:
            room -= len(line.text)
            taken.append(replace(line, day=max(one.day for one in cited), said_by=""))
    covered = {record_id for line in taken for record_id in line.ids}
    rest = [one for one in statements if covered.isdisjoint(one.ids)]
    left = max_chars - sum(len(line.text) for line in taken)
    lines = sorted((*taken, *rules.summarise(rest, left).statements), key=lambda one: one.day)
    why = _reasons(refused) or "no line came in the form it was asked for"
    return Checked(
        summary=Summary(statements=tuple(lines), tokens=answer.tokens),
        taken=len(taken),
        refused=refused,
        problem=""
        if taken
        else f"{summariser.name}: none of its lines was taken ({why}). The rules wrote the summary.",
    )


def _with_its_records(
    line: Statement, contents: Sequence[tuple[Statement, frozenset[str]]]
) -> tuple[Statement, list[Statement]]:
    """The line with its records, without those of which it has no word: they would count as summarised.

    A line that cites an unknown record is given none.
    """
    known = {name for one, _ in contents for name in one.ids}
    if not known.issuperset(line.ids):
        return line, []
    content = _content(line.text)
    cited = [
        one
        for one, there in contents
        if not set(one.ids).isdisjoint(line.ids) and len(content & there) >= min(2, len(there))
    ]
    theirs = {name for one in cited for name in one.ids}
    return replace(line, ids=tuple(name for name in line.ids if name in theirs)), cited


def _content(text: str) -> frozenset[str]:
    return frozenset(stems(word)[0] for word in words(text) if not is_stop_word(word))


def _problems(line: Statement, cited: Sequence[Statement]) -> Iterator[str]:
    """Why a line is not taken; nothing if it says what its records say."""
    text = line.text
    if not text.strip() or not text.isprintable():
        yield "empty, or with control characters"
    if len(text) > _MAX_CHARS:
        yield "too long"
    if begins("request", text) or _TO_A_MODEL.search(fold(text)):
        yield "an instruction"
    if not cited:
        yield "without a known record"
    source = fold(" ".join(one.text for one in cited))
    yield from _missing(text, source)
    _, found, rest = source.partition(fold(text).rstrip(" .…"))
    if found and rest[:2].strip()[:1].isalnum():
        yield "cut in the middle of a sentence"
    content = _content(text)
    there = {stem for word in words(source) for stem in stems(word)}
    if len(content & there) < _MIN_SHARE * len(content):
        yield "in words its records do not have"


def _missing(text: str, source: str) -> Iterator[str]:
    """What of a line its records do not have."""
    said = set(words(source))
    if any(fold(one.strip("`.,;:")) not in source for one in _LITERAL.findall(text)):
        yield "with an address, path or command its records do not have"
    names = (*names_and_numbers(text), *map(fold, entities(text)))
    if not said.issuperset(word for name in names for word in words(name)):
        yield "with a number or name its records do not have"
    if not said.issuperset(set(words(text)) & NEGATIONS):
        yield "with a «not» its records do not have"


def _reasons(refused: Counter[str]) -> str:
    """Why lines were refused, the most frequent first."""
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.most_common())


def model_counts(checked: Sequence[Checked]) -> dict[str, int]:
    """How many lines the model and the rules wrote, how many were refused, and the tokens."""
    return {
        "model_lines": sum(one.taken for one in checked),
        "rule_lines": sum(one.by_rules for one in checked),
        "refused_lines": sum(one.refused.total() for one in checked),
        "tokens": sum(one.summary.tokens for one in checked),
    }


def refusals(checked: Sequence[Checked], name: str) -> Iterator[str]:
    """Why rules wrote what the model of this name was asked for, as warnings."""
    problems = Counter(one.problem for one in checked if one.problem)
    for problem, count in problems.items():
        yield f"{problem} ({count:,} times)" if count > 1 else problem
    refused = sum((one.refused for one in checked if not one.problem), Counter[str]())
    if refused:
        lines = refused.total() + sum(one.taken for one in checked)
        yield (
            f"{name}: {refused.total():,} of {lines:,} lines were refused, and the rules wrote of these records"
            f" instead: {_reasons(refused)}."
        )
