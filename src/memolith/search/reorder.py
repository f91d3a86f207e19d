"""Stages that go by texts: quotations, a model, replies, names, what was replaced, copies of better hits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, takewhile
from operator import methodcaller

import numpy as np

from memolith import clock
from memolith.interfaces import TURN, Column, Reranker
from memolith.search.candidates import Candidates, Floats, QueryContext, Stage
from memolith.search.doubt import has_digit
from memolith.search.plan import is_word_too
from memolith.search.votes import shares
from memolith.text.lines import read_lines
from memolith.text.terms import keywords
from memolith.text.tokens import MARKS, words

# Quoted words must be in the hit, word for word and in this order.


def require_phrases(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that keeps what holds most of the quotations: all of them, or as many as any does."""
    if not query.plan.phrases:
        return candidates
    held = [sum(found) for found in _phrases_held(query.plan.phrases, candidates)]
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
        yield "No hit contains all of the quoted words."


def holds(phrase: Sequence[str], *texts: str) -> bool:
    """Whether the words are side by side in one of the texts."""
    wanted = f" {' '.join(phrase)} "
    return any(wanted in f" {' '.join(words(text))} " for text in texts)


# The best hits, read again with the question by a model that is too slow for all of them.

# This many of the best are read, in parts: after each of them the time is checked.
READ = 40
_AT_ONCE = 8
# How much the order before counts, against 1 for what the model says.
_BEFORE = 0.5


class Reranking:
    """A stage that puts the best candidates in the order that a model gives them, within its time."""

    def __init__(self, model: Reranker, seconds: float) -> None:
        """For one question, with its deadline."""
        self._model = model
        self._seconds = seconds
        self._until = 0.0
        self._known: dict[str, float] = {}  # a question may be staged twice
        self.problem = ""  # what was not done

    def __call__(self, query: QueryContext, candidates: Candidates) -> Candidates:
        """Those that were read before the others; the scores stay, and change hands."""
        self._read(query.plan.meant, candidates.texts[:READ].tolist())
        known = takewhile(self._known.__contains__, candidates.texts[:READ])
        said = np.array([self._known[text] for text in known])
        if len(said) < 2:
            return candidates
        before = candidates.score[: len(said)]
        value = shares(said - said.min()) + _BEFORE * shares(before)
        order = np.argsort(-value, kind="stable")
        score, why = candidates.score.copy(), np.zeros(len(candidates))
        score[: len(said)], why[: len(said)] = np.sort(before)[::-1], said[order]
        at = np.append(order, np.arange(len(said), len(candidates)))
        return candidates.take(at).scored(score, {"rerank": why})

    def _read(self, question: str, texts: Sequence[str]) -> None:
        """Have the model read those it has not read, as many as there is time for."""
        self._until = self._until or clock.monotonic() + self._seconds
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for first in range(0, len(new), _AT_ONCE):
            if clock.monotonic() > self._until:
                self.problem = (
                    f"{len(self._known)} hits were ranked again within {self._seconds:g} s"
                    " (search.rerank_seconds); the others keep their order."
                )
                return
            some = new[first : first + _AT_ONCE]
            self._known |= zip(some, self._model.scores(question, some).tolist(), strict=True)


# A question that is asked again wants the answer: the share that a short question keeps, half of whose rare
# words are asked for.
_ASKED_BEFORE = 0.3


