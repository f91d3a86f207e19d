"""The default summariser: no model, only rules. It chooses sentences; it never makes one up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
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
# Blocks of code, and the lines of a stack trace.
_CODE = re.compile(
    r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)|"
    r"^[ \t]+(?:at [\w$.<>]{1,200} \([^()\n]{1,300}\)|File \"[^\"\n]{1,300}\", line \d+[^\n]*)$",
    re.MULTILINE | re.DOTALL,
)


class Rules:
    """Keeps the sentences that say most, each once, with the ids they come from."""

    name = "rules"

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """What matters first, then something of every record, spread over the time; in the order of days."""
        pieces = _pieces(statements)
        room, chosen, begun = max_chars, set[int](), set[tuple[str, ...]]()
        for place in _in_order_of_choice(pieces):
            statement = pieces[place][0]
            cost = len(statement.text) + (1 if statement.ids in begun else _BESIDE)
            if cost <= room:
                chosen.add(place)
                begun.add(statement.ids)
                room -= cost
        kept = sorted((pieces[place][0] for place in sorted(chosen)), key=lambda one: one.day)
        groups = [list(group) for _, group in groupby(kept, lambda one: (one.ids, one.day))]
        lines = (replace(same[0], text=_joined([one.text for one in same])) for same in groups)
        return Summary(statements=tuple(lines))


def _pieces(statements: Sequence[Statement]) -> list[tuple[Statement, float]]:
    """Sentences that are kept together or not at all, and what they are worth.

    The same words twice are one piece of several records, dated when last said.
    """
    parted = [(one, list(_sentences(one.text))) for one in statements]
    by_day = sorted(parted, key=lambda one: one[0].day)
    last = {fold(text): one.day for one, said in by_day for text in said}
    known: dict[object, tuple[Statement, float]] = {}
    for one, said in parted:
        added = _BY_CATEGORY.get(one.category, 0.0)
        # What was said again is kept with the record that says it last.
        new = [text for text in said if last[fold(text)] <= one.day and importance(text) > 0]
        for text in _texts(new):
            value = max(map(importance, sentences(text)), default=0.0)
            if value + min(added, 0) <= 0:
                continue
            piece, value, key = replace(one, text=text), value + added, copy_key(text)
            if key in known:
                same, worth = known[key]
                newer = max(piece, same, key=lambda one: one.day)
                ids = dict.fromkeys((*same.ids, *piece.ids))
                piece, value = replace(newer, ids=tuple(ids)), max(value, worth)
            known[key] = piece, value
    return list(known.values())


def _texts(said: Sequence[str]) -> list[str]:
    """The pieces of a record: all of it if it is short, else sentences with those that lean on them."""
    whole = _joined(said)
    is_short = len(said) <= _WHOLE_SENTENCES or len(whole) <= _WHOLE_CHARS
    if is_short and len(whole) <= _MAX_PIECE:
        return [whole] if whole else []
    found: list[str] = []
    for sentence in said:
        if found and _leans(sentence, found[-1]) and len(found[-1]) + len(sentence) < _MAX_PIECE:
            found[-1] = _joined((found[-1], sentence))
        else:
            found.append(sentence)
    return found


def _leans(sentence: str, before: str) -> bool:
    """Whether a sentence says nothing without the one before."""
    is_part = before.endswith(":") or len(sentence.split()) < _SHORT
    return is_part or begins("leaning", sentence) or begins("going on", sentence)


def _in_order_of_choice(pieces: Sequence[tuple[Statement, float]]) -> list[int]:
    """The places of what matters first, then what says something, then the rest; each part of the time has its turn.

    More of one pattern comes last: thirty appointments do not crowd out what was said once.
    """
    days = [one.day.toordinal() for one, _ in pieces] or [0]
    first, span = min(days), max(days) - min(days) + 1
    patterns = [_pattern(one.text) for one, _ in pieces]
    in_all, seen, turns = Counter(patterns), Counter[tuple[str, ...]](), Counter[object]()
    ranked = []
    for place in sorted(range(len(pieces)), key=lambda at: (-pieces[at][1], -days[at])):
        (one, value), pattern = pieces[place], patterns[place]
        seen[pattern] += 1
        tier = 0 if matters(one.text) else 1 if value > _PLAIN else 2
        if seen[pattern] > (1 if in_all[pattern] > _OFTEN else 2):
            tier = 3
        part = (days[place] - first) * _PARTS // span
        turn = (tier, part, pattern if tier > 2 else "")
        turns[turn] += 1
        ranked.append((tier, kind_of(one.text) != "deadline", turns[turn], -value, place))
    return [rank[-1] for rank in sorted(ranked)]


def _pattern(text: str) -> tuple[str, ...]:
    """The first words of a sentence that are neither names nor numbers: its kind."""
    words = [word.strip(".,;:!?()[]\"'") for word in text.split()]
    return tuple([word for word in words if word.isalpha() and word.islower()][:_PATTERN_WORDS])


def _joined(said: Sequence[str]) -> str:
    """Sentences one behind the other, each with an end."""
    ended = [one if one[-1:] in ".!?…:;。！？\"'”’»)" else f"{one}." for one in said[:-1]]
    return " ".join([*ended, *said[-1:]])


def _sentences(text: str) -> Iterator[str]:
    """The sentences without blocks of code; of a text that is nothing else, the first line is left."""
    left = _CODE.sub("\n", text)
    if not left.strip():
        lines = [line.strip() for line in text.split("\n") if line.strip() and "```" not in line]
        left = f"`{lines[0]}` …" if lines else ""
    plain = "".join(char if char.isprintable() or char == "\n" else " " for char in left)
    return (cut(sentence, _MAX_SENTENCE, " …") for sentence in sentences(plain))
