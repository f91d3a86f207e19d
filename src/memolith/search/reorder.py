"""Stages that go by texts: quotations, names, what was replaced, and copies of better hits."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from memolith.interfaces import Column
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage, best_first
from memolith.search.votes import shares
from memolith.text.folding import bare_letters, fold
from memolith.text.synonyms import built_in
from memolith.text.tables import read_words
from memolith.text.tokens import MARKS, words

# What stands in quotation marks must stand in the hit, word for word and in this order.

# A mark inside a word opens nothing: 5" and 3" are inches.
_QUOTED = re.compile(
    r'(?<!\w)"([^"\n]{1,200})"(?!\w)|“([^”\n]{1,200})”|«([^»\n]{1,200})»|„([^“”\n]{1,200})[“”]'
)
_MOST_PHRASES = 4
# Who says so many words besides tells something and mentions what others said, as chats do; who looks
# for a quotation says little else.
_LONG = 25


def phrases_of(question: str) -> tuple[tuple[str, ...], ...]:
    """The words of each quotation; case and accents do not count, stop words do.

    In a long message nothing is demanded: its quotations count as words, like all it says.

    >>> phrases_of('who said "Hasta mañana" and «to be»?')
    (('hasta', 'manana'), ('to', 'be'))
    """
    found = (
        tuple(words("".join(match.groups(default="")))) for match in _QUOTED.finditer(question)
    )
    phrases = tuple(dict.fromkeys(phrase for phrase in found if phrase))
    if phrases and len(words(_QUOTED.sub(" ", question))) > _LONG:
        return ()
    return phrases[:_MOST_PHRASES]


def require_phrases(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that keeps what holds most of the quotations: all of them, or as many as any does."""
    if not query.phrases:
        return candidates
    held = [sum(found) for found in _phrases_held(query.phrases, candidates)]
    most = max(held, default=0)
    holding = [at for at, count in enumerate(held) if count == most]
    return replace(candidates.take(holding), why={})


def _phrases_held(phrases: Sequence[Sequence[str]], candidates: Candidates) -> list[list[bool]]:
    """Which of the quotations each candidate holds."""
    return [
        [holds(phrase, text, chunk.heading) for phrase in phrases]
        for text, chunk in zip(candidates.texts, candidates.chunks, strict=True)
    ]


def not_held(phrases: Sequence[Sequence[str]], candidates: Candidates) -> Iterator[str]:
    """A warning for each quotation that none of the candidates holds, or if none holds them all."""
    if not phrases:
        return
    held = _phrases_held(phrases, candidates)
    missing = [phrase for at, phrase in enumerate(phrases) if not any(row[at] for row in held)]
    for phrase in missing:
        yield f'Nothing found says "{" ".join(phrase)}" word for word.'
    if not missing and not any(map(all, held)):
        yield "Nothing found says all of what stands in quotation marks."


def holds(phrase: Sequence[str], *texts: str) -> bool:
    """Whether the words stand side by side in one of the texts."""
    wanted = f" {' '.join(phrase)} "
    letters = [bare_letters(word) or b"" for word in phrase]
    return any(
        _may_hold(letters, bare_letters(text)) and wanted in f" {' '.join(words(text))} "
        for text in texts
    )


def _may_hold(parts: Sequence[bytes], letters: bytes | None) -> bool:
    """Mostly not even the letters of a phrase are in a text; taking it apart takes far longer."""
    return letters is None or all(part in letters for part in parts)


# Which words of a question are first names: they mean nobody else, in no language.

# Names that are often another word: at the beginning of a question they may be that.
_AMBIGUOUS = frozenset(
    "alba amber angel angeles april art august bill blanca concha consuelo dawn dolores esperanza estrella"
    " faith grace hope iris ivy joy june luz mark may mercedes milagros nieves paz perla pilar remedios rob"
    " rocio rosario rose salvador sol soledad summer violeta will".split()
)
# What has the same words, but not the name, has so much of its score; in a question that asks for little
# else, so much.
_NOT_NAMED = 0.9
_NOT_NAMED_ALONE = 0.6
_LITTLE = 2


