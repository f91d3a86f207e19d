"""What of a chat is saved together: a sentence, what leans on it, and what corrects it later. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from memolith.jobs.worth_saving import CATEGORIES, may_be_corrected, states_anew
from memolith.text.clashes import DAYS, MONTHS
from memolith.text.cues import languages, listed, plain_sentence
from memolith.text.folding import fold
from memolith.text.leaning import is_settled, leans, settles, withdraws
from memolith.text.stopwords import is_stop_word
from memolith.text.terms import stems
from memolith.text.tokens import words

LONGEST = 500
LONGEST_PAIR = 300
_FARTHEST_BACK = 12  # messages: a correction comes soon, or names what it corrects
_MOST_UNITS = 40
_MOST_HERE = 12
_LONGEST_CORRECTION = 12  # words, of one that does not name what it corrects


@dataclass(slots=True, kw_only=True)
class Unit:
    """Sentences of a chat that are saved together, or not at all (without a category)."""

    text: str
    category: str
    by_user: bool
    message: int

    def add(self, sentence: str, category: str) -> None:
        """One more, which leans on the others or corrects them."""
        ended = self.text if self.text[-1] in ".!?…:;\"'”»)" else f"{self.text}."
        self.text = f"{ended} {sentence}"
        known = [one for one in CATEGORIES if one in (self.category, category)]
        self.category = known[0] if known else ""


def answer(units: list[Unit], said: Unit, question: str) -> None:
    """Save a short answer with the question, and with what the user said before that, if they fit together."""
    text = f"{question} {said.text}"
    category = said.category or ("fact" if values_of(said.text) else "")
    before = [unit for unit in units[-_MOST_HERE:] if unit.message == said.message - 2]
    topic = before[-1] if before and before[-1].by_user and before[-1].category else None
    if topic is not None and category and len(topic.text) + len(text) < LONGEST_PAIR:
        topic.add(text, category)
    else:
        units.append(replace(said, text=text, category=category))


def correct(units: list[Unit], said: Unit, *, is_cued: bool) -> Unit | None:
    """Put a correction to what it corrects, if that is found: in an earlier message, or in the same.

    It shows by its words (`is_cued`), or because it says again with another value what was said before. What
    stands between in one message goes with it, if there is room; what an agent repeated meanwhile is not saved.
    """
    near = units[-_MOST_UNITS:]
    here = [unit for unit in near[-_MOST_HERE:] if unit.message == said.message]
    first = _said_before(near, said) or _replaced(near, said)
    between: list[Unit] = []
    if first is None and is_cued and here:
        first = ([unit for unit in here if unit.category] or here)[-1]
        between = here[here.index(first) + 1 :]
    elif first is None and is_cued:
        first = _earlier(near, said)
    if first is None or len(first.text) + len(said.text) >= LONGEST:
        return None
    for unit in between:
        if len(first.text) + len(unit.text) + len(said.text) < LONGEST_PAIR:
            first.add(unit.text, "")
            units.remove(unit)
    retracted = values_of(first.text)
    category = said.category
    if not (category or first.category) and retracted and states_anew(said.text):
        category = "fact"  # nobody corrects what does not matter
    first.add(said.text, category)
    _drop_echoes(units, first, retracted)
    return first


def take_back(units: Sequence[Unit], said: Unit, withdrawn: Unit | None) -> Unit | None:
    """What the user takes back with this, or took back just before (`withdrawn`) if this belongs to it."""
    if withdrawn is not None and _put_in_place(withdrawn, said):
        return withdrawn
    return _withdraw(units, said)


def _withdraw(units: Sequence[Unit], said: Unit) -> Unit | None:
    """Let go of what the user said last, and of what an agent repeated of it, if this only takes it back.

    Only of the last: «Forget that» behind a request is about the request. And only what was to do is done.
    """
    is_bare = withdraws(said.text)
    if not (is_bare or settles(said.text)) or values_of(said.text):
        return None
    last = next((unit for unit in reversed(units) if unit.by_user and not _is_talk(unit)), None)
    if last is None or not (last.category if is_bare else last.category == "note"):
        return None
    _drop_echoes(units, last, values_of(last.text))
    last.add(said.text, "")
    last.category, last.message = "", said.message  # what leans on it comes behind this
    return last


def _put_in_place(withdrawn: Unit, said: Unit) -> bool:
    """Whether this stands behind a withdrawal and belongs to it: another value, which is saved, or why.

    «The dinner is on Friday. Scratch that. Sunday.»; «We must call Ben. Scratch that. Ana did it already.»
    """
    is_no_whole = not said.category or leans(said.text)
    if is_no_whole and _kinds(said.text) & _kinds(withdrawn.text):
        withdrawn.add(said.text, said.category or "fact")
        return True
    return said.message == withdrawn.message and not values_of(said.text) and is_settled(said.text)


def _drop_echoes(units: Sequence[Unit], first: Unit, retracted: set[str]) -> None:
    for unit in units:
        is_echo = unit.message > first.message and not unit.by_user
        if is_echo and retracted & values_of(unit.text):
            unit.category = ""


def retract(units: Sequence[Unit], said: Unit) -> None:
    """Let go of decisions that the user denies: «We never agreed to ship on Friday»."""
    denied = _telling(said.text)
    for unit in units[-_MOST_UNITS:]:
        if unit.category == "decision" and unit.message < said.message:
            about = _telling(unit.text)
            if len(about) > 1 and about <= denied and values_of(unit.text) <= values_of(said.text):
                unit.category = ""


def _said_before(units: Sequence[Unit], said: Unit) -> Unit | None:
    """The latest of the user's earlier units most of whose words come again, with another value.

    «The dinner is on Friday», and later «oh dear, the dinner is on Saturday»; but invoice 13 is not invoice 12.
    """
    telling, values = _telling(said.text), values_of(said.text)
    if not said.by_user or not values:
        return None
    is_next = leans(said.text)  # «He called, he comes on Thursday», right behind Tuesday
    for unit in reversed(units):
        if unit.by_user and 0 < said.message - unit.message <= _FARTHEST_BACK:
            before, common = _telling(unit.text), _telling(unit.text) & telling
            known = values_of(unit.text)
            is_same = bool(before) and (before <= telling or len(common) * 2 > len(before) > 2)
            is_moved = bool(common and known & values)  # «on Wednesday at 3», instead of Tuesday
            if (is_same or is_moved) and _is_other_value(known, values):
                return unit
            if is_next and known != values and _kinds(unit.text) & _kinds(said.text):
                return unit
            is_next = is_next and _is_talk(unit)
    return None


def _replaced(units: Sequence[Unit], said: Unit) -> Unit | None:
    """The latest of the user's units with what this one puts away: «MySQL instead of Postgres»."""
    rejected = _rejected(said.text) if said.by_user else set()
    for unit in reversed(units if rejected else ()):
        is_near = said.message - unit.message <= _FARTHEST_BACK
        counts = is_near and unit.by_user and unit.category
        if counts and rejected <= _telling(unit.text) | values_of(unit.text):
            return unit
    return None


