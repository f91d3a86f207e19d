"""Under which category a sentence of a chat is saved, if at all. Pure functions.

What shows it are the cues of `text/cues.*.txt`, whatever the language; here is only how they weigh.
"""

from __future__ import annotations

import re
from itertools import pairwise

from memolith.text.clashes import MONTHS
from memolith.text.cues import Sentence, without_filler
from memolith.text.sentences import claims

# How much a sentence must name (numbers, names) to be a fact by that alone, or with a verb that states it.
_NAMES_ENOUGH = 2.0
_NAMES_SOMETHING = 0.75
_FEWEST, _FEWEST_OF_A_STATEMENT = 2, 4  # words
_SHY = {"may", "march"}  # verbs too
_SHORT, _SHORT_WITH_NAMES = 8, 3  # words; longer ones have something to say as well
# Of two that belong together, that of the first of these.
CATEGORIES = ("decision", "preference", "note", "learned", "fact")
_CLOCK_OR_YEAR = re.compile(r"\b\d{1,2}:\d\d\b|\b\d{1,2} ?(?:am|pm|uhr|h)\b|\b(?:19|20)\d\d\b")
_IN_A_FILE = re.compile(r"\b(?:lines?|steps?|zeilen?|schritt|lineas?|paso) \d")
_MOST_CHARS = 600
_LONGEST_QUESTION = 120  # characters
_LONGEST_ANSWER = 8  # words


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
    if Sentence(sentence).begins("hypothetical"):  # «Si hubiéramos …»: elsewhere, «si» fills
        return ""
    kind = _kind(said)
    if sentence.rstrip().endswith("?") and not _is_open_question(said, kind):
        return ""  # «Maybe we could go by train?»
    return _of_user(said, kind, named) if by_user else _of_agent(said, kind, named)


def _is_open_question(said: Sentence, kind: str) -> bool:
    """«Pending: who translates it?» is open; «how many tickets are pending?» is asked of the agent."""
    return kind == "note" and said.says("open") and not said.begins("asks")


def _of_user(said: Sentence, kind: str, named: float) -> str:
    if said.begins("request") and kind != "note":
        return "preference" if said.says("standing") else ""
    return kind or ("fact" if _is_fact(said, named) else "")


def _of_agent(said: Sentence, kind: str, named: float) -> str:
    """What an agent likes, plans or suggests is no preference, no decision and no fact of the user."""
    if kind == "preference" or (kind == "decision" and _is_of_the_agent(said)):
        return ""
    if said.begins("request") or said.says("suggests") or said.says("plans"):
        return ""
    # What it knows of the world or just saw is no memory; what it tells the user of theirs may be.
    is_of_user = said.says("together") and not _is_of_the_moment(said)
    return kind or ("fact" if named >= _NAMES_ENOUGH and is_of_user else "")


def denies(sentence: str) -> bool:
    """Whether somebody says that something was not decided.

    >>> denies("We never agreed on that."), denies("We decided not to."), denies("Not decided yet.")
    (True, False, False)
    """
    return _is_denied(Sentence(sentence))


def asks(sentence: str) -> bool:
    """Whether an agent asks for something to know, and does not offer to do it: «When is it?»."""
    said = Sentence(sentence)
    is_question = sentence.endswith("?") and len(sentence) <= _LONGEST_QUESTION
    return is_question and not (said.says("plans") or said.says("suggests") or said.says("offers"))


def is_answer(sentence: str) -> bool:
    """Whether it says something only to whoever knows the question: «On 3 June.», «no, 30 hours a week».

    >>> is_answer("On 3 June."), is_answer("We move on 3 June."), is_answer("show me 3 of them")
    (True, False, False)
    """
    said = Sentence(without_filler(sentence))
    if len(said.words) > _LONGEST_ANSWER or sentence.endswith("?") or said.begins("request"):
        return False
    is_whole = said.says("states") or said.begins("of mine") or _kind(said)
    return not (is_whole or said.begins("life") or _is_of_the_moment(said) or said.begins("we"))


