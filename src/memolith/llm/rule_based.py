"""The default summariser: no model, only rules. It chooses sentences; it never makes one up."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import IntEnum

from memolith.interfaces import Statement, Summary
from memolith.llm.order_of_choice import PLAIN, Candidate, in_order_of_choice
from memolith.text.cut import cut
from memolith.text.entities import entities, small_words
from memolith.text.folding import fold
from memolith.text.leaning import is_listed_with, leans, takes_back
from memolith.text.sentences import claims, matters, sentences, worth
from memolith.text.similarity import is_near_copy, repeats
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

# What day and ids of a line take beside its text.
_BESIDE = 24
_LONGEST = 280
_LONGEST_LINE = 420
_CUT = " …"
# Numbers need not add up: these are only the order in which sentences are taken.
_BY_CATEGORY = {"heartbeat": -2.0, "event": 0.5, "note": 0.5, "compaction": 0.5}
_NAMED_FIRST = 0.75  # a sentence that begins with a name
_ENOUGH_WORDS = 6  # fewer are in many a sentence by chance
_SHARED = 0.5  # of the words of a sentence, by any that repeats it
_PATTERN_WORDS = 5
_CODE = re.compile(r"^[ \t]*```.*?(?:^[ \t]*```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TRACE = re.compile(
    r"^[ \t]+(?:at [\w$.<>]{1,200} \([^()\n]{1,300}\)|File \"[^\"\n]{1,300}\", line \d+.*)$",
    re.MULTILINE,
)
# What cannot be understood without the sentence before it.
_PRONOUN = re.compile(
    r"(?:it|its|this|that|these|those|he|she|they|his|her|their|so|therefore|decision by|lo|le|les|se|eso|esto|"
    r"ell[oa]s?|por eso|asi que|entonces)\b"
)
_PART = re.compile(
    r"(?:the )?(?:fix|result|solution)(?: is| was)\b|fixed in\b|to ?do:|ask \w+ (?:when|if)\b|"
    r"(?:el |la )?(?:arreglo|solucion|resultado) (?:es|era|fue|esta)\b|pendiente:|"
    r"(?:die )?losung (?:ist|war)\b"
)
_SHORT, _LEANS_UP_TO = 6, 12  # words
_TELLING = 2.0  # worth of a sentence that would be chosen without the one it leans on


class RuleBased:
    """Keeps the sentences that tell most, each once, with the ids they come from."""

    name = "rules"

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """Every record's best sentence first, then whatever else fits, in the order of days."""
        chosen: list[Candidate] = []
        begun: set[tuple[str, ...]] = set()
        places: set[int] = set()
        room = max_chars
        for candidate in in_order_of_choice(_without_copies(_candidates(statements))):
            ids, place = candidate.statement.ids, candidate.place
            cost = len(candidate.statement.text) + (1 if ids in begun else _BESIDE)
            if cost > room or (candidate.is_after and place - 1 not in places):
                continue
            said = next((one for one in chosen if _says_no_more(candidate, one)), None)
            if said is not None:
                room -= _join(said, candidate, room)
                continue
            chosen.append(candidate)
            begun.add(ids)
            places.add(place)
            room -= cost
        chosen.sort(key=lambda one: (one.statement.day, one.place))
        return Summary(statements=tuple(_lines([one.statement for one in chosen])))


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
        found = [(one, worth(one.text)) for one in _understandable(sentences(told))]
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


def _understandable(told: Iterable[str]) -> list[_Told]:
    """The sentences; what leans on the one before is together with it, or is told only behind it.

    What leans on small talk is small talk: «We talked about the weather. It is 24 degrees.»
    """
    found: list[_Told] = []
    last = ""  # the sentence before, also if it was put together with others
    for sentence in map(_short, told):
        before = found[-1].text if found else ""
        if before and worth(before) > 0:
            both = f"{_ended(before)} {sentence}"
            bond = _bond(sentence, last)
            if bond == _Bond.TOGETHER and len(both) <= _LONGEST_LINE and not before.endswith(_CUT):
                found[-1] = replace(found[-1], text=both)
            elif bond < _Bond.TOGETHER or matters(sentence):
                found.append(_Told(sentence, bond == _Bond.BEHIND))
        elif not (
            len(before.split()) > _SHORT - 2 and _is_pronoun_of(sentence) and not matters(sentence)
        ):
            found.append(_Told(sentence))
        last = sentence
    return found


def _short(sentence: str) -> str:
    short = cut(sentence, _LONGEST)
    return f"{short.text}{_CUT}" if short.left_out else short.text


class _Bond(IntEnum):
    """What binds a sentence to the one before."""

    NONE = 0
    BEHIND = 1  # it is told behind it or not at all
    TOGETHER = 2  # both are told, or neither


def _bond(sentence: str, before: str) -> _Bond:
    if _PART.match(fold(sentence)) or takes_back(sentence) or is_listed_with(sentence, before):
        return _Bond.TOGETHER
    tells = worth(sentence) >= _TELLING
    is_leaning = leans(sentence) or _is_pronoun_of(sentence)
    answers = before.endswith("?") and len(sentence.split()) <= _LEANS_UP_TO
    is_short = matters(sentence) and len(sentence.split()) <= _SHORT and not claims(sentence)
    if is_short or (answers and tells) or (is_leaning and (tells or matters(sentence))):
        return _Bond.TOGETHER
    return _Bond.BEHIND if is_leaning else _Bond.NONE


def _is_pronoun_of(sentence: str) -> bool:
    """Whether a short sentence begins with a word that stands for something said before."""
    return len(sentence.split()) <= _LEANS_UP_TO and bool(_PRONOUN.match(fold(sentence)))


def _begins_with_name(sentence: str, small: Collection[str]) -> bool:
    """Whether the first word is a name, and not only the first word."""
    first, *_ = sentence.split() or [""]
    return any(name in first for name in entities(first, small))


def _without_copies(candidates: Iterator[Candidate]) -> list[Candidate]:
    """The same words twice become one statement of several records, dated when last said."""
    known: dict[str, Candidate] = {}
    for candidate in candidates:
        same = known.setdefault(fold(candidate.statement.text), candidate)
        if same is not candidate:
            _join(same, candidate, len(candidate.statement.text))
    return list(known.values())


def _pattern(text: str, *, begins_with_name: bool) -> tuple[str, ...]:
    """The first words of a sentence that are no names and no numbers: what it has of its kind."""
    names = {word for name in claims(text) for word in words(name)}
    found = [word for word in words(text) if word not in names and word.isalpha()]
    return tuple(found[begins_with_name:][:_PATTERN_WORDS])


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
