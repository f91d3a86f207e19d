"""The sentences of a text, whatever the language: a dot may belong to an abbreviation, a day or a name.

When in doubt a sentence goes on: two read as one keep their meaning, half of one may not.
The words it goes by are in `abbreviations.txt`. Every text is read once, from left to right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from memolith.text.cues import begins, without_filler
from memolith.text.date_phrases import ANY_MONTH, WEEKDAYS, WORDS
from memolith.text.tables import read_lists
from memolith.text.tokens import fold

_BULLET = re.compile(r"^\s*(?:[-*•#>]+|\d{1,2}[.)])\s+")
# A line of this length was wrapped at its end, if the next one goes on in small letters.
_WRAPPED = 30
_ENDED = tuple(".!?…:;,。！？")
_EMOJI = "[\U0001f300-\U0001faff\u2600-\u27bf]\ufe0f?"
_CLOSERS = "\"'”“’»«)\\]*_"
_MARK = re.compile(
    rf"(?P<mark>(?<!\s)…|(?<![.!?])[.!?]++)[{_CLOSERS}]*+\s++(?=[\w¿¡\"'“‘„«»(\[$€£@#])"
    rf"|(?P<sign>(?<=\s)[:;]-?[)D(P]{{1,3}}|{_EMOJI})\s++(?=[\w¿¡\"“„«(])"
    r"|(?P<other>[。！？])"
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“„«]*$")
_FIRST = re.compile(r"[^\w\s]*(\w[\w'’-]*)(\.?)(\s+\d)?")
_DOTTED = re.compile(r"[^\W\d_]{1,3}(?:\.[^\W\d_]{1,3})+")
_DOUBLED = re.compile(r"([A-Z])\1{1,2}")
_NO_VOWEL = re.compile(r"[A-Z]?[b-df-hj-np-tv-xz]{2,5}")
_COMPOUND = re.compile(r"\w(?:str|nr)$")  # «Bahnhofstr. 12», «Artikelnr. 7»
_ORDER = re.compile(r"\d{1,2}|[IVX]{1,5}")
_MARKED_ORDER = re.compile(r"[*_]{1,3}\d{1,2}")  # «Go with **1. Merge both**»
_COUNTED = re.compile(r"\d\s+\S+$")  # «62 ms.» is a unit, and ends
_PAIRED = re.compile(
    r"(?P<opens>[(\[„‘]|(?<![\w’'])'(?=[^\W\d]))|(?P<closes>[)\]”]|(?<=[^\s(\[])['’](?!\w))|[\"“«»]"
)
_CLOSED_BY = {"(": ")", "[": "]", "“": "”", "„": '“”"', "«": "»", "»": "«", "‘": "’", "'": "'’"}
_SHORT_DAYS = WORDS["dotted-month"].keys() | (WORDS["any-weekday"].keys() - WEEKDAYS.keys())
# No abbreviation keeps a sentence going for longer, nor does a bracket or a quotation.
_LONGEST = 2000
_LONGEST_INSIDE = 300
_BEFORE = 40
_SHORT_WORD = 4


def sentences(text: str) -> Iterator[str]:
    """The sentences and list items of a text, without marks of lists and words that only fill.

    Each is as it was written: no first letter is made large, and nothing is taken out of the middle.

    >>> list(sentences("Okay, Dr. Ruiz called. She moved the visit to 3.15 pm!\\n- Bring the X-ray"))
    ['Dr. Ruiz called.', 'She moved the visit to 3.15 pm!', 'Bring the X-ray']
    """
    for line in _lines(text):
        for sentence in split_sentences(_BULLET.sub("", line).strip()):
            yield without_filler(sentence)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text; one that was wrapped in the middle of a sentence is put together again."""
    wrapped: list[str] = []
    for line in map(str.rstrip, text.split("\n")):
        last = wrapped[-1] if wrapped else ""
        goes_on = line[:1].islower() and not last.endswith(_ENDED) and not _BULLET.match(line)
        if wrapped and not (goes_on and len(last) >= _WRAPPED):
            yield " ".join(wrapped)
            wrapped = []
        wrapped.append(line)
    yield " ".join(wrapped)


