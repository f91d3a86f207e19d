"""Is what a model wrote true to the records it cites? Line by line; what is not, the rules write."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from memolith.config.sections import LlmConfig
from memolith.errors import SummariserError
from memolith.interfaces import Statement, Summariser
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
_MAX_USELESS_ANSWERS = 2  # in a row; then the rules write the rest of a job
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


def choose_summariser(config: LlmConfig, key: str) -> Summariser:
    """The model of the endpoint, or the rules."""
    if not config.url:
        return Rules()
    from memolith.llm.model import OpenAiCompatible  # HTTP is slow to import

    return OpenAiCompatible(config, key)


class CheckedWriter:
    """Has a model write summaries, checks each line of it, and has the rules write what is refused."""

    def __init__(self, summariser: Summariser) -> None:
        """A summariser that is the rules is believed; what it writes is not counted."""
        self._summariser = summariser
        self.is_model = type(summariser) is not Rules
        self.counts = Counter(model_lines=0, rule_lines=0, refused_lines=0, tokens=0)
        self.refused = Counter[str]()  # why lines were not taken, where others were
        self.problems = Counter[str]()  # why no line of an answer was
        self._useless = 0  # answers in a row

    def write(
        self, statements: Sequence[Statement], max_chars: int, *, may_be_sent: bool = True
    ) -> tuple[Sequence[Statement], bool]:
        """The summary lines of these statements, oldest first, and whether the model wrote any of it.

        The rules add what the lines of the model leave out.
        """
        is_asked = self.is_model and may_be_sent and self._useless < _MAX_USELESS_ANSWERS
        taken = self._of_model(statements, max_chars) if is_asked else []
        covered = {record_id for line in taken for record_id in line.ids}
        rest = [one for one in statements if covered.isdisjoint(one.ids)]
        left = max_chars - sum(len(line.text) for line in taken)
        by_rules = Rules().summarise(rest, left).statements
        self.counts.update(model_lines=len(taken), rule_lines=len(by_rules))
        if is_asked:
            self._useless = self._useless + 1 if by_rules and not taken else 0
        return sorted((*taken, *by_rules), key=lambda one: one.day), bool(taken)

    def _of_model(self, statements: Sequence[Statement], max_chars: int) -> list[Statement]:
        """The lines of the model that are true to their records."""
        harmless = [one for one in statements if not _TO_A_MODEL.search(fold(one.text))]
        room = max_chars * _SHARE_OF_THE_MODEL // 100
        name, by_rules = self._summariser.name, "The rules wrote the summary."
        try:
            answer = self._summariser.summarise(harmless, room)
        except SummariserError as error:
            self.counts.update(tokens=error.tokens)
            self.problems[f"{name}: {error.message} {by_rules}"] += 1
            return []
        notes = [(one, _content(one.text)) for one in harmless]
        taken, refused = list[Statement](), Counter[str]()
        for line in answer.statements:
            cited = _cited(line, notes)
            if problem := next(_problems(line, cited, room), ""):
                refused[problem] += 1
                continue
            room -= len(line.text)
            ids = tuple(one for one in line.ids if any(one in record.ids for record in cited))
            taken.append(replace(line, ids=ids, day=max(one.day for one in cited), said_by=""))
        self.counts.update(tokens=answer.tokens, refused_lines=refused.total())
        if taken:
            self.refused += refused
        else:
            why = _reasons(refused) or "no line came in the requested form"
            self.problems[f"{name}: none of its lines was taken ({why}). {by_rules}"] += 1
        return taken

    def warnings(self) -> Iterator[str]:
        """Why rules wrote what the model was asked for."""
        for problem, count in self.problems.items():
            yield f"{problem} ({count:,} times)" if count > 1 else problem
        if self.refused:
            lines = self.refused.total() + self.counts["model_lines"]
            yield (
                f"{self._summariser.name}: {self.refused.total():,} of {lines:,} lines were refused, and the rules"
                f" wrote of these records instead: {_reasons(self.refused)}."
            )


def _cited(line: Statement, notes: Sequence[tuple[Statement, frozenset[str]]]) -> list[Statement]:
    """The records of a line, without those of which it has no word: they would count as summarised.

    A line that cites an unknown record is given none.
    """
    ids, content = set(line.ids), _content(line.text)
    named = [(one, there) for one, there in notes if not ids.isdisjoint(one.ids)]
    if not ids.issubset(name for one, _ in named for name in one.ids):
        return []
    return [one for one, there in named if len(content & there) >= min(2, len(there))]


def _content(text: str) -> frozenset[str]:
    return frozenset(stems(word)[0] for word in words(text) if not is_stop_word(word))


def _problems(line: Statement, cited: Sequence[Statement], room: int) -> Iterator[str]:
    """Why a line is not taken; nothing if it says what its records say. What costs little is asked first."""
    text = line.text
    if not text.strip() or not text.isprintable():
        yield "empty, or with control characters"
    if len(text) > min(_MAX_CHARS, room):
        yield "too long"
    if begins("request", text) or _TO_A_MODEL.search(fold(text)):
        yield "an instruction"
    if not cited:
        yield "without a known record"
    source = fold(" ".join(one.text for one in cited))
    said = set(words(source))
    if any(fold(one.strip("`.,;:")) not in source for one in _LITERAL.findall(text)):
        yield "with an address, path or command its records do not have"
    names = (*names_and_numbers(text), *map(fold, entities(text)))
    if not said.issuperset(word for name in names for word in words(name)):
        yield "with a number or name its records do not have"
    if not said.issuperset(set(words(text)) & NEGATIONS):
        yield "with a «not» its records do not have"
    _, found, rest = source.partition(fold(text).rstrip(" .…"))
    if found and rest[:2].strip()[:1].isalnum():
        yield "cut in the middle of a sentence"
    content, there = _content(text), {stem for word in said for stem in stems(word)}
    if len(content & there) < _MIN_SHARE * len(content):
        yield "in words its records do not have"


def _reasons(refused: Counter[str]) -> str:
    """Why lines were refused, the most frequent first."""
    return ", ".join(f"{count:,} {reason}" for reason, count in refused.most_common())