def _rejected(text: str) -> set[str]:
    """What stands behind «instead of»: the first word that tells, or value."""
    plain = plain_sentence(text)
    for language in languages():
        if match := language.says("instead", plain):
            for word in words(plain[match.end() :]):
                if found := _telling(word) | values_of(word):
                    return found
    return set()


def _is_other_value(one: set[str], other: set[str]) -> bool:
    """Whether values of one kind differ; of several numbers, some must be the same."""
    numbers = [{word for word in some if _kind(word) == "number"} for some in (one, other)]
    if min(map(len, numbers)) > 1 and not numbers[0] & numbers[1]:
        return False
    return one != other and bool(set(map(_kind, one)) & set(map(_kind, other)))


def _earlier(units: Sequence[Unit], said: Unit) -> Unit | None:
    """What of the same speaker's earlier messages a correction is about: what has most in common with it.

    If nothing has, it is about the message before, if that states anything; but «ok» is none.
    """
    before = [unit for unit in units if unit.by_user == said.by_user]
    if not said.by_user or not before:
        return None  # an agent's message corrects only itself
    best, most = None, 0
    for unit in before:
        if said.message - unit.message <= _FARTHEST_BACK and (
            unit.category or may_be_corrected(unit.text)
        ):
            common = _in_common(unit.text, said.text)
            if common and common >= most:
                best, most = unit, common
    if best is not None or len(said.text.split()) > _LONGEST_CORRECTION:
        return best
    told = [unit for unit in before if not _is_talk(unit)] or before
    last = [unit for unit in told if unit.message == told[-1].message]
    stated = [unit for unit in last if unit.category]
    stated = stated or [unit for unit in last if may_be_corrected(unit.text)]
    return stated[-1] if stated else None


def _is_talk(unit: Unit) -> bool:
    is_question = unit.text.rstrip().endswith("?")
    return not (unit.category or is_question or may_be_corrected(unit.text))


def _in_common(one: str, other: str) -> int:
    """How much two sentences have in common: words that tell count double, a value of the same kind once."""
    telling = len(_telling(one) & _telling(other))
    return 2 * telling + bool(_kinds(one) & _kinds(other))


def _telling(text: str) -> set[str]:
    """The stems of its words that are neither small nor values."""
    return {
        stems(word)[0]
        for word in words(text)
        if not (_kind(word) or is_stop_word(word) or word in _small())
    }


def _kinds(text: str) -> set[str]:
    return {kind for kind in map(_kind, words(text)) if kind}


def values_of(text: str) -> set[str]:
    """The numbers and days of a text: what a correction gives anew."""
    return {word for word in words(text) if _kind(word)}


def _kind(word: str) -> str:
    if word in DAYS or word in MONTHS:
        return "day"
    return "number" if word in _numbers() or any(char.isdigit() for char in word) else ""


@cache
def _numbers() -> frozenset[str]:
    return frozenset(map(fold, listed("numbers")))


@cache
def _small() -> frozenset[str]:
    return frozenset().union(*(language.words for language in languages()))
