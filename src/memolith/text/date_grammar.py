"""How phrases that name days are written down, and how they are found in a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from memolith.text.calendar_days import Days
from memolith.text.date_tokens import Token
from memolith.text.date_words import CLASSES, WORDS

SURE = 1.0  # the words name these days and no others
LIKELY = 0.7  # a year or a week had to be guessed
MAYBE = 0.4  # this may not be a date at all


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that name days.

    `forms` are separated by `|`: `a/b` is either word, `word?` may be missing, and `<class>` is any
    word of a class, whose value `resolve` gets after today's date (not that of an `<_class>`).
    Some count only after one of the words in `after`, some only if no noun follows (`alone`: in summer,
    but not in summer camp). Without `resolve` it only looks like a date.
    """

    meaning: str
    forms: str
    resolve: Callable[..., Days | None] | None
    confidence: float = SURE
    after: frozenset[str] = frozenset()
    alone: bool = False


@dataclass(slots=True)
class Node:
    """A place reached inside phrases: the words and classes that lead on, and what ends here."""

    words: dict[str, list[Node]] = field(default_factory=dict)
    classes: dict[str, list[Node]] = field(default_factory=dict)
    ends: list[Phrase] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Match:
    """A phrase found in the tokens from `start` to before `end`."""

    phrase: Phrase
    start: int
    end: int
    values: tuple[int, ...]


def compile_phrases(phrases: Iterable[Phrase]) -> Node:
    """All forms of all phrases behind one node."""
    root = Node()
    for phrase in phrases:
        for form in phrase.forms.split("|"):
            reached = [root]
            for item in form.split():
                choices = item.removesuffix("?").split("/")
                reached = _lead_on(reached, choices, is_optional=item.endswith("?"))
            for node in reached:
                node.ends.append(phrase)
    return root


def _lead_on(reached: list[Node], choices: list[str], *, is_optional: bool) -> list[Node]:
    following = Node()
    for node in reached:
        for choice in choices:
            steps = node.classes if choice.startswith("<") else node.words
            steps.setdefault(choice.strip("<>"), []).append(following)
    return [*reached, following] if is_optional else [following]


def first_words(root: Node) -> frozenset[str]:
    """Every word a phrase can begin with; numbers come on top."""
    names = {name.removeprefix("_") for name in root.classes}
    return frozenset(root.words).union(*(WORDS.get(name, ()) for name in names))


def matches_at(root: Node, tokens: Sequence[Token], start: int) -> list[Match]:
    """Every phrase that begins at this token, the longest and surest first; then words before classes."""
    found = list[Match]()
    open_ends: list[tuple[Node, int, tuple[int, ...]]] = [(root, start, ())]
    while open_ends:
        node, at, values = open_ends.pop()
        found.extend(Match(phrase, start, at, values) for phrase in node.ends)
        if at == len(tokens):
            continue
        text = tokens[at].text
        open_ends.extend((following, at + 1, values) for following in node.words.get(text, ()))
        for name, after in node.classes.items():
            value = CLASSES[name.removeprefix("_")](text)
            if value is not None:
                read = values if name.startswith("_") else (*values, value)
                open_ends.extend((following, at + 1, read) for following in after)
    return sorted(found, key=_order)


def _order(match: Match) -> tuple[int, float, int]:
    return -match.end, -match.phrase.confidence, len(match.values)
