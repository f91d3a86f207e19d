"""Which sentences cannot be told alone: they lean on the one before, or say that it does not hold.

«Took 48 hours.», «Instead she will ask Ben.», «Rebooked to Monday.»: told alone nobody knows of what. And «The
quote is 2,350 euros.» is false if «Actually it's 2,450.» follows. Cues of both stand in `cues.*.txt`.
"""

from __future__ import annotations

import re

from memolith.text.cues import Sentence, without_filler

# «Rebooked to Monday»: what was done, and not who did it or to what.
_NO_SUBJECT = re.compile(
    r"[a-z]{2,20}ed (?:to|for|from|by|on|at|in|with|the|it|them|a|an|about|into|until|and|because|him|her|us|me|my|our)\b"
)
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
    return Sentence(sentence).begins("corrects", in_any=True)


def takes_back(sentence: str) -> bool:
    """Whether what stands before it does not hold as it stands there."""
    return corrects(sentence) or Sentence(sentence).begins("takes back")


def is_listed_with(sentence: str, before: str) -> bool:
    """Whether both are entries of one list, or the first announces the second: «Budget: 40k», «Owner: Ana».

    >>> is_listed_with("Owner: Ana", "Budget: 40k EUR"), is_listed_with("Owner: Ana", "Notes:")
    (True, True)
    """
    return before.endswith(":") or (_is_entry(sentence) and _is_entry(before))


def _is_entry(sentence: str) -> bool:
    return len(sentence) <= _LONGEST_LABELLED and _LABEL.match(sentence) is not None
