"""The best hits, read again with the question by a model that is too slow for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from memolith import clock
from memolith.interfaces import Reranker
from memolith.search.candidates import Candidates, Floats, QueryContext
from memolith.search.votes import shares

# So many of the best are read, in parts: after each of them the time is looked at.
READ = 40
_AT_ONCE = 8
# How much the order before counts, against 1 for what the model says.
_BEFORE = 0.5


class Reranking:
    """A stage that puts the best candidates in the order that a model gives them, within its time."""

    def __init__(self, model: Reranker, seconds: float) -> None:
        """For one question, which may take so long."""
        self._model = model
        self._seconds = seconds
        self._problem = ""
        self._left = seconds
        self._known: dict[
            str, float
        ] = {}  # a question may be staged twice, and asks for several kinds

    def __call__(self, query: QueryContext, candidates: Candidates) -> Candidates:
        """Those that were read before the others; the scores stay, and change hands."""
        said = self._scores(query.question, candidates.texts[:READ])
        if len(said) < 2:
            return candidates
        before = candidates.score[: len(said)]
        value = shares(said - said.min()) + _BEFORE * shares(before)
        order = np.argsort(-value, kind="stable")
        score = candidates.score.copy()
        score[: len(said)] = np.sort(before)[::-1]
        at = np.concatenate([order, np.arange(len(said), len(candidates))])
        why = np.zeros(len(candidates))
        why[: len(said)] = said[order]
        return replace(candidates.take(at), score=score, why={"rerank": why})

    def warnings(self) -> Iterator[str]:
        """What was not done, once for each question."""
        if self._problem:
            yield self._problem
        self._problem = ""

    def _scores(self, question: str, texts: Sequence[str]) -> Floats:
        """What the model says of as many texts as there is time for, from the first on."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        for first in range(0, len(new), _AT_ONCE):
            started, some = clock.monotonic(), new[first : first + _AT_ONCE]
            if self._left <= 0:
                self._problem = (
                    f"{len(self._known)} hits were ranked again within {self._seconds:g} s"
                    " (search.rerank_seconds); the others keep their order."
                )
                break
            self._known |= zip(some, self._model.scores(question, some).tolist(), strict=True)
            self._left -= clock.monotonic() - started
        read = takewhile(lambda text: text in self._known, texts)
        return np.array([self._known[text] for text in read])
