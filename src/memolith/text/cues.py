"""Cues: the words by which a sentence shows what it is. They stand in `cues.*.txt`, one file a language.

A sentence is read by the cues of its language, or of all if that is not clear. A cue is a few words with
few signs (`cues.en.txt` explains them), and becomes an expression that never goes back far, so that reading
takes time in proportion to the text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from memolith.text.folding import fold
from memolith.text.tables import read_lists

_MOST_CHARS = 600  # what a sentence is shows at its beginning
_LISTS = ("language", "user speaks", "assistant speaks", "others speak", "filler")
_MOST_FILLERS = 6
_MARK = re.compile(r"[,.!:;–—-]")
_WORD = re.compile(r"[\w']+")
# What the signs of a cue mean, as parts of an expression.
_SIGNS = {
    " ...": r"(?: [\w'-]{1,40}){0,6}", "...": r"[\w'-]{0,40}(?: [\w'-]{1,40}){0,6}", "[,]": ",",
    "*": r"[\w'-]{0,40}", "_": r"[\w'-]{1,40}", "n't": "n'?t", "(": "(?:", ")": ")", "|": "|", "?": "?",
    "^": r"^\W{0,3}", "$": r"\W{0,5}$",
}  # fmt: skip
_SIGN = re.compile("|".join(re.escape(sign) for sign in _SIGNS))


@dataclass(frozen=True, slots=True)
class Language:
    """One language, and which sections of cues it has."""

    name: str  # as in the name of its file
    words: frozenset[str]  # small words that hardly another language has
    sections: frozenset[str]

    def says(self, section: str, plain: str) -> re.Match[str] | None:
        """The first cue of this section in a plain sentence."""
        found = section in self.sections
        return _of_section(self.name, section).search(plain) if found else None


class Sentence:
    """A sentence that can be asked which cues it has."""

    def __init__(self, text: str) -> None:
        """Any text, taken as one sentence."""
        self.text = text
        self.plain = plain_sentence(text)

    @cached_property
    def words(self) -> list[str]:
        """Its words, folded."""
        return _WORD.findall(self.plain)

    @cached_property
    def languages(self) -> Sequence[Language]:
        """Those it may be written in: by its small words, or all."""
        found = set(self.words)
        told = [(len(found & language.words), language) for language in languages()]
        most = max(count for count, _ in told)
        return [language for count, language in told if 2 * count > most or not most]

    def says(self, section: str) -> bool:
        """Whether one of the cues of a section stands in it."""
        return any(language.says(section, self.plain) for language in self.languages)

    def knows(self, section: str, word: str) -> bool:
        """Whether a word is among the cues of a section, in the language of the sentence."""
        return any(language.says(section, fold(word)) for language in self.languages)

    def begins(self, section: str, *, in_any: bool = False) -> bool:
        """Whether it begins with one; `in_any` language, if few words may tell too little of theirs."""
        of = languages() if in_any else self.languages
        found = (language.says(section, self.plain) for language in of)
        return any(
            match is not None and not self.plain[: match.start()].strip(" !?-\"'(")
            for match in found
        )


def without_filler(sentence: str) -> str:
    """A sentence without what only fills at its beginning, in whichever language, to be asked what it is.

    >>> without_filler("btw, I moved to Lima"), without_filler("und Sara zieht um"), without_filler("Also")
    ('I moved to Lima', 'Sara zieht um', 'Also')
    """
    return sentence[_end_of_filler(sentence) :]


def without_filler_before_mark(sentence: str) -> str:
    """A sentence as it may be told: without filler, if a mark parts it from what follows and nothing else changes.

    «Thanks a lot» is no filler, «Great Britain» a country, «Si llueve» a condition; and who begins in the middle
    would begin with a small letter.

    >>> without_filler_before_mark("Okay, Ana moved"), without_filler_before_mark("Okay, the build is red")
    ('Ana moved', 'Okay, the build is red')
    """
    rest = behind_filler(sentence)
    return rest if not rest[:1].islower() or sentence[:1].islower() else sentence


def behind_filler(sentence: str) -> str:
    """What of a sentence stands behind filler and a mark, to be compared with others.

    >>> behind_filler("Yes, we ship on Monday")
    'we ship on Monday'
    """
    return sentence[_end_of_filler(sentence, needs_mark=True) :]


def _end_of_filler(sentence: str, *, needs_mark: bool = False) -> int:
    end = 0
    for _ in range(_MOST_FILLERS):
        found = _filler().match(sentence, end)
        if found is None or (needs_mark and not _MARK.search(found[0])):
            break
        end = found.end()
    return end


@cache
def _filler() -> re.Pattern[str]:
    words = sorted(listed("filler"), key=len, reverse=True)
    return re.compile(
        rf"(?:{'|'.join(map(re.escape, words))})\b[\s,.!:;–—-]{{1,8}}(?=\w)", re.IGNORECASE
    )


def plain_sentence(text: str) -> str:
    """A sentence as cues are compared with it: folded, one space between words and before a comma.

    >>> plain_sentence("¿Qué  tal,  Ana? Don’t")
    "?que tal , ana? don't"
    """
    return " ".join(fold(text[:_MOST_CHARS]).replace(",", " ,").split())


@cache
def languages() -> tuple[Language, ...]:
    """Every language there is a file of."""
    return tuple(
        Language(
            name,
            frozenset(map(fold, sections["language"])),
            frozenset(sections).difference(_LISTS),
        )
        for name, sections in _files("cues").items()
    )


@cache
def _of_section(language: str, section: str) -> re.Pattern[str]:
    """Compiled when it is first asked for: few need them all."""
    return _expression(_files("cues")[language][section])


def listed(section: str, table: str = "cues") -> list[str]:
    """The entries of a section that is a plain list of words, of all languages."""
    return [entry for sections in _files(table).values() for entry in sections[section]]


def says_any(section: str, table: str) -> re.Pattern[str]:
    """An expression that finds each cue of a section of a table, in whichever language."""
    return _expression(listed(section, table))


def one_of(section: str, table: str) -> str:
    """The cues of a section as part of an expression, the longest first."""
    return "|".join(_part(cue) for cue in sorted(listed(section, table), key=len, reverse=True))


@cache
def _files(table: str) -> dict[str, dict[str, list[str]]]:
    names = (name.split(".") for name in os.listdir(os.path.dirname(__file__)))
    found = sorted(parts[1] for parts in names if parts[0] == table and parts[-1] == "txt")
    return {name: read_lists(f"{table}.{name}.txt") for name in found}


def _expression(cues: Iterable[str]) -> re.Pattern[str]:
    """One for all cues of a section, and none of those with a minus."""
    said = "|".join(_part(cue) for cue in cues if not cue.startswith("-"))
    but = "|".join(_part(cue[1:]) for cue in cues if cue.startswith("-"))
    unless = rf"(?!(?:{but})(?![\w]))" if but else ""
    return re.compile(rf"(?<![\w'-]){unless}(?:{said})(?!\w)")


def _part(cue: str) -> str:
    folded = fold(cue)
    parts = []
    end = 0
    for sign in _SIGN.finditer(folded):
        parts += [re.escape(folded[end : sign.start()]), _SIGNS[sign[0]]]
        end = sign.end()
    return "".join([*parts, re.escape(folded[end:])])
