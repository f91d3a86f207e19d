"""Which sentences cannot be told alone: they lean on the one before, or say that it does not hold.

«Took 48 hours.», «Instead she will ask Ben.», «Rebooked to Monday.»: told alone nobody knows of what. And «The
quote is 2,350 euros.» is false if «Actually it's 2,450.» follows. Cues of both stand in `cues.*.txt`. What has no
verb of its own or only denies shows by its form: «Booking code K7Q2.», «Stimmt doch nicht.»
"""

from __future__ import annotations

import re
from enum import IntEnum

from memolith.text.cues import Sentence, languages, without_filler
from memolith.text.folding import fold
from memolith.text.sentences import claims, matters, worth
from memolith.text.similarity import NEGATIONS

# «Rebooked to Monday», «Behoben in 3.2», «Aplazado al lunes»: what was done, and not who did it or to what.
_NO_SUBJECT = re.compile(
    r"[a-z]{2,20}ed (?:to|for|from|by|on|at|in|with|the|it|them|a|an|about|into|until|and|because|him|her|us|me|my|our)\b|"
    r"(?:\w{2,8}ge|ge|be|ver|er|ent|zer)[a-z]{2,16}(?:t|en) (?:in|im|am|an|auf|bei|beim|mit|durch|von|vom|zum|zur|fur|um|nach|weil|ab|"
    r"bis|seit|wegen|ohne|und|(?:hat|ist|war|wurde) (?:es|das|sie|er))\b|"
    r"[a-z]{3,16} (?:until|till|bis|hasta) (?:[a-z]{1,4} )?\d|"
    r"[a-z]{2,16}[ai]d[oa]s? (?:en|a|al|por|con|para|de|del|hasta|desde|el|la|y|porque)\b"
)
# What cannot be understood without the sentence before it.
_PRONOUN = re.compile(
    r"(?:it|its|this|that|these|those|he|she|they|his|her|their|so|therefore|decision by|lo|le|les|se|eso|esto|"
    r"ell[oa]s?|por eso|asi que|entonces)\b"
)
# «Ask Theo for it.»
_PRONOUN_LAST = re.compile(
    r"\b(?:it|them|him|her|this|that|davon|damit|dafur|dazu|daran|darum|ihn|ihm)\W*$"
)
_PART = re.compile(
    r"(?:the )?(?:fix|result|solution)(?: is| was)\b|fixed in\b|to ?do:|ask \w+ (?:when|if)\b|"
    r"(?:el |la )?(?:arreglo|solucion|resultado) (?:es|era|fue|esta)\b|pendiente:|"
    r"(?:die )?losung (?:ist|war)\b"
)
# «Sonst war nichts.» denies nothing that was said.
_DENIALS = NEGATIONS - set("nothing none without nada nadie sin nichts ohne".split())
_FRAGMENT, _DENIAL, _SHORT, _LEANS_UP_TO = 3, 5, 6, 12  # words
_TELLING = 2.0  # worth of a sentence that would be chosen without the one it leans on
_LABEL = re.compile(r"[^\s:.!?][^:.!?\n]{0,30}:\s+\S")
_LONGEST_LABELLED = 120


def leans(sentence: str) -> bool:
    """Whether nobody knows what it is about who has not read the one before.

    >>> leans("Instead she will ask Ben."), leans("Rebooked to Monday."), leans("Ana paid Ben.")
    (True, True, False)
    """
    said = Sentence(without_filler(sentence))
    return said.begins("leans") or said.begins("goes on") or bool(_NO_SUBJECT.match(said.plain))


def corrects(sentence: str) -> bool:
    """Whether it says that what stands before it is otherwise: a value, a day, a plan.

    >>> corrects("Sorry, I meant 6."), corrects("No wait, May 5."), corrects("Sorry to hear that.")
    (True, True, False)
    """
    is_question = sentence.rstrip().endswith("?")  # «Actually, can you book a table for 4?»
    return not is_question and _begins_in_any("corrects", sentence)


def withdraws(sentence: str) -> bool:
    """Whether it says that what stands before it does not hold, and nothing in its place.

    >>> withdraws("Scratch that."), withdraws("Forget it, I was joking."), withdraws("Scratch that, at 6.")
    (True, True, False)
    """
    return _begins_in_any("withdraws", sentence) or (
        _begins_in_any("lets go", sentence) and _says_in_any("unsays", sentence)
    )


def settles(sentence: str) -> bool:
    """Whether what stands before it need not be done any more: «Never mind, Ben did it already.»."""
    return _begins_in_any("lets go", sentence) and is_settled(sentence)


