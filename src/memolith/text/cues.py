"""Cues: the words by which a sentence shows what it is, from `cues.*.txt`, one file for each language."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.names import names_and_numbers
from memolith.text.tables import read_lists
from memolith.text.tokens import fold

LANGUAGES = ("en", "es", "de")
CATEGORIES = {"open": "note", "deadline": "decision", "insight": "learned"}  # of records, by kind
# What weighs most comes first: a sentence that is several things is the first of them.
_WEIGHTS = {"open": 2.0, "deadline": 3.5, "decision": 3.0, "preference": 3.0, "insight": 2.0}
_MAX_CHARS = 600
_SMALL_TALK_WORDS, _WITH_NAMES = 8, 3  # a longer sentence has something to say as well
_SIGNS = str.maketrans({"*": r"[\w-]*", "_": r"[\w-]+"})
_NUMBER = re.compile(r"\d")


def plain(sentence: str) -> str:
    """A sentence as cues are compared with it: folded, without apostrophes.

    >>> plain("Don’t  ask, Ana!")
    'dont ask, ana!'
    """
    return " ".join(fold(sentence[:_MAX_CHARS]).replace("'", "").split())


def says(section: str, sentence: str) -> bool:
    """Whether a cue of this section is in a sentence."""
    return expression(section).search(plain(sentence)) is not None


def begins(section: str, sentence: str) -> bool:
    """Whether a sentence begins with a cue of this section."""
    return expression(section).match(plain(sentence).lstrip("!? -\"'(")) is not None


@lru_cache(maxsize=10_000)
def kind_of(sentence: str) -> str:
    """What a sentence is about: open, deadline, decision, preference, insight, or "".

    >>> kind_of("We agreed on Friday"), kind_of("Ana prefers tea"), kind_of("It rained")
    ('decision', 'preference', '')
    """
    if sentence.rstrip().endswith("?"):
        return "open" if says("open", sentence) and not begins("moment", sentence) else ""
    return next((kind for kind in _WEIGHTS if says(kind, sentence)), "")


def matters(sentence: str) -> bool:
    """Whether a summary should not leave it out: a deadline, a decision, a wish, something still open."""
    return kind_of(sentence) not in ("", "insight")


def is_small_talk(sentence: str) -> bool:
    """Whether it says nothing: a greeting, thanks, a word of assent.

    >>> is_small_talk("Thanks, sounds good!"), is_small_talk("Thanks to Ana we have 3 rooms")
    (True, False)
    """
    words = sentence.split()
    if not any(char.isalnum() for char in sentence):
        return True
    if _NUMBER.search(sentence):
        return False
    if 1 < len(words) <= _WITH_NAMES and all(map(is_small_talk, words)):
        return True  # "lol ok thanks"
    if begins("talk", sentence):
        return not matters(sentence)
    if not begins("small talk", sentence):
        return False
    says_more = names_and_numbers(sentence) or matters(sentence)
    return len(words) <= (_WITH_NAMES if says_more else _SMALL_TALK_WORDS)


@lru_cache(maxsize=10_000)
def importance(sentence: str) -> float:
    """How much a sentence says: 0 for small talk; decisions, wishes, numbers and names count.

    >>> importance("Thanks, sounds good!")
    0.0
    >>> importance("Ana decided to ship on 12 May.") > importance("We talked about many plans today.")
    True
    """
    if is_small_talk(sentence):
        return 0.0
    found = names_and_numbers(sentence)
    numbers = sum(name[:1].isdigit() for name in found)
    value = 1 + min(numbers, 2) + 0.75 * min(len(found) - numbers, 3)
    kind = kind_of(sentence)
    value += _WEIGHTS.get(kind, 0.0)
    if sentence.endswith("?") or (begins("request", sentence) and kind != "preference"):
        value -= 2
    if len(sentence.split()) < 3 and len(sentence) < 12:
        value -= 1
    return max(0.25, value)


def without_filler(sentence: str) -> str:
    """A sentence without filler at its beginning, if a comma or dash parts it from the rest.

    >>> without_filler("Okay, Ana moved"), without_filler("Okay, the build is red")
    ('Ana moved', 'Okay, the build is red')
    """
    rest = sentence
    while (found := _filler().match(rest)) is not None:
        rest = rest[found.end() :]
    return rest if not rest[:1].islower() or sentence[:1].islower() else sentence


@cache
def _filler() -> re.Pattern[str]:
    words = sorted(entries("filler"), key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(words)})\s?[,.!:;–—-][\s,.!–—-]*(?=\w)", re.IGNORECASE)


@cache
def expression(section: str, table: str = "cues") -> re.Pattern[str]:
    """An expression that finds each cue of a section, in whichever language, in a folded text."""
    cues = (_with_dates(fold(cue.replace("'", ""))) for cue in entries(section, table))
    parts = (cue.translate(_SIGNS).replace(r"\[\w-]*", r"\*") for cue in cues)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(parts)})(?![\w-])")


def _with_dates(cue: str) -> str:
    return cue.replace("<month>", "|".join(MONTHS)).replace("<weekday>", "|".join(WEEKDAYS))


@cache
def entries(section: str, table: str = "cues") -> tuple[str, ...]:
    """What is listed in a section, of all languages."""
    return tuple(
        one for name in LANGUAGES for one in read_lists(f"{table}.{name}.txt").get(section, ())
    )