def demote_asked_before(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts the user's old questions below the records that answer them.

    Where only chats answer, an old question leads to its answer.
    """
    has_records = (candidates.signals.kind != TURN).any()
    asked, score = set(query.plan.asked), candidates.score.copy()
    for at, (chunk, text) in enumerate(zip(candidates.chunks, candidates.texts, strict=True)):
        if has_records and chunk.role == "user" and len(text) < 200 and text.rstrip().endswith("?"):
            telling = keywords(text)
            if 2 * len(asked.intersection(telling)) >= len(telling):
                score[at] *= _ASKED_BEFORE
    return _moved(candidates, score, "asked")


# In chats between people one asks, and another answers.

_SPEAKER = re.compile(r"(\S[^\n:]{0,30}): ")
_ASKING = 0.8  # so much of its score is left to a message that asks: it rarely answers
# The share of a question's score that is added to what another person says right after it.
_REPLYING = 0.3
_NAMED = 1.1


def prefer_replies(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage for chats in which several people speak: replies, and whom the question names, count more."""
    texts, score = candidates.texts, candidates.score.copy()
    said = dict[tuple[str, int], tuple[int, str]]()  # by chat and line: the place, and who said it
    for at, chunk in enumerate(candidates.chunks):
        if chunk.role == "user" and (found := _SPEAKER.match(texts[at])):
            said[chunk.chat, chunk.first_line] = at, found[1]
    speakers = Counter(chat for chat, _ in {(chat, who) for (chat, _), (_, who) in said.items()})
    for (chat, line), (at, who) in said.items():
        if speakers[chat] == 1:
            continue
        if texts[at].rstrip().endswith("?"):
            score[at] *= _ASKING
        if not set(words(who)).isdisjoint(query.plan.asked):
            score[at] *= _NAMED
        before, other = said.get((chat, line - 1), (at, who))
        if other != who and "?" in texts[before]:
            score[at] += _REPLYING * candidates.score[before]
    return _moved(candidates, score, "replies")


def _moved(candidates: Candidates, score: Floats, name: str) -> Candidates:
    """Candidates in the order of new scores, if any changed: then others, not read so far, may come up."""
    added = score - candidates.score
    if not added.any():
        return candidates
    return replace(candidates.scored(score, {name: added}).in_order(), held_back=True)


# What has the same words as the question, but not the first names in it, has so much of its score; in a
# question that asks for little else, so much.
_NOT_NAMED = 0.9
_NOT_NAMED_ALONE = 0.6
_LITTLE = 2


def prefer_names(query: QueryContext, candidates: Candidates) -> Candidates:
    """A stage that puts what has the names of the question before what has the same words: *rosas*."""
    if not query.plan.names or not len(candidates):
        return candidates
    held = np.array([_names_held(query.plan.names, text) for text in candidates.texts])
    least = _NOT_NAMED if len(query.plan.asked) > _LITTLE else _NOT_NAMED_ALONE
    score = candidates.score * (least + (1 - least) * shares(held))
    return _moved(candidates, score, "names")


def _names_held(names: Collection[str], text: str) -> int:
    """How many of the names are in a text: without a capital those that are also words do not."""
    stretches = {stretch.strip(MARKS) for stretch in text.split()}
    written = {word for one in stretches if one[:1].isupper() for word in words(one)}
    every = {word for one in stretches for word in words(one)}
    return sum(name in written or (name in every and not is_word_too(name)) for name in names)


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
    words, score = candidates.signals.words, candidates.score
    no_word = score[(words == 0) & ~past].max(initial=0.0) / _JUST_BELOW
    least = np.where(words > 0, np.minimum(no_word, score), 0.0)
    result = np.where(past, np.maximum(_KEPT * score, least), score)
    places = {chunk.record_id: at for at, chunk in enumerate(candidates.chunks)}
    newest = {
        old: places[found.chunk.record_id]
        for old, found in enumerate(candidates.newest)
        if found and found.chunk.record_id in places
    }
    for old, at in newest.items():  # it takes the place of what was better
        result[at] = max(result[at], score[old])
    for old, at in newest.items():
        result[old] = min(score[old], result[at] * _JUST_BELOW)
    below = candidates.scored(result, {"superseded": past}).in_order()
    return replace(below, held_back=candidates.held_back or bool(past.any()))


# Maximal marginal relevance on what hits say: no five copies of one fact, no evidence lost.

# How many more than are shown are compared, to replace copies; and how many at most.
MORE = 20
_COMPARED = 50
# … by so much of what they say: a text may have millions of words.
_READ_CHARS = 20_000
_SAME = 0.85  # of the score of a copy: as good
_bare = methodcaller("strip", MARKS)


def diversify(mmr_lambda: float, floor: float) -> Stage:
    """A stage that moves copies of better hits down; a lambda of 1 leaves the order as it is.

    Texts less alike than the floor are different evidence, however alike their subject: plain MMR, with
    a floor of 0, takes any overlap for repetition, and cost another project half of its all@5.
    """

    def stage(query: QueryContext, candidates: Candidates) -> Candidates:
        compared = min(_COMPARED, query.limit + MORE)
        copies = _copies(candidates.texts[:compared], floor)
        if mmr_lambda >= 1 or not copies.any():
            return candidates
        best = candidates.score[0] or 1.0
        value = mmr_lambda * candidates.score[: len(copies)] / best
        dated = candidates.signals.dated
        order: list[int] = []
        left = list(range(len(copies)))
        worst = np.zeros(len(copies))  # how like the worst copy before it
        while left:
            now = (value - (1 - mmr_lambda) * worst).tolist()
            pick = max(left, key=now.__getitem__)
            same = [at for at in left if copies[pick, at] == 1 and value[at] > _SAME * value[pick]]
            if dated[pick]:  # of copies that are about as good the newest is taken
                pick = max([pick, *same], key=dated.__getitem__)
            order.append(pick)
            left.remove(pick)
            worst = np.maximum(worst, copies[pick])
        order += range(len(order), len(candidates))
        return replace(candidates.take(order), held_back=True, why={})

    return stage


def _copies(texts: Column, floor: float) -> Floats:
    """How like each other texts are: which share of their words they have in common.

    Above a floor a copy is a copy, whatever was added to it; but texts with other numbers are not.
    """
    stated = [_stated(text) if text.endswith("]") else text for text in texts]
    said = [set(map(_bare, text[:_READ_CHARS].casefold().split())) for text in stated]
    result = np.zeros((len(said), len(said)))
    for (one, mine), (other, others) in combinations(enumerate(said), 2):
        fewer, more = sorted((len(mine), len(others)))
        if fewer < floor * more:
            continue
        alike = len(mine & others) / (len(mine | others) or 1)
        if floor and alike >= floor:
            alike = float(not has_digit("".join(mine ^ others)))
        if alike >= floor:
            result[one, other] = result[other, one] = alike
    return result


def _stated(text: str) -> str:
    """What lines of a summary say, without their days and the records they cite; else the text."""
    return "\n".join([line.text for line in read_lines(text)]) or text
