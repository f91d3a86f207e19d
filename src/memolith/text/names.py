"""Names in a text: people, places, products, and numbers; found by how they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.tables import word_list
from memolith.text.terms import is_stop_word
from memolith.text.tokens import fold

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_HANDLE = re.compile(r"(?<![\w.])@[A-Za-z]\w{1,38}|[\w.+-]{1,64}@[\w-]{1,64}\.\w{2,10}")
_SENTENCE_END = re.compile(r"[.!?:;…]\s*$|^\W*$")
# Capitals that name a day, a month or a person speaking, and what sentences often begin with.
_NO_NAMES = word_list("no names")
# «Solved», «Resolving»: with this many more letters before the ending, hardly ever a name.
_PARTICIPLE = re.compile(r"[A-Z][a-z]{3,}(?:ed|ing)")
_NAMES_LIKE_PARTICIPLES = word_list("names like participles")
_DAYS = WEEKDAYS.keys() | MONTHS.keys()
_TITLES = frozenset({"Dr", "Dra", "Mr", "Mrs", "Ms", "Prof", "Sr", "Sra", "St"})
_MOST = 12
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAMED = re.compile(
    r"(?<![.!?…])\s(?:[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'’-]+|[a-z]+[A-Z]\w*)|https?://\S+|[\w.+-]{1,64}@[\w-]+\.\w+|"
    r"\b[\w-]{1,100}\.(?:md|py|ts|js|toml|json|ya?ml|com|org|io|net|dev)\b|\b[A-Z]{2,}[\w-]*\b|(?:/[\w.-]+){2,}"
)
_COMMON = word_list("common")


def names_and_numbers(sentence: str) -> frozenset[str]:
    """The numbers and names of a sentence, folded: what cannot be said without a source.

    >>> sorted(names_and_numbers("Then on Friday Ana paid 120 euros to ACME"))
    ['120', 'acme', 'ana', 'friday']
    """
    found = {*_NUMBER.findall(sentence), *_NAMED.findall(sentence)}
    return frozenset(
        fold(name).strip() for name in found if fold(name).strip().replace("'", "") not in _COMMON
    )


def entities(text: str, common: Collection[str] = ()) -> tuple[str, ...]:
    """The names in a text, each once, in their order.

    The first word of a sentence has a capital anyway: it counts unless it is in `common`, the words
    that the same person writes in small letters elsewhere.

    >>> entities("Ana Ruiz moved the Volvo to Madrid. She wrote to ben@example.org")
    ('Ana Ruiz', 'Volvo', 'Madrid', 'ben@example.org')
    >>> entities("Rents went up", common={"rents"})
    ()
    """
    text = text[:4000]
    handles = [match[0] for match in _HANDLE.finditer(text)]
    return tuple(dict.fromkeys([*_names(_HANDLE.sub("@", text), common), *handles]))[:_MOST]


def small_words(texts: Collection[str]) -> frozenset[str]:
    """The words that are in small letters somewhere in these texts: not names."""
    return frozenset(
        word for text in texts for word in _WORD.findall(text[:4000]) if word == word.lower()
    )


def _names(text: str, common: Collection[str]) -> Iterator[str]:
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s$|['’-]+$", "", match[0])
        gap = text[end : match.start()]
        begins = bool(_SENTENCE_END.search(text[: match.start()][-3:]))
        is_name = _is_name(word, begins=begins, common=common)
        goes_on = gap == " " or (gap == ". " and bool(run) and run[-1] in _TITLES)
        if run and not (is_name and goes_on):
            yield " ".join(run)
            run = []
        if is_name:
            run.append(word)
        end = match.start() + len(word)
    if run:
        yield " ".join(run)


def _is_name(word: str, *, begins: bool, common: Collection[str]) -> bool:
    if not word[:1].isupper() or len(word) < 2 or word.lower() in _NO_NAMES:
        return False
    # A month has a small letter in Spanish, so Julio is somebody.
    days = {fold(word), fold(word).removesuffix("s")} & _DAYS
    if is_stop_word(word) or days - {"julio"}:
        return False
    is_plain = word[1:] == word[1:].lower()  # neither an acronym nor camel case
    if not (begins and is_plain):
        return True
    is_participle = _PARTICIPLE.fullmatch(word) and word.lower() not in _NAMES_LIKE_PARTICIPLES
    return not is_participle and word.lower() not in common
