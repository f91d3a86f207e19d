"""The default summariser: no model, only rules. It chooses sentences; it never makes one up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import zip_longest

from memolith.interfaces import Statement, Summary
from memolith.text.budget import cut
from memolith.text.cues import begins, importance, kind_of, matters
from memolith.text.folding import fold
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key

_BESIDE = 24  # what day and ids of a line take beside its text
_MAX_SENTENCE, _MAX_LINE = 280, 420
# A record this short is kept whole: half of «312 kB, now 241 kB» is something else.
_WHOLE_CHARS, _WHOLE_SENTENCES = 150, 2
_BY_CATEGORY = {"heartbeat": -3.0, "decision": 1.0, "event": 0.5, "note": 0.5, "compaction": 0.5}
_PLAIN = 1.0  # the importance of a sentence without number, name, decision or anything
_PARTS = 24  # the time a summary tells of is seen as this many parts, and each has its turn
_PATTERN_WORDS = 5
_OFTEN = 4  # of a pattern that comes more often, all but one come last
_SHORT = 4  # words: «Took ages.» is about the sentence before
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TRACE = re.compile(
    r"^[ \t]+(?:at [\w$.<>]{1,200} \([^()\n]{1,300}\)|File \"[^\"\n]{1,300}\", line \d+.*)$",
    re.MULTILINE,
)


@dataclass(slots=True)
class _Piece:
    """Sentences of a record that are kept together, or not at all."""

    statement: Statement
    place: int  # of the record, and within it
    value: float
    is_first: bool  # the best of its record


class Rules:
    """Keeps the sentences that say most, each once, with the ids they come from."""

    name = "rules"

    def summarise(
        self,
        statements: Sequence[Statement],
        max_chars: int,
        elsewhere: Mapping[str, date] | None = None,
    ) -> Summary:
        """What matters first, then something of every record, spread over the time; in the order of days.

        `elsewhere` are the sentences of other summaries with their days, which are not repeated.
        """
        pieces = _without_copies(_pieces(statements, elsewhere or {}))
        room, chosen, begun = max_chars, list[_Piece](), set[tuple[str, ...]]()
        for piece in _in_order_of_choice(pieces):
            cost = len(piece.statement.text) + (1 if piece.statement.ids in begun else _BESIDE)
            if cost <= room:
                chosen.append(piece)
                begun.add(piece.statement.ids)
                room -= cost
        chosen.sort(key=lambda one: (one.statement.day, one.place))
        return Summary(statements=tuple(_lines([one.statement for one in chosen])))


def texts_of(statements: Sequence[Statement]) -> dict[str, date]:
    """The sentences of a summary, each with its last day."""
    found: dict[str, date] = {}
    for one in statements:
        for sentence in sentences(one.text):
            found[fold(sentence)] = max(one.day, found.get(fold(sentence), one.day))
    return found


def _pieces(statements: Sequence[Statement], elsewhere: Mapping[str, date]) -> Iterator[_Piece]:
    last = texts_of(statements)  # what was said again is dated when last said
    place = 0
    for statement in statements:
        said = [
            one
            for one in map(_short, sentences(_printable(_without_code(statement.text))))
            if importance(one) > 0
            and statement.day >= last.get(fold(one), statement.day)
            and statement.day > elsewhere.get(fold(one), date.min)
        ]
        texts = list(_texts(said))
        values = [max(map(importance, sentences(text)), default=0.0) for text in texts]
        added = _BY_CATEGORY.get(statement.category, 0.0)
        for text, value in zip(texts, values, strict=True):
            place += 1
            if value + min(added, 0) > 0:
                yield _Piece(
                    replace(statement, text=text), place, value + added, value == max(values)
                )


def _texts(said: Sequence[str]) -> Iterator[str]:
    """The pieces of a record: all of it if it is short, else sentences with those that lean on them."""
    whole = " ".join([*map(_ended, said[:-1]), *said[-1:]])
    if (
        whole
        and (len(said) <= _WHOLE_SENTENCES or len(whole) <= _WHOLE_CHARS)
        and len(whole) <= _MAX_LINE
    ):
        yield whole
        return
    piece = ""
    for sentence in said:
        leans = (
            len(sentence.split()) < _SHORT
            or begins("leaning", sentence)
            or begins("going on", sentence)
            or piece.endswith(":")
        )
        if piece and leans and len(piece) + len(sentence) < _MAX_LINE:
            piece = f"{_ended(piece)} {sentence}"
            continue
        if piece:
            yield piece
        piece = sentence
    if piece:
        yield piece


def _without_copies(pieces: Iterator[_Piece]) -> list[_Piece]:
    """The same words twice become one piece of several records, dated when last said."""
    known: dict[object, _Piece] = {}
    for piece in pieces:
        same = known.setdefault(copy_key(piece.statement.text), piece)
        if same is not piece:
            newer = piece if piece.statement.day > same.statement.day else same
            ids = tuple(dict.fromkeys((*same.statement.ids, *piece.statement.ids)))
            same.statement, same.value = (
                replace(newer.statement, ids=ids),
                max(same.value, piece.value),
            )
    return list(known.values())


def _in_order_of_choice(pieces: Sequence[_Piece]) -> list[_Piece]:
    """What matters first, then what tells something, then the rest; every part of the time has its turn.

    More of one pattern comes last, pattern by pattern: thirty appointments do not crowd out what was said once.
    """
    in_all = Counter(_pattern(one.statement.text) for one in pieces)
    usual: dict[tuple[str, ...], list[_Piece]] = {}
    tiers: tuple[list[_Piece], ...] = ([], [], [])
    seen: Counter[tuple[str, ...]] = Counter()
    for piece in sorted(
        pieces, key=lambda one: (-one.value, -one.statement.day.toordinal(), one.place)
    ):
        pattern = _pattern(piece.statement.text)
        seen[pattern] += 1
        if seen[pattern] > (1 if in_all[pattern] > _OFTEN else 2):
            usual.setdefault(pattern, []).append(piece)
        else:
            tells = piece.is_first and piece.value > _PLAIN
            tiers[0 if matters(piece.statement.text) else 1 if tells else 2].append(piece)
    rounds = zip_longest(*(_by_turns(some) for some in usual.values()))
    return [
        *(piece for tier in tiers for piece in _by_turns(tier)),
        *(one for some in rounds for one in some if one),
    ]


def _by_turns(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The best of each part of the time, then the second best of each, and so on; deadlines before all."""
    days = [one.statement.day.toordinal() for one in pieces]
    first, span = min(days, default=0), max(1, max(days, default=0) - min(days, default=0) + 1)
    turns: Counter[int] = Counter()
    ranked = []
    for piece, day in zip(pieces, days, strict=True):
        part = (day - first) * _PARTS // span
        turns[part] += 1
        ranked.append(
            (
                kind_of(piece.statement.text) != "deadline",
                turns[part],
                -piece.value,
                piece.place,
                piece,
            )
        )
    return [piece for *_, piece in sorted(ranked, key=lambda one: one[:4])]


