"""The default summariser: no model, only rules. It chooses sentences; it never makes one up."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from types import MappingProxyType

from memolith.interfaces import Statement, Summariser, Summary
from memolith.llm.order_of_choice import PLAIN, Candidate, in_order_of_choice
from memolith.text.cut import cut
from memolith.text.entities import entities, small_words
from memolith.text.folding import fold
from memolith.text.leaning import Bond, bond, is_about_before
from memolith.text.sentences import listed_below_title, matters, sentences, worth
from memolith.text.similarity import is_near_copy, repeats
from memolith.text.tokens import words

# What day and ids of a line take beside its text.
_BESIDE = 24
_LONGEST = 280
_LONGEST_LINE = 420
_CUT = " …"
_AROUND = ".,;:!?¡¿…()[]\"'“”„«»"
# Numbers need not add up: these are only the order in which sentences are taken.
_BY_CATEGORY = {"heartbeat": -2.0, "event": 0.5, "note": 0.5, "compaction": 0.5}
_NAMED_FIRST = 0.75  # a sentence that begins with a name
_ENOUGH_WORDS = 6  # fewer are in many a sentence by chance
_SHARED = 0.5  # of the words of a sentence, by any that repeats it
_PATTERN_WORDS = 5
_MORE_THAN_A_GREETING = 4  # words
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TRACE = re.compile(
    r"^[ \t]+(?:at [\w$.<>]{1,200} \([^()\n]{1,300}\)|File \"[^\"\n]{1,300}\", line \d+.*)$",
    re.MULTILINE,
)


def are_rules(summariser: Summariser) -> bool:
    """Whether nobody else is asked: what the rules write needs no check and costs nothing."""
    return type(summariser) is RuleBased


class RuleBased:
    """Keeps the sentences that tell most, each once, with the ids they come from."""

    name = "rules"
    _told: Mapping[str, date] = MappingProxyType({})

    def __init__(self, told: Mapping[str, date] | None = None) -> None:
        """`told` is what other summaries tell (`units`), and of which day: that is not told once more."""
        if told:
            self._told = told

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Every record's best sentence first, then whatever else fits, in the order of days."""
        chosen: list[Candidate] = []
        begun: set[tuple[str, ...]] = set()
        places: set[int] = set()
        behind: dict[int, Candidate] = {}  # by the place they are told behind, until that is taken
        room = max_chars
        waiting = deque(in_order_of_choice(_without_copies(self._untold(statements))))
        while waiting:
            candidate = waiting.popleft()
            ids, place = candidate.statement.ids, candidate.place
            if candidate.is_after and place - 1 not in places:
                behind[place - 1] = candidate
                continue
            cost = len(candidate.statement.text) + (1 if ids in begun else _BESIDE)
            if cost > room:
                continue
            said = next((one for one in chosen if _says_no_more(candidate, one)), None)
            if said is not None and not candidate.is_after:
                room -= _join(said, candidate, room)
                continue
            chosen.append(candidate)
            begun.add(ids)
            places.add(place)
            room -= cost
            if place in behind:
                waiting.append(behind.pop(place))
        chosen.sort(key=lambda one: (one.statement.day, one.place))
        return Summary(statements=tuple(_lines([one.statement for one in chosen])))

    def _untold(self, statements: Sequence[Statement]) -> Iterator[Candidate]:
        for one in _candidates(statements):
            said = self._told.get(fold(one.statement.text), date.min)
            if one.is_after or said < one.statement.day:
                yield one


def units(statements: Iterable[Statement]) -> dict[str, date]:
    """What some statements tell, each sentence with those that belong to it, and the last day it is of."""
    found: dict[str, date] = {}
    for statement in statements:
        for one in _understandable(statement.text):
            text = fold(one.text)
            found[text] = max(statement.day, found.get(text, statement.day))
    return found


def is_told(statement: Statement, told: Mapping[str, date]) -> bool:
    """Whether all of it is told elsewhere, as of the same day or a later one."""
    return all(told.get(text, date.min) >= day for text, day in units([statement]).items())


def _lines(chosen: Sequence[Statement]) -> Iterator[Statement]:
    """What follows each other out of the same records is one line: it reads better, and is shorter."""
    line: Statement | None = None
    for statement in chosen:
        is_cut = line is not None and line.text.endswith(_CUT)  # what follows would be read into it
        if (
            line is not None
            and not is_cut
            and (line.ids, line.day) == (statement.ids, statement.day)
        ):
            text = f"{_ended(line.text)} {statement.text}"
            if len(text) <= _LONGEST_LINE:
                line = replace(line, text=text)
                continue
        if line is not None:
            yield line
        line = statement
    if line is not None:
        yield line


