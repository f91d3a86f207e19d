"""What a question asks for: its words with their stems and synonyms, and the days it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache

from memolith.config.sections import SearchConfig
from memolith.text.dates import LIKELY, DayRange, find_days, without_days
from memolith.text.synonyms import (
    TRANSLATION,
    Synonyms,
    add_joined,
    built_in,
    choices,
    glosses,
    own_words,
    with_halves,
)
from memolith.text.tables import read_lists, read_words
from memolith.text.terms import StopWords, is_stop_word, keywords, language_of, of_days, stems
from memolith.text.tokens import MARKS, fold, is_pair, words

# A question is not a document: beyond this nothing more is learned, and it only takes time.
MOST_CHARS = 8_000
MOST_WORDS = 32
# The index is asked about each of the days: a list of hundreds, in a pasted log, would take seconds.
MOST_DAYS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryPlan:
    """A question, understood."""

    text: str
    meant: str  # what is embedded: the text, and the user's own words for what it says
    own: Mapping[str, str]  # each of these, and the word it replaces
    asked: Sequence[str]  # its words that say what it is about
    words: Sequence[Mapping[str, float]]  # for each word the terms it may stand under, with weights
    days: tuple[DayRange, ...] = ()
    phrases: tuple[tuple[str, ...], ...] = ()  # what must stand in a hit, word for word
    names: frozenset[str] = frozenset()  # first names: they are only themselves


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """How questions are to be understood."""

    synonyms: Synonyms | None = None  # the user's own
    stop_words: StopWords = field(default_factory=StopWords)
    config: SearchConfig = field(default_factory=SearchConfig)


_SHORT = 8


@cache
def _words_of(section: str) -> frozenset[str]:
    return frozenset(read_lists("question_words.txt")[section])


def _subjects(text: str, days: Sequence[DayRange], today: date) -> list[str]:
    """What a question is about besides its days; nothing, if it only asks what was on them.

    "What happened yesterday?" does, and so does "what did I write down today?"; a mention of today or
    tomorrow elsewhere mostly has another subject.
    """
    asked = keywords(with_halves(without_days(text, days)))
    past = [found for found in days if found.last < today]
    if not _words_of("past").isdisjoint(asked):
        past = [found for found in days if found.first <= today]
    if not days or len(past) < len(days):
        return asked
    if all(word in of_days() or is_stop_word(word) for word in asked):
        return []
    if len(asked) > _SHORT:  # a long message tells something
        return asked
    return [word for word in asked if word not in of_days()]


# A time of the clock is named for what is to come: who asks about the past has forgotten it.
_AT_A_TIME = re.compile(
    r"\b(?:at|a las?|um) (?:\d|half|noon|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"|\b\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|\b(?:will|going to|let's|shall|voy a|vamos a)\b",
    re.IGNORECASE,
)


def _is_ahead(text: str) -> bool:
    """Whether somebody wants something done, or names a time for it: a weekday in it is one to come.

    >>> _is_ahead("Please book a table for two on Friday"), _is_ahead("please say what we did on Friday")
    (True, False)
    >>> _is_ahead("I meet the dentist on Friday at 10"), _is_ahead("when did we meet on Friday, at 10?")
    (True, False)
    """
    said = set(words(text))
    is_ahead = not said.isdisjoint(_words_of("request")) or bool(_AT_A_TIME.search(text))
    return is_ahead and said.isdisjoint(_words_of("past") | _words_of("told or shown"))


def _said(text: str, named: Sequence[DayRange], today: date) -> tuple[DayRange, ...]:
    """The days that are asked for; a doubtful date counts if nothing else is said: *november*, *lately*.

    A message about what is to come does not ask about the days before.
    """
    if _is_ahead(text):
        named = [found for found in named if found.last >= today]
    said = tuple(found for found in named if found.confidence >= LIKELY)
    if said or not named:
        return said
    sure = tuple(replace(found, confidence=LIKELY) for found in named)
    rest = words(without_days(text, sure))
    return sure if all(word in of_days() or is_stop_word(word) for word in rest) else ()


def _surest(days: Sequence[DayRange]) -> tuple[DayRange, ...]:
    """The surest, each range once."""
    found: dict[tuple[date, date], DayRange] = {}
    for named in sorted(days, key=lambda named: -named.confidence):
        found.setdefault((named.first, named.last), named)
    return tuple(found.values())[:MOST_DAYS]


def unread(question: str) -> str:
    """What is said of a question that is longer than what is read of it, or without words; "" for most."""
    if not words(question[:MOST_CHARS]):
        return "There is nothing to search for: give at least one word."
    if len(question) > MOST_CHARS:
        return f"The question has {len(question):,} characters; the first {MOST_CHARS:,} were read."
    if len(question) > 2 * MOST_WORDS and (count := len(keywords(question))) > MOST_WORDS:
        return f"Of the {count:,} telling words of the question the first {MOST_WORDS} were looked for."
    return ""


def _with_glosses(
    found: Mapping[str, Mapping[str, float]], english: Iterable[tuple[str, Sequence[str]]]
) -> dict[str, Mapping[str, float]]:
    """Words and their terms: Chinese ones by their translations, not as pairs of characters."""
    result = {word: terms for word, terms in found.items() if not is_pair(word)}
    for chinese, translations in english:
        stemmed = {stems(word)[0]: TRANSLATION for word in translations}
        for part in words(chinese):
            result.setdefault(part, {**stemmed, part: 1.0})
    return result


def plan(question: str, today: date, reader: Reader | None = None) -> QueryPlan:
    """Understand a question. Any text is a question; one without words finds nothing by words."""
    reader = reader or Reader()
    config, text = reader.config, question[:MOST_CHARS]
    said = _said(text, find_days(text, today) if config.dates else (), today)
    spoken = words(text)
    asked = list(dict.fromkeys(words(with_halves(text))))
    if config.stop_words:
        asked = _subjects(text, said, today)
    asked = reader.stop_words.applied(asked, spoken)[:MOST_WORDS]
    language = language_of(spoken)
    names = first_names(text, alone=len(asked) == 1)
    extra = reader.synonyms if config.synonyms else None
    own = own_words(asked, language, extra)
    terms = choices(asked, language=language, extra=extra, names=names, widen=config.synonyms)
    add_joined(terms, asked, spoken)
    found: Mapping[str, Mapping[str, float]] = dict(zip(asked, terms, strict=True))
    if config.synonyms and (english := glosses(text)):
        found = _with_glosses(found, english)
        for chinese, translations in english:
            own |= dict.fromkeys(translations, words(chinese)[-1])
    return QueryPlan(
        text=text,
        meant=" ".join((text, *own)),
        own=own,
        asked=list(found),
        words=list(found.values()),
        days=_surest(said),
        phrases=phrases_of(text),
        names=names,
    )


# Quoted words must be in the hit, word for word and in this order.

# A mark inside a word opens nothing: 5" and 3" are inches.
_QUOTED = re.compile(
    r'(?<!\w)"([^"\n]{1,200})"(?!\w)|“([^”\n]{1,200})”|«([^»\n]{1,200})»|„([^“”\n]{1,200})[“”]'
)
_MOST_PHRASES = 4
# A message with this many other words mentions a quotation, as chats do; a search
# for a quotation has few others.
_LONG = 25


def phrases_of(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each quotation; case and accents do not count, stop words do.

    In a long message nothing is demanded: its quotations count as words, like all it says.

    >>> phrases_of('who said "Hasta mañana" and «to be»?')
    (('hasta', 'manana'), ('to', 'be'))
    """
    found = (tuple(words("".join(one.groups(default="")))) for one in _QUOTED.finditer(question))
    phrases = tuple(dict.fromkeys(phrase for phrase in found if phrase))
    if phrases and len(words(_QUOTED.sub(" ", question))) > _LONG:
        return ()
    return phrases[:_MOST_PHRASES]


# Which words of a question are first names: they mean nobody else, in no language.


@cache
def _first_names() -> frozenset[str]:
    return frozenset(map(fold, read_words("first_names.txt"))) | _words_of("names or words")


def first_names(text: str, *, alone: bool = False) -> frozenset[str]:
    """The first names in a question, folded, however they are written.

    A name that is also a word needs a capital, unless it is alone: nothing else is asked for.

    >>> sorted(first_names("¿Dónde vive Clara, y qué hace Pilar?"))
    ['clara', 'pilar']
    >>> sorted(first_names("Will the clara of marta be used?"))
    ['marta']
    """
    found = set()
    for at, stretch in enumerate(text.split()):
        word = stretch.strip(MARKS).removesuffix("'s").removesuffix("\u2019s")
        name = fold(word)
        is_capital = word[:1].isupper() and (at > 0 or name not in _words_of("names or words"))
        if name in _first_names() and (is_capital or alone or not is_word_too(name)):
            found.add(name)
    return frozenset(found)


def is_word_too(name: str) -> bool:
    """Whether a first name is another word as well, in some language."""
    return name in _words_of("names or words") or any(name in known for known in built_in().written)
