"""The default summariser: no model, only rules. It chooses sentences; it never makes one up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from memolith.interfaces import Statement, Summary
from memolith.text.budget import cut
from memolith.text.cues import begins, importance, kind_of, matters
from memolith.text.sentences import sentences
from memolith.text.similarity import copy_key
from memolith.text.tokens import fold

_BESIDE = 24  # what day and ids of a line take beside its text
_MAX_SENTENCE, _MAX_PIECE = 280, 420
# A record this short is kept whole: half of «312 kB, now 241 kB» is something else.
_WHOLE_CHARS, _WHOLE_SENTENCES = 150, 2
_BY_CATEGORY = {"heartbeat": -3.0, "decision": 1.0, "event": 0.5, "note": 0.5, "compaction": 0.5}
_PLAIN = 1.0  # the importance of a sentence without number, name, decision or anything
_PARTS = 32  # the time a summary tells of is seen as this many parts, and each has its turn
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


class Rules:
    """Keeps the sentences that say most, each once, with the ids they come from."""

    name = "rules"

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """What matters first, then something of every record, spread over the time; in the order of days."""
        pieces = _without_copies(_pieces(statements))
        room, chosen, begun = max_chars, list[_Piece](), set[tuple[str, ...]]()
        for piece in _in_order_of_choice(pieces):
            cost = len(piece.statement.text) + (1 if piece.statement.ids in begun else _BESIDE)
            if cost <= room:
                chosen.append(piece)
                begun.add(piece.statement.ids)
                room -= cost
        chosen.sort(key=lambda one: (one.statement.day, one.place))
        return Summary(statements=tuple(_lines([one.statement for one in chosen])))


def _pieces(statements: Sequence[Statement]) -> Iterator[_Piece]:
    place = 0
    by_day = sorted(statements, key=lambda one: one.day)
    told = {
        id(one): list(map(_short, sentences(_printable(_without_code(one.text))))) for one in by_day
    }
    last = {fold(text): one.day for one in by_day for text in told[id(one)]}
    for statement in statements:
        # What was said again is told with the record that says it last.
        said = [one for one in told[id(statement)] if last[fold(one)] <= statement.day]
        added = _BY_CATEGORY.get(statement.category, 0.0)
        for text in _texts([one for one in said if importance(one) > 0]):
            value = max(map(importance, sentences(text)), default=0.0)
            place += 1
            if value + min(added, 0) > 0:
                yield _Piece(replace(statement, text=text), place, value + added)


def _texts(said: Sequence[str]) -> Iterator[str]:
    """The pieces of a record: all of it if it is short, else sentences with those that lean on them."""
    whole = _joined(said)
    is_short = len(said) <= _WHOLE_SENTENCES or len(whole) <= _WHOLE_CHARS
    if whole and is_short and len(whole) <= _MAX_PIECE:
        yield whole
        return
    piece = ""
    for sentence in said:
        if piece and _leans(sentence, piece) and len(piece) + len(sentence) < _MAX_PIECE:
            piece = _joined((piece, sentence))
            continue
        if piece:
            yield piece
        piece = sentence
    if piece:
        yield piece


def _leans(sentence: str, before: str) -> bool:
    """Whether a sentence says nothing without the one before."""
    is_part = before.endswith(":") or len(sentence.split()) < _SHORT
    return is_part or begins("leaning", sentence) or begins("going on", sentence)


def _without_copies(pieces: Iterator[_Piece]) -> list[_Piece]:
    """The same words twice become one piece of several records, dated when last said."""
    known: dict[object, _Piece] = {}
    for piece in pieces:
        same = known.setdefault(copy_key(piece.statement.text), piece)
        if same is not piece:
            newer = max(piece, same, key=lambda one: one.statement.day)
            ids = tuple(dict.fromkeys((*same.statement.ids, *piece.statement.ids)))
            same.statement = replace(newer.statement, ids=ids)
            same.value = max(same.value, piece.value)
    return list(known.values())


def _in_order_of_choice(pieces: Sequence[_Piece]) -> list[_Piece]:
    """What matters first, then what tells something, then the rest; each part of the time has its turn.

    More of one pattern comes last: thirty appointments do not crowd out what was said once.
    """
    days = [one.statement.day.toordinal() for one in pieces] or [0]
    first, span = min(days), max(days) - min(days) + 1
    in_all = Counter(_pattern(one) for one in pieces)
    seen, turns = Counter[tuple[str, ...]](), Counter[object]()
    ranked = []
    for piece in sorted(pieces, key=lambda one: (-one.value, -one.statement.day.toordinal())):
        pattern = _pattern(piece)
        seen[pattern] += 1
        is_usual = seen[pattern] > (1 if in_all[pattern] > _OFTEN else 2)
        tier = 3 if is_usual else _tier(piece)
        part = (piece.statement.day.toordinal() - first) * _PARTS // span
        turn = (tier, part, pattern if is_usual else "")
        turns[turn] += 1
        is_deadline = kind_of(piece.statement.text) == "deadline"
        rank = (tier, not is_deadline, turns[turn], -piece.value, piece.place)
        ranked.append((rank, piece))
    return [piece for _, piece in sorted(ranked, key=lambda one: one[0])]


def _tier(piece: _Piece) -> int:
    if matters(piece.statement.text):
        return 0
    return 1 if piece.value > _PLAIN else 2


def _pattern(piece: _Piece) -> tuple[str, ...]:
    """The first words of a sentence that are no names and no numbers: what it has of its kind."""
    words = [word.strip(".,;:!?()[]\"'") for word in piece.statement.text.split()]
    return tuple([word for word in words if word.isalpha() and word.islower()][:_PATTERN_WORDS])


def _lines(chosen: Sequence[Statement]) -> Iterator[Statement]:
    """What follows each other out of the same records is one line."""
    for _, group in groupby(chosen, lambda one: (one.ids, one.day)):
        same = list(group)
        yield replace(same[0], text=_joined([one.text for one in same]))


def _joined(said: Sequence[str]) -> str:
    """Sentences one behind the other, each with an end."""
    ended = [one if one[-1:] in ".!?…:;。！？\"'”’»)" else f"{one}." for one in said[:-1]]
    return " ".join([*ended, *said[-1:]])


def _short(sentence: str) -> str:
    return cut(sentence, _MAX_SENTENCE, " …")


def _without_code(text: str) -> str:
    """The text without blocks of code; of a text that is nothing else, the first line is left."""
    left = _TRACE.sub("", _CODE.sub("\n", text))
    if left.strip():
        return left
    lines = [line.strip() for line in text.split("\n") if line.strip() and "```" not in line]
    return f"`{lines[0]}` …" if lines else ""


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
