"""Finding: questions to the index of one memory, which follows the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.errors import IndexUnavailableError
from memolith.files import gate
from memolith.files.chunk_text import read_texts
from memolith.ingest.open_index import OpenIndex
from memolith.ingest.sources import text_digest
from memolith.ingest.synonyms_file import SynonymsFile
from memolith.results import Filters, SearchResult
from memolith.search.candidates import QueryContext
from memolith.search.filters import explain_names, explain_path
from memolith.search.pipeline import Question, Resources
from memolith.search.plan import Reader, plan, unread
from memolith.text.calendar_parts import is_southern

Answer = Callable[[Filters, int], SearchResult]
T = TypeVar("T")

_BOTH_OFF = "search.words and search.meaning are both off, so nothing is found by its content."


class Finder:
    """Answers questions from the index of one memory; safe to share between threads."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        self.index = OpenIndex(root, config, clock)
        self._synonyms = SynonymsFile()

    def search(
        self, question: str, limit: int, filters: Filters, *, explain: bool = False
    ) -> SearchResult:
        """Index what changed, then search; `warnings` says so if the index cannot be used."""
        found = self.ask(
            question, [filters], limit, lambda answer: answer(filters, limit), explain=explain
        )
        problem = unread(question)
        return replace(found, warnings=(*found.warnings, problem)) if problem else found

    def ask(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limit: int,
        work: Callable[[Answer], T],
        *,
        explain: bool = False,
    ) -> T:
        """Sync and search once, and do `work` with the answers for several sets of filters.

        Each answer has at most `limit` hits. The work is repeated when the index is replaced meanwhile.
        """

        gate.check_enabled(self.index.config.profile)

        def asking() -> T:
            found, changed = self._ask(question, filter_sets, limit, work, explain=explain)
            if changed and self.index.read_again(changed):
                found, _ = self._ask(question, filter_sets, limit, work, explain=explain)
            return found

        with self.index.exclusive():
            try:
                return self.index.retry(asking)
            except IndexUnavailableError as error:
                return self._ask_elsewhere(asking, work, error.message)

    def _ask_elsewhere(self, asking: Callable[[], T], work: Callable[[Answer], T], why: str) -> T:
        """Search a temporary index instead of one that cannot be used."""
        try:
            self.index.release()
            self.index.place.use_temporary(why)
            return self.index.retry(asking)
        except (OSError, IndexUnavailableError):
            self.index.release()
        nothing = SearchResult(hits=(), warnings=(f"{why} Nothing was searched.",))
        return work(lambda *_: nothing)

    def _ask(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limit: int,
        work: Callable[[Answer], T],
        *,
        explain: bool,
    ) -> tuple[T, set[str]]:
        """The answer, and the files that differ from the index."""
        self.index.open_embedder()
        warnings = self.index.sync_for_search()
        with self.index.roots() as roots:
            # The index last: a model that answers again closes it, and the index then has that model.
            words = self.index.open_word_vectors()
            config, index = self.index.config, self.index.open()
            resources = Resources(
                index=index,
                embedder=self.index.embedder,
                read_texts=lambda chunks: read_texts(roots, chunks),
                digest=text_digest,
                word_vectors=words,
                config=config.search,
                explain=explain,
            )
            today = self.index.clock.today()
            synonyms, problems = self._synonyms.read(roots.own, config.search.synonyms_path)
            reader = Reader(synonyms=synonyms, southern=is_southern(config.profile.timezone))
            query = QueryContext(
                question=question, today=today, limit=limit, external=config.trust.external
            )
            asked = Question(resources, plan(question, today, reader), query, filter_sets)
            warnings += problems + self._degraded()

            def answer(filters: Filters, limit: int) -> SearchResult:
                result = asked.answer(filters, limit)
                return replace(result, warnings=(*warnings, *result.warnings))

            return work(answer), asked.changed_files()

    def _degraded(self) -> tuple[str, ...]:
        """Warnings about what a search does without."""
        config, problem = self.index.config.search, self.index.model.problem
        warnings = self.index.place.warnings()
        if not (config.words or config.meaning):
            warnings += (_BOTH_OFF,)
        if config.meaning and problem:
            warnings += (f"{problem} Searched by words only.",)
        return warnings + self.index.embed_later()

    def explain_nothing(self, result: SearchResult, filters: Filters) -> SearchResult:
        """A result without hits, with a warning if nothing has the category, session, chat or path of the filters."""
        shown = Filters(include_secret=filters.include_secret, now=filters.now)
        warnings = list(result.warnings)
        with self.index.exclusive(), suppress(IndexUnavailableError):  # which the result says
            warnings += explain_names(
                filters, lambda kind: self.index.retry(lambda: self.index.open().names(kind, shown))
            )
            if filters.path is not None:
                paths = self.index.retry(lambda: set(self.index.open().files()))
                warnings += explain_path(filters, paths)
        return replace(result, warnings=tuple(warnings))
