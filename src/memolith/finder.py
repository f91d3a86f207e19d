"""Finding: questions to the index of one memory, which follows the files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from memolith import clock
from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.embed.choose import choose_reranker
from memolith.errors import EmbeddingError, IndexUnavailableError
from memolith.files import gate
from memolith.files.chunk_text import read_texts
from memolith.ingest.open_index import OpenIndex
from memolith.interfaces import Reranker
from memolith.results import Filters, SearchResult
from memolith.search.candidates import QueryContext
from memolith.search.filters import explain_empty, explain_names, explain_path
from memolith.search.pipeline import Question
from memolith.search.plan import plan, unread

# What the index does not know as it is, is indexed again; meanwhile more may change.
_MOST_READINGS = 3
_BOTH_OFF = "search.words and search.meaning are both off, so nothing is found by its content."


class Finder:
    """Answers questions from the index of one memory; safe to share between threads."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        self.index = OpenIndex(root, config, clock)

    def search(
        self, question: str, limit: int, filters: Filters, *, explain: bool = False
    ) -> SearchResult:
        """Index what changed, then search; `warnings` says so if the index cannot be used."""
        (found,) = self.ask(question, [filters], [limit], explain=explain, rerank=True)
        problem = unread(question)
        return replace(found, warnings=(*found.warnings, problem)) if problem else found

    def ask(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limits: Sequence[int],
        *,
        explain: bool = False,
        seconds: float = math.inf,
        rerank: bool = False,
    ) -> list[SearchResult]:
        """Sync and rank once; for each set of filters the answer with at most `limit` hits.

        Files that are not indexed by the deadline are left out, and `warnings` says so. With `rerank`
        the best hits are read again by the model of the settings, which takes its time.
        """
        gate.check_enabled(self.index.config.profile)
        until = clock.monotonic() + seconds

        def answers() -> tuple[list[SearchResult], set[str]]:
            return self._answers(question, filter_sets, limits, explain, rerank, until)

        def asking() -> list[SearchResult]:
            found, changed = answers()
            for _ in range(_MOST_READINGS):
                if not changed or not self.index.read_again(changed):
                    break
                found, changed = answers()
            return found

        with self.index.exclusive():
            self.index.try_again()
            try:
                return self.index.retry(asking)
            except IndexUnavailableError as error:
                why = error.message
            try:  # a temporary index instead of one that cannot be used
                self.index.release()
                self.index.place.use_temporary(why)
                return self.index.retry(asking)
            except (OSError, IndexUnavailableError):
                self.index.release()
        nothing = SearchResult(hits=(), warnings=(f"{why} Nothing was searched.",))
        return [nothing] * len(filter_sets)

    def _answers(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limits: Sequence[int],
        explain: bool,
        rerank: bool,
        until: float,
    ) -> tuple[list[SearchResult], set[str]]:
        """The answers, and the files that differ from the index."""
        today = self.index.clock.today()
        with self.index.roots() as roots:
            warnings = self.index.sync_for_search(roots, until - clock.monotonic())
            # The index last: a model that answers again closes it, and the index then has that model.
            words = self.index.open_word_vectors()
            config, index = self.index.config, self.index.open()
            index.question = question
            reranker, absent = self._reranker() if rerank else (None, ())
            reader, problems = self.index.reader(roots.own)
            query = QueryContext(
                plan=plan(question, today, reader),
                today=today,
                limit=max(limits),
                external=config.trust.external,
            )
            asked = Question(
                index=index,
                embedder=self.index.embedder,
                read_texts=partial(read_texts, roots),
                word_vectors=words,
                config=config.search,
                explain=explain,
                reranker=reranker,
                query=query,
                kinds=filter_sets,
            )
            warnings += problems + self._degraded() + absent
            found = list(map(asked.answer, filter_sets, limits))
            warnings += self.index.problems()
            results = [replace(one, warnings=(*warnings, *one.warnings)) for one in found]
            return results, asked.reading.changed_files()

    def _reranker(self) -> tuple[Reranker | None, tuple[str, ...]]:
        """The model that reads the best hits again, or why there is none."""
        try:
            return choose_reranker(self.index.config.search.rerank), ()
        except EmbeddingError as error:
            return None, (f"{error.message} {error.hint} The hits are not ranked again.",)

    def _degraded(self) -> tuple[str, ...]:
        """Warnings about what a search does without."""
        config = self.index.config.search
        both_off = () if config.words or config.meaning else (_BOTH_OFF,)
        return both_off + self.index.warnings() + self.index.embed_later()

    def explain_nothing(self, result: SearchResult, filters: Filters) -> SearchResult:
        """A result without hits, with a warning if nothing has the names, days or path of the filters."""
        shown = Filters(include_secret=filters.include_secret, now=filters.now)
        warnings = [*result.warnings, *explain_empty(filters)]

        def explained() -> list[str]:
            index = self.index.open()
            names = explain_names(filters, lambda kind: index.names(kind, shown))
            return [*names, *explain_path(filters, index.files())]

        with self.index.exclusive(), suppress(IndexUnavailableError):  # which the result says
            warnings += self.index.retry(explained)
        return replace(result, warnings=tuple(warnings))