def _lines(chosen: Sequence[Statement]) -> Iterator[Statement]:
    """What follows each other out of the same records is one line."""
    line: Statement | None = None
    for statement in chosen:
        if (
            line
            and (line.ids, line.day) == (statement.ids, statement.day)
            and not line.text.endswith("…")
        ):
            text = f"{_ended(line.text)} {statement.text}"
            if len(text) <= _MAX_LINE:
                line = replace(line, text=text)
                continue
        if line:
            yield line
        line = statement
    if line:
        yield line


def _pattern(text: str) -> tuple[str, ...]:
    """The first words of a sentence that are no names and no numbers: what it has of its kind."""
    words = [word.strip(".,;:!?()[]\"'") for word in text.split()]
    return tuple([word for word in words if word.isalpha() and word.islower()][:_PATTERN_WORDS])


def _short(sentence: str) -> str:
    short = cut(sentence, _MAX_SENTENCE)
    return f"{short.text} …" if short.left_out else short.text


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…:;。！？\"'”’»)" else f"{sentence}."


def _without_code(text: str) -> str:
    """The text without blocks of code; of a text that is nothing else, the first line is left."""
    left = _TRACE.sub("", _CODE.sub("\n", text))
    if left.strip():
        return left
    lines = [line.strip() for line in text.split("\n") if line.strip() and "```" not in line]
    return f"`{lines[0]}` …" if lines else ""


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
