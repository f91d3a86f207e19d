"""A line of a model stands only as whole sentences of the records it names, letter for letter.

Nothing weaker can be shown to be true: two words swapped make *Ben pays Ana* of *Ana pays Ben*, and one left out
drops a condition, or tells as a fact what somebody claims. So a model chooses, and the records speak.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from memolith.interfaces import Statement
from memolith.text.cues import Sentence, behind_filler
from memolith.text.leaning import answers, changes, corrects, is_no_sentence_of_its_own
from memolith.text.sentences import sentences, worth

NOT_SAID = "not said so by the records they name"
TORN_OUT = "torn out of what is said around them"
_ALIKE = {
    **dict.fromkeys(map(ord, "“”„«»"), '"'),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a"), "'"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2013\u2014"), "-"),
}
_ITEM = r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]"
# What stands below a title, or in a list below a line, holds only together with it.
_HEADING = re.compile(rf"^[ \t]*#+[ \t]|^(?!{_ITEM})[ \t]*\S[^\n]*\n\s*?{_ITEM}", re.MULTILINE)
_QUOTED = re.compile(r"^[ \t]*>", re.MULTILINE)  # somebody else's words
# A line that only ends because it was long enough.
_WRAPPED = re.compile(rf"(?<=[^\s.!?:;…])[ \t]*\n(?!{_ITEM}|[ \t]*[#>]|\s*\n)")
_OPENS, _CLOSES = re.compile(r"[(\[]|(?<!\w)'(?=\w)"), re.compile(r"[)\]]|(?<=[^\s(\[])'(?!\w)")
_JOINED = re.compile(r"\w+-\w")  # «Right-wing» does not begin with a word that fills
_MOST_SENTENCES = 12  # of a line: more would be no summary
_SHORT = 3  # words: «Or not.» belongs to what stands before it


def in_their_words(text: str, cited: Sequence[Statement]) -> tuple[list[Statement], str]:
    """A line as sentences of its records, each stretch with the record and the day it is from; or why not.

    >>> from datetime import date
    >>> from memolith.interfaces import Statement
    >>> cited = [Statement(text="Ana pays Ben. It rained all day.", ids=("a",), day=date(2026, 11, 3))]
    >>> in_their_words("Ana pays Ben", cited)[0][0].ids
    ('a',)
    >>> in_their_words("Ben pays Ana.", cited)
    ([], 'not said so by the records they name')
    """
    told = list(sentences(text))
    if len(told) > _MOST_SENTENCES:
        return [], NOT_SAID
    found: list[Statement] = []
    while told:
        runs = [(run, one) for one in cited for run in _runs(told, one.text)]
        # «He pays», or «Paga» in Spanish, must not be read as of whom another record told before.
        runs = [(run, one) for run, one in runs if not (found and run.start)]
        whole = [(run.many, one) for run, one in runs if run.stands_alone]
        if not whole:
            return [], TORN_OUT if runs else NOT_SAID
        longest = max(many for many, _ in whole)
        saying = [one for many, one in whole if many == longest]
        ids = tuple(dict.fromkeys(record_id for one in saying for record_id in one.ids))
        newest = max(saying, key=lambda one: one.day)
        found.append(replace(newest, text=" ".join(told[:longest]), ids=ids))
        del told[:longest]
    return found, "" if found else NOT_SAID


def _runs(told: Sequence[str], text: str) -> Iterator[_Run]:
    """Where in a record sentences stand that begin a line, one after the other."""
    wanted = [_form(one) for one in told]
    # A model is shown a record as one line, without the ends of its own.
    unwrapped = _WRAPPED.sub(" ", text)
    for said in dict.fromkeys((_sentences(unwrapped), _sentences(" ".join(text.split())))):
        there = [_form(one) for one in said]
        for start in range(len(there)):
            for many in range(1, min(len(wanted), len(there) - start) + 1):
                if there[start + many - 1] != wanted[many - 1]:
                    break
                if not _QUOTED.search(text):
                    yield _Run(said, start, many, has_headings=bool(_HEADING.search(text)))


@lru_cache(maxsize=4_096)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text))


@dataclass(frozen=True, slots=True)
class _Run:
    """Some sentences of a record that follow each other."""

    said: tuple[str, ...]  # all of the record
    start: int
    many: int
    has_headings: bool

    @property
    def stands_alone(self) -> bool:
        """Whether they say by themselves what they say there.

        Not under a heading, inside a quotation, about somebody named before, or taken back by what follows.
        """
        before, with_it = self.said[: self.start], self.said[: self.start + self.many]
        if before and (self.has_headings or any(one.endswith(":") for one in before)):
            return False
        if _is_open(" ".join(before)) or _is_open(" ".join(with_it)):
            return False
        first = self.said[self.start]
        if before and (_leans(first, before[-1]) or Sentence(first).says("somebody")):
            return False
        after = self.said[self.start + self.many :][:1]
        return not any(_is_rest(one) or changes(one, with_it[-1]) for one in after)


def _form(sentence: str) -> str:
    """A sentence as it is compared: quotes, dashes, spaces, filler, its end and first letter may differ.

    Accents and capitals are not: *pagó* is another time than *pago*. Nor is a question a statement.
    """
    alike = " ".join(unicodedata.normalize("NFC", sentence).translate(_ALIKE).split())
    ended = alike.rstrip(".!…")
    bare = ended if _JOINED.match(ended) else behind_filler(ended)
    return bare[:1].lower() + bare[1:]


def _leans(sentence: str, before: str) -> bool:
    """Whether it needs the one before; of small talk nobody needs to know."""
    if Sentence(sentence).begins("leans"):
        return True
    needs = answers(sentence, before) or corrects(sentence) or is_no_sentence_of_its_own(sentence)
    return worth(before) > 0 and needs


def _is_rest(sentence: str) -> bool:
    return len(sentence.split()) <= _SHORT and worth(sentence) > 0


def _is_open(text: str) -> bool:
    """Whether a quotation or a bracket has not ended yet."""
    plain = text.translate(_ALIKE)
    marks = len(_OPENS.findall(plain)), len(_CLOSES.findall(plain))
    return plain.count('"') % 2 == 1 or marks[0] != marks[1]