def _ended(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?…:;。！？\"'”’»)" else f"{sentence}."


def _candidates(statements: Sequence[Statement]) -> Iterator[Candidate]:
    small = small_words([statement.text for statement in statements])
    place = 0
    for statement in statements:
        told = _without_code(_printable(statement.text))
        found = [(one, worth(one.text)) for one in _understandable(told)]
        tells_more = any(value > PLAIN for _, value in found)
        for one, value in found:
            if value <= 0:
                continue
            named = _NAMED_FIRST if _begins_with_name(one.text, small) else 0.0
            place += 1
            yield Candidate(
                statement=replace(statement, text=one.text),
                worth=value + named + _BY_CATEGORY.get(statement.category, 0.0),
                place=place,
                words=frozenset(words(one.text)),
                numbers=_numbers(one.text),
                pattern=_pattern(one.text, begins_with_name=bool(named)),
                tells=not one.is_after and (value + named > PLAIN or not tells_more),
                is_after=one.is_after,
            )


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence with those that lean on it."""

    text: str
    is_after: bool = False  # told only behind the one before


def _understandable(told: str) -> list[_Told]:
    """The sentences; what leans on the one before is together with it, or is told only behind it.

    What leans on small talk is small talk: «We talked about the weather. It is 24 degrees.»
    """
    found: list[_Told] = []
    last = ""  # the sentence before, also if it was put together with others
    of_list = listed_below_title(told)
    for sentence in map(_short, sentences(told)):
        before = found[-1].text if found else ""
        if before and worth(before) > 0:
            bound = Bond.TOGETHER if sentence in of_list else bond(sentence, last)
            if bound == Bond.TOGETHER and (joined := _joined(found, sentence)):
                found = joined
            elif sentence in of_list:
                found.append(_Told(sentence, is_after=True))
            elif bound < Bond.TOGETHER or matters(sentence):
                found.append(_Told(sentence, bound == Bond.BEHIND))
        elif not (
            len(before.split()) > _MORE_THAN_A_GREETING
            and is_about_before(sentence)
            and not matters(sentence)
        ):
            found.append(_Told(sentence))
        last = sentence
    return found


def _joined(found: Sequence[_Told], sentence: str) -> list[_Told]:
    """What was found, with a sentence put to the last, and that to the one it is told behind; [] if too long."""
    *rest, last = found
    both = _together(last, sentence)
    if both is None:
        return []
    all_three = _together(rest[-1], both.text) if last.is_after and rest else None
    return [*rest[:-1], all_three] if all_three else [*rest, both]


def _together(one: _Told, sentence: str) -> _Told | None:
    both = f"{_ended(one.text)} {sentence}"
    fits = len(both) <= _LONGEST_LINE and not one.text.endswith(_CUT)
    return replace(one, text=both) if fits else None


def _short(sentence: str) -> str:
    short = cut(sentence, _LONGEST)
    return f"{short.text}{_CUT}" if short.left_out else short.text


def _begins_with_name(sentence: str, small: Collection[str]) -> bool:
    """Whether the first word is a name, and not only the first word."""
    first, *_ = sentence.split() or [""]
    return any(name in first for name in entities(first, small))


def _without_copies(candidates: Iterator[Candidate]) -> list[Candidate]:
    """The same words twice become one statement of several records, dated when last said.

    Behind other sentences they say something else: «She likes tea.»
    """
    known: dict[tuple[str, tuple[str, ...]], Candidate] = {}
    for candidate in candidates:
        behind = candidate.statement.ids if candidate.is_after else ()
        same = known.setdefault((fold(candidate.statement.text), behind), candidate)
        if same is not candidate:
            _join(same, candidate, len(candidate.statement.text))
    return list(known.values())


def _pattern(text: str, *, begins_with_name: bool) -> tuple[str, ...]:
    """The first words of a sentence that are no names and no numbers: what it has of its kind."""
    bare = [word.strip(_AROUND) for word in text.split()]
    kept = [
        fold(word)
        for number, word in enumerate(bare)
        if word.isalpha() and (word.islower() or (number == 0 and not begins_with_name))
    ]
    return tuple(kept[:_PATTERN_WORDS])


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word for word in words(text) if any(char.isdigit() for char in word))


def _says_no_more(candidate: Candidate, other: Candidate) -> bool:
    """Whether one is a near copy of the other, or repeats it whole with words around it."""
    text, said = candidate.statement.text, other.statement.text
    # Soon seen: another number is another fact, and most have little in common.
    shared = len(other.words & candidate.words)
    if candidate.numbers != other.numbers or shared < _SHARED * len(other.words):
        return False
    if is_near_copy(text, said):
        return True
    return len(other.words) >= _ENOUGH_WORDS and repeats(text, said)


def _join(kept: Candidate, other: Candidate, room: int) -> int:
    """One statement of the records of both; the day is that of the words. How much longer it is.

    The newer words are taken if there is room for them.
    """
    before = kept.statement
    longer = len(other.statement.text) - len(before.text)
    newer = other.statement.day > before.day and longer <= room
    ids = tuple(dict.fromkeys((*before.ids, *other.statement.ids)))
    kept.statement = replace(other.statement if newer else before, ids=ids)
    kept.worth = max(kept.worth, other.worth)
    if newer:
        kept.words, kept.numbers = other.words, other.numbers
    return longer if newer else 0


def _without_code(text: str) -> str:
    """The text without blocks of code: in one line they cannot be read, and the record has them.

    Of a text that is nothing else, the first line of its code is left.
    """
    left = _TRACE.sub("", _CODE.sub("\n", text))
    if left.strip():
        return left
    lines = [line.strip() for line in text.split("\n") if line.strip() and "```" not in line]
    return f"`{lines[0]}` …" if lines else ""


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)
