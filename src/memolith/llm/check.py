"""Is what a model wrote true to the records it cites? Line by line; what is not, the rules write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from memolith.errors import SummariserError
from memolith.interfaces import Statement, Summariser, Summary
from memolith.llm.rules import Rules
from memolith.text.cues import begins, importance
from memolith.text.folding import fold
from memolith.text.names import entities, names_and_numbers
from memolith.text.sentences import sentences
from memolith.text.similarity import NEGATIONS
from memolith.text.stopwords import is_stop_word
from memolith.text.terms import stems
from memolith.text.tokens import words

_MAX_CHARS = 600
# Of the room, in percent; the rest is for records that the model does not mention.
_SHARE_OF_THE_MODEL = 75
_MIN_SHARE = 0.5  # of the content words of a line, in the records it cites
MAX_USELESS_ANSWERS = 3  # in a row; then the rules write the rest of a job
_MAX_NAMED = 3
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
    summariser: Summariser,
    statements: Sequence[Statement],
    max_chars: int,
    elsewhere: Mapping[str, date] | None = None,
) -> Checked:
    """The summary: the model's lines that are true to their records, and the rules' lines for what they leave out.

    `elsewhere` are the sentences of other summaries, which the rules do not repeat.
    """
    rules = Rules()
    if type(summariser) is Rules:
        return Checked(summary=rules.summarise(statements, max_chars, elsewhere))
    harmless = [one for one in statements if not _TO_A_MODEL.search(fold(one.text))]
    room = max_chars * _SHARE_OF_THE_MODEL // 100
    try:
        answer = summariser.summarise(harmless, room)
    except SummariserError as error:
        by_rules = rules.summarise(statements, max_chars, elsewhere)
        return Checked(
            summary=replace(by_rules, tokens=error.tokens),
            problem=f"{summariser.name}: {error.message} The rules wrote the summary.",
        )
    taken, refused = list[Statement](), Counter[str]()
    contents = {one: _content(one.text) for one in harmless}
    for written in answer.statements:
        line = _with_its_records(written, contents)
        cited = [one for one in harmless if not set(one.ids).isdisjoint(line.ids)]
        problem = problem_of(line, cited, harmless)
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
    added = rules.summarise(rest, left, elsewhere).statements
    lines = tuple(sorted((*taken, *added), key=lambda one: one.day))
    problem = ""
    if not taken:
        why = reasons(refused) or "no line came in the form it was asked for"
        problem = (
            f"{summariser.name}: none of its lines was taken ({why}). The rules wrote the summary."
        )
    return Checked(
        summary=Summary(statements=lines, tokens=answer.tokens),
        taken=len(taken),
        refused=refused,
        problem=problem,
    )


def _with_its_records(line: Statement, contents: Mapping[Statement, frozenset[str]]) -> Statement:
    """The line without records of which it has no word: they would count as summarised."""
    content = _content(line.text)
    theirs = {
        name
        for one, there in contents.items()
        if len(content & there) >= min(2, len(there))
        for name in one.ids
    }
    unknown = set(line.ids) - {name for one in contents for name in one.ids}
    return replace(line, ids=tuple(name for name in line.ids if name in theirs | unknown))


def _content(text: str) -> frozenset[str]:
    return frozenset(stems(word)[0] for word in words(text) if not is_stop_word(word))


def problem_of(line: Statement, cited: Sequence[Statement], known: Sequence[Statement]) -> str:
    """Why a line is not taken; "" if it says nothing that its records do not say."""
    return _form(line, known) or _claims(line.text, fold(" ".join(one.text for one in cited)))


def _form(line: Statement, known: Sequence[Statement]) -> str:
    if not line.text.strip() or not line.text.isprintable():
        return "empty, or with control characters"
    if len(line.text) > _MAX_CHARS:
        return "too long"
    if not line.ids or not set(line.ids) <= {record_id for one in known for record_id in one.ids}:
        return "without a known record"
    return "" if any(map(importance, sentences(line.text))) else "small talk"


def _claims(text: str, source: str) -> str:
    if begins("request", text) or _TO_A_MODEL.search(fold(text)):
        return "an instruction"
    if missing := next(_missing(text, source), ""):
        return missing
    _, found, rest = source.partition(fold(text).rstrip(" .…"))
    if found and rest[:2].strip()[:1].isalnum():
        return "cut in the middle of a sentence"
    content = _content(text)
    there = {stem for word in words(source) for stem in stems(word)}
    is_theirs = len(content & there) >= _MIN_SHARE * len(content)
    return "" if is_theirs else "in words its records do not have"


def _missing(text: str, source: str) -> Iterator[str]:
    """What of a line its records do not have."""
    said = set(words(source))
    for literal in _LITERAL.findall(text):
        if fold(literal.strip("`.,;:")) not in source:
            yield "with an address, path or command its records do not have"
    for name in (*names_and_numbers(text), *map(fold, entities(text))):
        if not set(words(name)) <= said:
            yield "with a number or name its records do not have"
    if not (set(words(fold(text))) & NEGATIONS) <= (said & NEGATIONS):
        yield "with a «not» its records do not have"


def reasons(refused: Counter[str]) -> str:
    """Why lines were refused, the most frequent first.

    >>> reasons(Counter({"too long": 1, "without a known record": 3}))
    '3 without a known record, 1 too long'
    """
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.most_common())


def model_counts(checked: Sequence[Checked]) -> dict[str, int]:
    """How many lines the model and the rules wrote, how many were refused, and the tokens."""
    return {
        "model_lines": sum(one.taken for one in checked),
        "rule_lines": sum(one.by_rules for one in checked),
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
        more = f" and {len(summaries) - _MAX_NAMED:,} more" if summaries[_MAX_NAMED:] else ""
        yield f"{problem} ({', '.join(summaries[:_MAX_NAMED])}{more})"
    refused = sum((one.refused for one in checked.values() if not one.problem), Counter[str]())
    if refused:
        lines = refused.total() + sum(one.taken for one in checked.values())
        yield (
            f"{name}: {refused.total():,} of {lines:,} lines were refused, and the rules wrote of these records"
            f" instead: {reasons(refused)}."
        )