def may_be_corrected(sentence: str) -> bool:
    """Whether it says something that a later sentence may correct, even if it is not saved by itself."""
    said = Sentence(without_filler(sentence))
    is_talk = len(said.words) < _FEWEST or _is_chatter(said, _names(said, sentence))
    return not (is_talk or sentence.rstrip().endswith("?"))


def states_anew(sentence: str) -> bool:
    """Whether a correction says how something is: «sorry, she turns 75», and not «no, the other one»."""
    return Sentence(sentence).says("states")


def assents(message: str) -> bool:
    """Whether somebody says yes to what was said before.

    >>> assents("Great, do that."), assents("ok but not yet"), assents("show me the diff first")
    (True, False, False)
    """
    said = Sentence(message)
    return said.begins("assents", in_any=True) and not said.begins("reservation", in_any=True)


def _kind(said: Sentence) -> str:
    """What its cues make of it; "" if there are none, or if a decision is only denied or told of others."""
    decided = said.says("decision") or (said.says("turns") and not said.begins("life"))
    if _is_denied(said):
        return ""
    if said.says("open") or (said.says("undecided") and (decided or said.says("proposal"))):
        return "note"
    if decided:
        return "decision" if not said.says("reported") else ""
    if said.says("preference"):
        return "preference" if not said.says("born") else "fact"
    return "learned" if said.says("insight") else ""


def _is_denied(said: Sentence) -> bool:
    return said.says("denied") and not said.says("still")


def _is_chatter(said: Sentence, named: float) -> bool:
    most = _SHORT_WITH_NAMES if named else _SHORT
    return len(said.words) <= most and said.begins("chatter")


def _is_of_the_agent(said: Sentence) -> bool:
    return said.says("agent") and not said.says("together")


def _is_fact(said: Sentence, named: float) -> bool:
    if _is_denied(said) or (said.says("reported") and named < _NAMES_ENOUGH):
        return False  # what others claim must tell more
    is_mine = said.begins("of mine")
    if said.says("undecided") or (not is_mine and _is_of_the_moment(said)):
        return False  # «I see 3 errors»: of no use tomorrow
    if named >= _NAMES_ENOUGH or said.begins("life"):
        return True
    is_long = len(said.words) >= _FEWEST_OF_A_STATEMENT
    if is_long and (is_mine or said.says("correction") or said.says("every time")):
        return True
    is_anchored = _is_dated(said) or said.says("amount")
    if said.says("states"):
        return is_anchored or named >= _NAMES_SOMETHING
    # Other verbs may tell of the work at hand: then a name alone is enough only of what «we» do.
    is_ours = named >= _NAMES_SOMETHING and said.begins("we")
    return is_long and said.begins("subject") and (is_anchored or is_ours)


def _is_of_the_moment(said: Sentence) -> bool:
    """Whether it tells what somebody sees, tries or feels right now."""
    return said.says("moment") or said.says("passing") or bool(_IN_A_FILE.search(said.plain))


def _is_dated(said: Sentence) -> bool:
    return (
        said.says("days")
        or _CLOCK_OR_YEAR.search(said.plain) is not None
        or bool(MONTHS.intersection(said.words) - _SHY)
    )


def _names(said: Sentence, sentence: str) -> float:
    """How much it names: numbers, and names, of which three are enough."""
    text = sentence[:_MOST_CHARS]  # with its filler: behind it, a capital is a name
    found = claims(text)
    numbers = sum(name[:1].isdigit() for name in found)
    names = len(found) - numbers
    if any("before names" in language.sections for language in said.languages):
        names = min(names, _behind_telling_words(said, text.split()))
    dated = bool(numbers and MONTHS.intersection(said.words))  # «on 5 September»
    return min(numbers + dated, 2) + 0.75 * min(names, 3)


def _behind_telling_words(said: Sentence, words: list[str]) -> int:
    """How many names there are where every noun has a capital: those behind «in», «Frau», «heißt», and NATS."""
    return sum(
        word[:1].isupper() and (said.knows("before names", before) or word[1:2].isupper())
        for before, word in pairwise(words)
    )