def is_settled(sentence: str) -> bool:
    """Whether it says that something is done or need not be: «Ben did it already.»."""
    return _says_in_any("settled", sentence)


def _says_in_any(section: str, sentence: str) -> bool:
    plain = Sentence(sentence).plain
    return any(language.says(section, plain) for language in languages())


def _begins_in_any(section: str, sentence: str) -> bool:
    """With its filler or without: «Oh, typo», «Yes, so vegan really»."""
    return any(
        Sentence(text).begins(section, in_any=True) for text in (sentence, without_filler(sentence))
    )


def takes_back(sentence: str) -> bool:
    """Whether what stands before it does not hold as it stands there.

    >>> takes_back("Stimmt doch nicht."), takes_back("Ben made that up."), takes_back("Ben paid.")
    (True, True, False)
    """
    said = Sentence(sentence)
    return (
        corrects(sentence)
        or said.begins("takes back")
        or _says_in_any("unsays", sentence)
        or (len(said.words) <= _LEANS_UP_TO and said.says("points back"))
        or (len(said.words) <= _DENIAL and _denies(said) and not claims(sentence))
    )


def _denies(said: Sentence) -> bool:
    return not _DENIALS.isdisjoint(word.replace("'", "") for word in said.words)


class Bond(IntEnum):
    """What binds a sentence to the one before."""

    NONE = 0
    BEHIND = 1  # it is told behind it or not at all
    TOGETHER = 2  # both are told, or neither


def bond(sentence: str, before: str) -> Bond:
    """What binds a sentence to the one before.

    >>> bond("No, in autumn.", "Do we renew?").name, bond("Seat 12A.", "We fly to Rome.").name
    ('TOGETHER', 'BEHIND')
    """
    if _PART.match(fold(sentence)) or is_listed_with(sentence, before):
        return Bond.TOGETHER
    is_leaning = is_no_sentence_of_its_own(sentence)
    tells = is_leaning and (worth(sentence) >= _TELLING or matters(sentence))
    if tells or changes(sentence, before):
        return Bond.TOGETHER
    return Bond.BEHIND if is_leaning else Bond.NONE


def changes(sentence: str, before: str) -> bool:
    """Whether the sentence before says something else without this one: it takes it back, answers, or comments on it.

    >>> changes("Ben vetoed that on Monday.", "We ship."), changes("Ben paid on Monday.", "We ship.")
    (True, False)
    """
    is_short = len(sentence.split()) <= _SHORT and matters(sentence) and not claims(sentence)
    return is_short or takes_back(sentence) or answers(sentence, before) or _is_comment(sentence)


def answers(sentence: str, before: str) -> bool:
    """Whether it is short and stands behind a question."""
    return before.endswith("?") and len(sentence.split()) <= _LEANS_UP_TO


def is_no_sentence_of_its_own(sentence: str) -> bool:
    """Whether it speaks of what was said before, goes on with it, or lacks what a sentence has."""
    return leans(sentence) or is_about_before(sentence) or _is_fragment(sentence)


def _is_fragment(sentence: str) -> bool:
    """Whether it is a number with its name, or a comment: «Seat 12A.», «Took ages.»"""
    has_number = any(map(str.isdigit, sentence))
    return len(sentence.split()) <= _FRAGMENT if has_number else _is_comment(sentence)


def _is_comment(sentence: str) -> bool:
    """Whether it has two words at most, none of them a name or a number, and is no small talk: «Todo mentira.»"""
    return len(sentence.split()) < _FRAGMENT and not claims(sentence) and worth(sentence) > 0


def is_about_before(sentence: str) -> bool:
    """Whether a short sentence begins with a word that stands for something said before, or a shorter one ends so."""
    plain, length = fold(sentence), len(sentence.split())
    return length <= _LEANS_UP_TO and bool(
        _PRONOUN.match(plain) or (length <= _SHORT and _PRONOUN_LAST.search(plain))
    )


def is_listed_with(sentence: str, before: str) -> bool:
    """Whether both are entries of one list, or the first announces the second: «Budget: 40k», «Owner: Ana».

    >>> is_listed_with("Owner: Ana", "Budget: 40k EUR"), is_listed_with("Owner: Ana", "Notes:")
    (True, True)
    """
    return before.endswith(":") or (_is_entry(sentence) and _is_entry(before))


def _is_entry(sentence: str) -> bool:
    return len(sentence) <= _LONGEST_LABELLED and _LABEL.match(sentence) is not None
