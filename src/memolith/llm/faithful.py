"""Does a line say what its records say? Numbers, names, days, negations and every word that tells must agree."""

from __future__ import annotations

import re

from memolith.llm.own_words import own_words
from memolith.text.date_words import MONTHS, NUMBERS, SHY, WEEKDAYS
from memolith.text.entities import entities
from memolith.text.sentences import claims, sentences
from memolith.text.similarity import NEGATIONS
from memolith.text.terms import stems
from memolith.text.tokens import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from memolith.interfaces import Statement

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# «a» and «one» count nothing most of the time, and «once» is no number in English.
_COUNTED = {name for name, number in NUMBERS.items() if number > 1} - {"once"}
# «may» and «march» are verbs as well: as months they have a capital, and are claims.
_EXACT = _COUNTED | set(WEEKDAYS) | (set(MONTHS) - SHY)


def find_change(text: str, cited: Sequence[Statement]) -> str:
    """What a line says otherwise than the records it cites; "" when it is true to them."""
    said = [sentence for one in cited for sentence in sentences(one.text)]
    if set(sentences(text)) <= set(said):
        return ""  # word for word
    text = _without_days_of(cited, text)
    invented = sorted(_invented(text, cited))
    if invented:
        return f"a line says {invented[0]!r}, which its records do not"
    unknown = next(own_words(text, said), "")
    if unknown:
        return f"a line says {unknown!r}, which its records do not"
    known = set().union(*map(_stems, said))
    for sentence in sentences(text):
        nearest = _nearest(sentence, said)
        if all(_denies(other) != _denies(sentence) for other in nearest):
            return "a line denies what its records say, or says what they deny"
        if all(_is_of_another(sentence, other, known) for other in nearest):
            return f"a line tells of {sentence.split()[0]!r}, of whom its records do not"
    return ""


def _invented(text: str, cited: Sequence[Statement]) -> Iterator[str]:
    """The numbers, names and days of a text that stand in none of the records as whole words."""
    said = " ".join(one.text for one in cited)
    known = set(words(said))
    yield from _numbers(text) - _numbers(said) - {str(one.day.year) for one in cited}
    names = (name for name in claims(text) if not name[:1].isdigit())
    yield from (name for name in names if not known.issuperset(words(name)))
    yield from (_EXACT & set(words(text))) - known


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(_THOUSANDS.sub("", text)))


def _without_days_of(cited: Sequence[Statement], text: str) -> str:
    """The text without the days of its records: they are known, though no record says them."""
    for day in {one.day for one in cited}:
        text = re.sub(_written(day), " ", text, flags=re.IGNORECASE)
    return text


def _written(day: date) -> str:
    month = "|".join(name for name, number in MONTHS.items() if number == day.month)
    year = rf"(?:,? (?:de )?{day.year})?"
    return (
        rf"\b(?:{day.isoformat()}|0?{day.day}(?:st|nd|rd|th)?(?: de)? (?:{month}){year}"
        rf"|(?:{month}) 0?{day.day}(?:st|nd|rd|th)?{year})\b"
    )


def _nearest(sentence: str, said: Sequence[str]) -> list[str]:
    """The sentences of the records with most of its words: what it was made of."""
    own = _stems(sentence)
    shared = [len(own & _stems(other)) for other in said]
    most = max(shared, default=0)
    return [other for other, count in zip(said, shared, strict=True) if count == most]


def _denies(text: str) -> bool:
    return not NEGATIONS.isdisjoint(words(text))


def _is_of_another(sentence: str, said: str, known: set[str]) -> bool:
    """Whether a sentence begins with an unknown name where its record begins with another.

    The first word has a capital anyway, so that only the two together tell a name from a word.
    """
    first, before = sentence.split(maxsplit=1)[0], said.split(maxsplit=1)[0]
    if not (entities(first) and entities(before)):
        return False
    return known.isdisjoint(_stems(first)) and _stems(sentence).isdisjoint(_stems(before))


def _stems(text: str) -> set[str]:
    return {stem for word in words(text) for stem in stems(word)}
