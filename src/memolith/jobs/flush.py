"""Before turns are lost: what of them is worth keeping, and is not known yet. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memolith.jobs.chat import Said
from memolith.jobs.units import (
    LONGEST,
    LONGEST_PAIR,
    Unit,
    answer,
    correct,
    retract,
    take_back,
    values_of,
)
from memolith.jobs.worth_saving import asks, assents, category_of, denies, is_answer
from memolith.text.cut import cut
from memolith.text.host_text import own_text
from memolith.text.leaning import corrects, leans
from memolith.text.open_secrets import surely_holds_secret
from memolith.text.quotation import without_recalled
from memolith.text.sentences import sentences

_ECHOES = 8  # messages
_BARE_CORRECTION = 3  # words: «No wait.»


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A sentence worth keeping, with those that belong to it; the category, and who said it."""

    text: str
    category: str
    by_user: bool
    said: datetime | None = None


def extract(messages: Iterable[Said]) -> Iterator[Finding]:
    """What is worth keeping, in the order in which it was said; nothing that was recalled before."""
    chat = list(messages)
    for unit in _units(chat):
        if unit.category and (unit.by_user or _may_count(unit, chat)):
            text = " ".join(cut(unit.text, LONGEST).text.split())
            said = chat[unit.message].at
            yield Finding(text=text, category=unit.category, by_user=unit.by_user, said=said)


def _may_count(unit: Unit, chat: Sequence[Said]) -> bool:
    """Whether what an agent said counts: that «we decided», only if the user agrees to it.

    They do in the next message, or did when the agent had asked. A fact counts if it is no echo.
    """
    at = unit.message
    if unit.category == "fact":
        heard = [said.text for said in chat[max(0, at - _ECHOES) : at] if said.by_user]
        return not values_of(unit.text) <= values_of(" ".join(heard))
    if unit.category != "decision":
        return True
    after = chat[at + 1 : at + 2]
    asked, before = (chat[at - 2 : at - 1], chat[at - 1 : at]) if at >= 2 else ((), ())
    return any(said.by_user and assents(said.text) for said in after) or (
        any(not said.by_user and "?" in said.text[-200:] for said in asked)
        and any(said.by_user and assents(said.text) for said in before)
    )


def _units(messages: Iterable[Said]) -> list[Unit]:
    units: list[Unit] = []
    question = ""  # the last of the agent's message before
    waits: Unit | None = None  # what was taken back, and nothing was said in its place yet
    withdrawn: Unit | None = None  # what was let go just before
    for number, said in enumerate(messages):
        is_secret = False
        found = list(sentences(own_text(without_recalled(said.text))))
        for sentence in found:
            is_correction = corrects(sentence)
            follows = is_correction or leans(sentence)
            is_secret = _is_secret(sentence, question) or (is_secret and follows)
            if is_secret:  # and what leans on it
                continue
            category = category_of(sentence, by_user=said.by_user)
            unit = Unit(text=sentence, category=category, by_user=said.by_user, message=number)
            if said.by_user and denies(sentence):
                retract(units, unit)
            if waits is not None and said.by_user and sentence == found[0] and category:
                waits.add(sentence, category)  # «No wait.», and then what holds
                waits = None
                continue
            if said.by_user and (withdrawn := take_back(units, unit, withdrawn)):
                continue
            if corrected := correct(units, unit, is_cued=is_correction):
                is_bare = len(sentence.split()) <= _BARE_CORRECTION and not values_of(sentence)
                waits = corrected if is_bare else None
                continue
            if sentence == found[0] and _is_answered(units, unit, question):
                continue
            if not _goes_with_the_one_before(units, unit):
                units.append(unit)
        last = found[-1] if found and not said.by_user else ""
        question = last if last.endswith("?") and len(last) < LONGEST_PAIR else ""
    return units


def _is_answered(units: list[Unit], said: Unit, question: str) -> bool:
    """Save a short answer with what the agent asked; with what it offered, only if it tells something."""
    if not question or not is_answer(said.text):
        return False
    if asks(question):
        answer(units, said, question)
    elif said.category:
        units.append(replace(said, text=f"{question} {said.text}"))  # «Yes, from 3 to 5 June.»
    else:
        return False
    return True


def _goes_with_the_one_before(units: Sequence[Unit], said: Unit) -> bool:
    """Put a sentence that leans on the one before it in the same message to that, if there is room."""
    before = units[-1] if units and units[-1].message == said.message else None
    if before is None or not said.category or not leans(said.text):
        return False
    fits = len(before.text) + len(said.text) < LONGEST_PAIR
    if fits:
        before.add(said.text, said.category)
    return fits


def _is_secret(sentence: str, question: str) -> bool:
    """Whether it holds a secret, by itself or as what was asked for: «What is the password?»."""
    as_asked = f"{question.rstrip(' ?')}: {sentence}" if question else sentence
    return surely_holds_secret(sentence) or surely_holds_secret(as_asked)