@cache
def _first_names() -> frozenset[str]:
    return frozenset(map(fold, read_words("first_names.txt")))


def first_names(text: str, *, alone: bool = False) -> frozenset[str]:
    """The first names in a question, folded, however they are written.

    A name that is also a word needs a capital, unless it stands alone: nothing else is asked for.

    >>> sorted(first_names("¿Dónde vive Clara, y qué hace Pilar?"))
    ['clara', 'pilar']
    >>> sorted(first_names("Will the clara of marta be used?"))
    ['marta']
    """
    found = set()
    for at, stretch in enumerate(text.split()):
        word = stretch.strip(MARKS).removesuffix("'s").removesuffix("\u2019s")
        name = fold(word)
        is_name = name in _first_names() or name in _AMBIGUOUS
        if is_name and not alone and _is_word(name):
            is_name = word[:1].isupper() and (at > 0 or name not in _AMBIGUOUS)
        if is_name:
            found.add(name)
    return frozenset(found)


def prefer_names(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts what has the names of the question before what has the same words: *rosas*."""
    if not query.names or not len(candidates):
        return candidates
    held = np.array([_names_held(query.names, text) for text in candidates.texts])
    least = _NOT_NAMED if query.subjects > _LITTLE else _NOT_NAMED_ALONE
    score = candidates.score * (least + (1 - least) * shares(held))
    order = best_first(score, candidates.signals.keys)
    return replace(candidates, score=score, why={"names": held}).take(order)


def _names_held(names: Collection[str], text: str) -> int:
    """How many of the names stand in a text: without a capital those that are also words do not."""
    stretches = {stretch.strip(MARKS) for stretch in text.split()}
    written = {word for one in stretches if one[:1].isupper() for word in words(one)}
    every = {word for one in stretches for word in words(one)}
    return sum(name in written or (name in every and not _is_word(name)) for name in names)


def _is_word(name: str) -> bool:
    return name in _AMBIGUOUS or any(name in known for known in built_in().written)


# What a newer record has taken the place of goes below what still holds, and is still found.

# What is left to one whose successor is not among the hits: enough to let anything pass that says
# nearly the same, and so ranks nearly the same.
_KEPT = 0.25
_JUST_BELOW = 0.999


def demote_superseded(_query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts history just below its successor, which answers the same question as of now.

    Where the successor is not a hit, it goes below all that has a word of the question, and no further:
    who asks by the very words of what was true before must find it.
    """
    past = candidates.superseded
    if past is None:
        return candidates
    if not past.any():
        return replace(candidates, why={"superseded": past})
    score = _below_successors(_lowered(candidates, past), candidates)
    order = best_first(score, candidates.signals.keys)
    demoted = replace(candidates, score=score, held_back=True).take(order)
    return replace(demoted, why={"superseded": past[order]})


def _lowered(candidates: Candidates, past: Column) -> Floats:
    """Without most of their score, but not below what has no word of the question."""
    words, score = candidates.signals.words, candidates.score
    no_word = score[(words == 0) & ~past].max(initial=0.0) / _JUST_BELOW
    least = np.where(words > 0, np.minimum(no_word, score), 0.0)
    lowered: Floats = np.where(past, np.maximum(_KEPT * score, least), score)
    return lowered


def _below_successors(lowered: Floats, candidates: Candidates) -> Floats:
    """Those whose successor is a hit next to it; it takes the place of what was better."""
    places = {chunk.record_id: at for at, chunk in enumerate(candidates.chunks)}
    newest = {  # what holds now, and how many steps that is away
        old: (places[newer[-1]], len(newer))
        for old, newer in enumerate(candidates.successors)
        if newer and newer[-1] in places
    }
    score, result = candidates.score, lowered.copy()
    for old, (at, _) in newest.items():
        result[at] = max(result[at], score[old])
    for old, (at, steps) in newest.items():
        result[old] = min(score[old], result[at] * _JUST_BELOW**steps)
    return result


# Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost.

# So many more than are shown are compared, to take the places of copies; and never more than these.
MORE = 20
_COMPARED = 50
# … by so much of what they say: a text may have millions of words.
_READ_CHARS = 100_000
_SAME = 0.85  # of the score of a copy: as good
_MARKS = string.punctuation.encode()


def diversify(mmr_lambda: float, floor: float) -> Stage:
    """A stage that moves copies of better hits down; a lambda of 1 leaves the order as it is.

    Texts less alike than the floor are different evidence, however alike their subject: plain MMR, with
    a floor of 0, takes any overlap for repetition, and cost another project half of its all@5.
    """

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        if mmr_lambda >= 1 or len(candidates) < 2:
            return candidates
        compared = min(_COMPARED, query.limit + MORE)
        copies = _copies(candidates.texts[:compared], floor)
        if not copies:
            return candidates
        dated = candidates.signals.dated[:compared].tolist()
        order = _reordered(candidates.score[:compared].tolist(), dated, copies, mmr_lambda)
        order += range(len(order), len(candidates))
        return replace(candidates, held_back=True, why={}).take(order)

    return stage


def _reordered(
    scores: Sequence[float],
    dated: Sequence[int],
    copies: Mapping[frozenset[int], float],
    mmr_lambda: float,
) -> list[int]:
    """The places of the hits, each time the one with the best score that is no copy of those before.

    Of copies that are about as good the newest is taken.
    """
    best = scores[0] or 1.0
    chosen: list[int] = []
    left = dict.fromkeys(range(len(scores)), 0.0)  # how like the worst copy before it
    while left:
        pick = max(
            left, key=lambda at: mmr_lambda * scores[at] / best - (1 - mmr_lambda) * left[at]
        )
        same = [
            at
            for at in left
            if copies.get(frozenset((pick, at)), 0.0) == 1.0 and scores[at] > _SAME * scores[pick]
        ]
        if dated[pick]:
            pick = max([pick, *same], key=lambda at: dated[at])
        chosen.append(pick)
        del left[pick]
        for at in left:
            left[at] = max(left[at], copies.get(frozenset((pick, at)), 0.0))
    return chosen


def _copies(texts: Sequence[str], floor: float) -> dict[frozenset[int], float]:
    """Which of the texts are copies of each other, and how like they are; mostly none.

    Above a floor a copy is a copy, whatever was added to it; but texts with other numbers are not.
    """
    said = [(at, _words(text[:_READ_CHARS])) for at, text in enumerate(texts)]
    said.sort(key=lambda item: len(item[1]))
    copies = {}
    for number, (at, mine) in enumerate(said):
        for other_at, other in said[number + 1 :]:
            if len(mine) < floor * len(other):
                break  # so much longer a text, and all that follow, cannot be a copy
            likeness = _likeness(mine, other)
            if floor == 0:
                copies[frozenset((at, other_at))] = likeness
            elif likeness >= floor and not any(map(_has_digit, mine ^ other)):
                copies[frozenset((at, other_at))] = 1.0
    return copies


def _words(text: str) -> frozenset[bytes]:
    """Quicker than `text.tokens.words`, and the same for a text and its copy."""
    if not text.isascii():
        text = " ".join(text.casefold().split())
    data = text.encode(errors="surrogatepass").lower()  # bytes lose their marks ten times as fast
    return frozenset(data.translate(None, _MARKS).split() or [data])


def _has_digit(word: bytes) -> bool:
    return any(48 <= byte <= 57 for byte in word)


def _likeness(one: frozenset[bytes], other: frozenset[bytes]) -> float:
    common = len(one & other)
    union = len(one) + len(other) - common
    return common / union if union else 0.0
