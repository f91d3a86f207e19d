"""Names in a text: people, places, products, and numbers; found by how they are written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from memolith.text.date_phrases import MONTHS, WEEKDAYS
from memolith.text.folding import fold
from memolith.text.stopwords import is_stop_word

_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_HANDLE = re.compile(r"(?<![\w.])@[A-Za-z]\w{1,38}|[\w.+-]{1,64}@[\w-]{1,64}\.\w{2,10}")
_SENTENCE_END = re.compile(r"[.!?:;…]\s*$|^\W*$")
# Capitals that name a day, a month or a person speaking, and what sentences often begin with.
_NO_NAMES = frozenset(
    "today tomorrow yesterday ayer anoche hoy mañana ahora gestern heute morgen jetzt user operator agent assistant note remember please never always ok yes"
    " met asked decided fixed added moved said told wants prefers likes uses deploy deployed backups"
    " uhr pr prs eur usd gbp"
    " deadline meeting rent weekly daily todo idea next open pending dinner lunch standing running"
    " new old bug bugs fix tests build built bought wrote found lost got made went took chose paid"
    " sent swam ran won gave kept left began spent".split()
)
# «Solved», «Resolving»: with so many letters more before the ending, hardly ever a name.
_PARTICIPLE = re.compile(r"[A-Z][a-z]{3,}(?:ed|ing)")
_NAMES_LIKE_PARTICIPLES = frozenset(
    "alfred mohammed mohamed wilfred winifred manfred beijing sterling boeing fleming browning"
    " harding reading".split()
)
_TITLES = frozenset({"Dr", "Dra", "Mr", "Mrs", "Ms", "Prof", "Sr", "Sra", "St"})
_MOST = 12
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_NAMED = re.compile(
    r"(?<![.!?…])\s(?:[A-ZÀ-ÖØ-ÞА-ЯΑ-Ω][\w'’-]+|[a-z]+[A-Z]\w*)|https?://\S+|[\w.+-]{1,64}@[\w-]+\.\w+|"
    r"\b[\w-]{1,100}\.(?:md|py|ts|js|toml|json|ya?ml|com|org|io|net|dev)\b|\b[A-Z]{2,}[\w-]*\b|(?:/[\w.-]+){2,}"
)
_COMMON = frozenset(
    "the a an i we he she they it this that these those in on at for of to and or but if when im ive ill id".split()
)


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
    found = dict.fromkeys(name for name in _names(text[:4000], common))
    handles = (match[0] for match in _HANDLE.finditer(text[:4000]))
    return tuple(dict.fromkeys([*found, *handles]))[:_MOST]


def small_words(texts: Collection[str]) -> frozenset[str]:
    """The words that stand in small letters somewhere in these texts: no names."""
    return frozenset(
        word for text in texts for word in _WORD.findall(text[:4000]) if word == word.lower()
    )


def _names(text: str, common: Collection[str]) -> Iterator[str]:
    run: list[str] = []
    end = 0
    for match in _WORD.finditer(text):
        word = match[0].rstrip("'’-.")
        word = re.sub(r"['’]s$", "", word)
        gap = text[end : match.start()]
        begins = bool(_SENTENCE_END.search(text[: match.start()][-3:]))
        if run and gap != " " and not (gap == ". " and run[-1] in _TITLES):
            yield " ".join(run)
            run = []
        if _is_name(word, begins=begins, common=common) and "@" not in (
            text[match.start() - 1 : match.start()],
            text[match.end() : match.end() + 1],
        ):
            run.append(word)
        elif run:
            yield " ".join(run)
            run = []
        end = match.end() if match[0] == word else -1
    if run:
        yield " ".join(run)


def _is_name(word: str, *, begins: bool, common: Collection[str]) -> bool:
    if not word[:1].isupper() or len(word) < 2 or word.lower() in _NO_NAMES:
        return False
    if is_stop_word(word) or _is_of_dates(fold(word)):
        return False
    is_plain = word[1:] == word[1:].lower()  # neither an acronym nor camel case
    if not (begins and is_plain):
        return True
    return word.lower() not in common and not _is_participle(word)


def _is_of_dates(word: str) -> bool:
    # A month has a small letter in Spanish, so Julio is somebody.
    return (
        word in WEEKDAYS
        or word.removesuffix("s") in WEEKDAYS
        or (word in MONTHS and word != "julio")
    )


def _is_participle(word: str) -> bool:
    return bool(_PARTICIPLE.fullmatch(word)) and word.lower() not in _NAMES_LIKE_PARTICIPLES
