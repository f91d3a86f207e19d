"""Under which category a sentence of a chat is saved, if at all. Pure functions.

What shows it are the cues of `text/cues.*.txt`, whatever the language; here is only how they weigh.
"""

from __future__ import annotations

import re
from itertools import pairwise

from memolith.text.cues import Sentence, without_filler
from memolith.text.sentences import claims

# How much a sentence must name (numbers, names) to be a fact by that alone, or with a verb that states it.
_NAMES_ENOUGH = 2.0
_NAMES_SOMETHING = 0.75
_FEWEST, _FEWEST_OF_A_CORRECTION = 2, 4  # words
_SHORT, _SHORT_WITH_NAMES = 8, 3  # words; longer ones have something to say as well
# Of two that belong together, that of the first of these.
CATEGORIES = ("decision", "preference", "note", "learned", "fact")
_CLOCK = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|h)\b")
_MOST_CHARS = 600


def category_of(sentence: str, *, by_user: bool) -> str:
    """The category to save it under; "" for small talk, questions, requests and an agent's own plans.

    >>> category_of("My sister Marta lives in Oulu.", by_user=True)
    'fact'
    >>> category_of("Wir haben uns für Postgres entschieden.", by_user=True)
    'decision'
    >>> category_of("I will use tabs.", by_user=False)
    ''
    """
    said = Sentence(without_filler(sentence))
    named = _names(said, sentence) if len(said.words) >= _FEWEST else 0.0
    if len(said.words) < _FEWEST or _is_chatter(said, named):
        return ""
    kind = _kind(said)
    if sentence.rstrip().endswith("?") and not (kind == "note" and said.says("open")):
        return ""  # «Maybe we could go by train?»
    if by_user:
        if said.begins("request") and kind != "note":
            return "preference" if said.says("standing") else ""
        return kind or ("fact" if _is_fact(said, named) else "")
    if kind == "preference" or (kind == "decision" and _is_of_the_agent(said)):
        return ""  # what an agent likes or will do is no preference and no decision of the user
    return kind or ("fact" if named >= _NAMES_ENOUGH else "")


def _kind(said: Sentence) -> str:
    """What its cues make of it; "" if there are none."""
    decided = said.says("decision") or (said.says("turns") and not said.begins("life"))
    if said.says("open") or (said.says("undecided") and (decided or said.says("proposal"))):
        return "note"
    if decided:
        return "decision"
    if said.says("preference"):
        return "preference" if not said.says("born") else "fact"
    return "learned" if said.says("insight") else ""


def _is_chatter(said: Sentence, named: float) -> bool:
    most = _SHORT_WITH_NAMES if named else _SHORT
    return len(said.words) <= most and said.begins("chatter")


def _is_of_the_agent(said: Sentence) -> bool:
    return said.says("agent") and not said.says("together")


def _is_fact(said: Sentence, named: float) -> bool:
    if named >= _NAMES_ENOUGH or said.begins("life"):
        return True
    if len(said.words) >= _FEWEST_OF_A_CORRECTION and said.says("correction"):
        return True
    on_a_day = said.says("days")
    if on_a_day and _CLOCK.search(said.plain):
        return True
    return (on_a_day or named >= _NAMES_SOMETHING) and said.says("states")


def _names(said: Sentence, sentence: str) -> float:
    """How much it names: numbers, and names, of which three are enough."""
    text = sentence[:_MOST_CHARS]  # with its filler: behind it, a capital is a name
    found = claims(text)
    numbers = sum(name[:1].isdigit() for name in found)
    names = len(found) - numbers
    if any("before names" in language.sections for language in said.languages):
        names = min(names, _behind_telling_words(said, text.split()))
    return min(numbers, 2) + 0.75 * min(names, 3)


def _behind_telling_words(said: Sentence, words: list[str]) -> int:
    """How many names there are where every noun has a capital: those behind «in», «Frau», «heißt»."""
    return sum(
        word[:1].isupper() and said.knows("before names", before)
        for before, word in pairwise(words)
    )