def split_sentences(line: str) -> Iterator[str]:
    """The sentences of a line, each as it is written there.

    >>> list(split_sentences("Am 14. 2. kam Fa. Huber z. B. um 8. Ana war da."))
    ['Am 14. 2. kam Fa. Huber z. B. um 8.', 'Ana war da.']
    """
    inside = _inside(line)
    in_small = _is_in_small_letters(line)
    start = at = 0
    for found in _MARK.finditer(line):
        while at < len(inside) and inside[at][1] <= found.start():
            at += 1
        end = found.end()
        is_inside = at < len(inside) and inside[at][0] < found.start() and inside[at][1] >= end
        if len(line[start:end]) < _LONGEST and (is_inside or not _ends(line, found, in_small)):
            continue
        yield line[start:end].strip()
        start = end
    if rest := line[start:].strip():
        yield rest


def _ends(line: str, found: re.Match[str], in_small: bool) -> bool:
    """Whether a mark ends a sentence, by what stands before and behind it."""
    if found["other"]:
        return True
    first = _FIRST.match(line, found.end(), found.end() + _BEFORE)
    if first is None:
        return True
    after = first[1]
    if after[0].islower() and not in_small:
        return False
    if found["mark"] != ".":
        return True
    before = line[max(0, found.start() - _BEFORE) : found.start()]
    is_common = after.lower() in _words("begins") or begins("leaning", after)
    return _ends_with_dot(before, after, begins=is_common and not (first[2] and first[3]))


def _ends_with_dot(before: str, after: str, *, begins: bool) -> bool:
    found = _WORD_BEFORE.search(before)
    word = found[0] if found else ""
    small = word.lower().rpartition("-")[2]  # «Raum-Nr. 12»
    if not word or _is_order(before, word, after, begins=begins):
        return not word
    if (small in _words("goes on") or _COMPOUND.search(small)) and not _COUNTED.search(before):
        return False
    is_short = (
        (len(word) == 1 and word != "I" and word.isalpha())
        or small in _words("may end")
        or small in _SHORT_DAYS
        or _DOTTED.fullmatch(word)
        or _DOUBLED.fullmatch(word)
        or _NO_VOWEL.fullmatch(word)
    )
    if is_short and not _COUNTED.search(before):
        return begins
    if after[0].isdigit():
        return not (small in _words("before numbers") or len(word) < _SHORT_WORD or word.isdigit())
    return True


def _is_order(before: str, word: str, after: str, *, begins: bool) -> bool:
    """Whether a number with a dot is a day or one of an order: «am 14. Februar», «im 3. Stock»."""
    if _MARKED_ORDER.fullmatch(word):
        return True
    if not _ORDER.fullmatch(word):
        return False
    if fold(after) in ANY_MONTH or (after[0].isdigit() and word.isdigit()):
        return True
    earlier = before[: len(before) - len(word)].lower().split()[-1:]
    if not earlier:
        return word.isdigit()  # «1. Milk» at the beginning of a line
    word_before = earlier[0].strip(",;")
    return not begins and (word_before in _words("before orders") or word_before in WEEKDAYS)


def _is_in_small_letters(line: str) -> bool:
    """Whether its sentences begin with small letters, as in many a chat."""
    first = next((char for char in line[:_BEFORE] if char.isalpha()), "")
    return first.islower() and not any(
        line[found.end() : found.end() + 1].isupper() for found in _MARK.finditer(line)
    )


def _inside(line: str) -> Sequence[tuple[int, int]]:
    """The stretches between brackets and quotation marks that close again, without those inside others."""
    opened: list[tuple[str, int]] = []  # what closes it, where it is
    found: list[tuple[int, int]] = []
    for mark in _PAIRED.finditer(line):
        place = None if mark["opens"] else _opener(opened, mark[0])
        if place is None:
            if not mark["closes"]:
                opened.append((_CLOSED_BY.get(mark[0], mark[0]), mark.start()))
            continue
        begin = opened[place][1]
        del opened[place:]
        if mark.end() - begin <= _LONGEST_INSIDE:
            while found and found[-1][0] > begin:
                found.pop()
            found.append((begin, mark.end()))
    return found


def _opener(opened: Sequence[tuple[str, int]], char: str) -> int | None:
    """The place of the last one that this mark closes; not far back, so that many open ones cost little."""
    last = len(opened) - 1
    return next((at for at in range(last, max(-1, last - 8), -1) if char in opened[at][0]), None)


@cache
def _words(section: str) -> frozenset[str]:
    return frozenset(read_lists("abbreviations.txt")[section])
