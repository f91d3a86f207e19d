"""Finding: keeps the index and the model of one memory open and in sync with its files, and queries them."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from memolith import clock as clocks
from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.errors import IndexUnavailableError, MemolithError
from memolith.files import gate
from memolith.files.chunk_text import read_texts
from memolith.ingest.open_index import OpenIndex
from memolith.ingest.sources import as_doubtful, text_digest
from memolith.ingest.status import index_status
from memolith.ingest.synonyms_file import SynonymsFile
from memolith.interfaces import IndexReplacedError
from memolith.reports import IndexStatus, SyncReport
from memolith.search.candidates import Situation
from memolith.search.filters import explain_names, explain_path
from memolith.search.pipeline import Parts, Question
from memolith.search.plan import Reader, plan, unread
from memolith.search.stages import stages, text_stages
from memolith.text.calendar_parts import is_southern
from memolith.text.wording import refused_chunks
from memolith.types import Filters, Progress, SearchResult

Answer = Callable[[Filters, int], SearchResult]
T = TypeVar("T")

_BLIND = (
    "search.words and search.meaning are both off, so nothing is found by what a question says."
)
# After a change of model, a search embeds old chunks for at most this long before it answers.
_MAX_EMBEDDING_SECONDS = 1.0
# After a search, each search within this time indexes for itself, and files are not indexed ahead of it.
_CLOSE_SECONDS = 1.0


class Finder:
    """Answers questions from the index of one memory; safe to share between threads."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        """Nothing is opened before the first search or sync."""
        self._open = OpenIndex(root, config, clock)
        self._synonyms = SynonymsFile()
        self._last_question = -math.inf

    def configure(self, config: Config, clock: Clock) -> None:
        """Use other settings from the next search on."""
        self._open.configure(config, clock)

    def close(self) -> None:
        """Close index and model: at once, or when the search that still uses them ends."""
        self._open.close()

    def search(
        self, question: str, limit: int, filters: Filters, *, explain: bool = False
    ) -> SearchResult:
        """Index what changed, then search; `warnings` says so if the index cannot be used."""
        found = self.ask(
            question, [filters], limit, lambda answer: answer(filters, limit), explain=explain
        )
        if not (problem := unread(question)):
            return found
        return replace(found, warnings=(*found.warnings, problem))

    def ask(
        self,
        question: str,
        kinds: Sequence[Filters],
        most: int,
        work: Callable[[Answer], T],
        *,
        explain: bool = False,
    ) -> T:
        """Sync and search once, and do `work` with the answers for several sets of filters.

        Each answer has at most `most` hits. The work is repeated when the index is replaced meanwhile.
        """

        gate.check_enabled(self._open.config.profile)

        def asking() -> T:
            found, changed = self._ask(question, kinds, most, work, explain=explain)
            if changed and self._read_again(changed):
                found, _ = self._ask(question, kinds, most, work, explain=explain)
            return found

        self._last_question = clocks.monotonic()
        with self._open.exclusive():
            try:
                return self._open.retry(asking)
            except IndexUnavailableError as error:
                return self._ask_elsewhere(asking, work, error.message)

    def _ask_elsewhere(self, asking: Callable[[], T], work: Callable[[Answer], T], why: str) -> T:
        """Search a temporary index instead of one that cannot be used."""
        try:
            self._open.release()
            self._open.place.go_elsewhere(why)
            return self._open.retry(asking)
        except (OSError, IndexUnavailableError):
            self._open.release()
        nothing = SearchResult(hits=(), warnings=(f"{why} Nothing was searched.",))
        return work(lambda *_: nothing)

    def _ask(
        self,
        question: str,
        kinds: Sequence[Filters],
        most: int,
        work: Callable[[Answer], T],
        *,
        explain: bool,
    ) -> tuple[T, set[str]]:
        """The answer, and the files that were not as the index says."""
        self._open.open_embedder()
        warnings = self._sync_for_search()
        with self._open.roots() as roots:
            # The index last: a model that answers again closes it. From here on it is that of the index.
            words = self._open.open_word_vectors()
            config, index = self._open.config.search, self._open.open()
            parts = Parts(
                index=index,
                embedder=self._open.embedder,
                read_texts=lambda chunks: read_texts(roots, chunks),
                digest=text_digest,
                stages=stages(config, words, index.tokens),
                word_vectors=words,
                text_stages=text_stages(config),
                explain=explain,
                by_words=config.words,
                rrf_k=config.rrf_k,
            )
            today = self._open.clock.today()
            synonyms, problems = self._synonyms.read(roots.own, config.synonyms_path)
            reader = Reader(
                synonyms=synonyms,
                southern=is_southern(self._open.config.profile.timezone),
            )
            situation = Situation(
                question=question,
                today=today,
                limit=most,
                external=self._open.config.trust.external,
            )
            asked = Question(parts, plan(question, today, reader), situation, kinds)
            warnings += problems + self._degraded()

            def answer(filters: Filters, limit: int) -> SearchResult:
                result = asked.answer(filters, limit)
                if not warnings:
                    return result
                return replace(result, warnings=(*warnings, *result.warnings))

            return work(answer), asked.changed_files()

    def _sync_for_search(self) -> tuple[str, ...]:
        try:
            return self._open.sync(None, _MAX_EMBEDDING_SECONDS).warnings
        except IndexReplacedError:
            raise
        except IndexUnavailableError as error:
            if not self._open.open().stats().chunks:
                raise
            return (f"{error.message} What changed since then is not found yet.",)

    def _degraded(self) -> tuple[str, ...]:
        """What a search does without."""
        config, problem = self._open.config.search, self._open.model.problem
        warnings = self._open.place.told()
        if not (config.words or config.meaning):
            warnings += (_BLIND,)
        if config.meaning and problem:
            warnings += (f"{problem} Searched by words only.",)
        return warnings + self._open.embed_later()

    def _read_again(self, paths: Collection[str]) -> bool:
        """Have the next sync read files that are not as the index says, whatever their stamps are.

        False if that would change nothing: they were read again already, or nothing can be written.
        """
        index = self._open.open()
        known = index.files()
        doubtful = [path for path in paths if path not in known or known[path].digest]
        try:
            index.replace_files([as_doubtful(known, path) for path in doubtful if path in known])
        except IndexReplacedError:
            raise
        except IndexUnavailableError:
            return False
        return bool(doubtful)

    def explain_nothing(self, result: SearchResult, filters: Filters) -> SearchResult:
        """A result without hits; it says which names exist if there is nothing of a name asked for."""
        shown = Filters(include_secret=filters.include_secret, now=filters.now)
        warnings = list(result.warnings)
        with self._open.exclusive(), suppress(IndexUnavailableError):  # which the result says
            warnings += explain_names(
                filters,
                lambda kind: self._open.retry(lambda: self._open.open().names(kind, shown)),
            )
            if filters.path is not None:
                paths = self._open.retry(lambda: set(self._open.open().files()))
                warnings += explain_path(filters, paths)
        return replace(result, warnings=tuple(warnings))

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Bring the index in line with the files."""
        with self._open.exclusive():
            report = self._open.retry(lambda: self._open.sync(progress))
            return replace(report, warnings=(*report.warnings, *self._left_undone()))

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Delete the index and make it again from the files."""
        with self._open.exclusive():
            self._open.retry(lambda: self._open.open().clear())
            report = self._open.retry(lambda: self._open.sync(progress))
            return replace(report, warnings=(*report.warnings, *self._left_undone()))

    def sync_now(self) -> None:
        """Index files that we changed; as a search, it does not wait for vectors for long."""
        with self._open.exclusive():
            self._open.retry(lambda: self._open.sync(None, _MAX_EMBEDDING_SECONDS))

    def keep_up(self) -> bool:
        """Index files that changed, if the index is open; never fails.

        False if searches come so close that each indexes for itself: better try again later.
        """
        if clocks.monotonic() - self._last_question < _CLOSE_SECONDS:
            return False
        with self._open.exclusive(), suppress(MemolithError):
            if self._open.is_open:
                self.sync_now()
        return True

    def status(self, *, ask_model: bool = True) -> IndexStatus:
        """How far the index is behind the files, and whether the model answers; nothing is changed."""

        def compare() -> IndexStatus:
            with self._open.roots() as roots:
                return index_status(roots, self._open.place.folder)

        with self._open.exclusive():
            status = self._open.retry(compare)
            asks = ask_model and self._open.config.search.meaning
            if not (problem := self._open.model.ask() if asks else ""):
                return status
            warning = f"{problem} Search goes by words only."
            return replace(status, warnings=(*status.warnings, warning))

    def purge(self) -> tuple[str, ...]:
        """Remove what was forgotten from the index and from cached vectors; returns what may still hold it.

        Not an error: the files no longer have it, so the user could not forget it again.
        """
        warnings = []
        for work in (self._purge_index, self._purge_cache):
            try:
                work()
            except MemolithError as error:
                warnings.append(
                    f"{error.message} It may still hold words of the record. {error.hint}"
                    " Then rebuild the index: memolith reindex"
                )
        return tuple(warnings)

    def _purge_index(self) -> None:
        with self._open.exclusive():
            try:
                self.sync_now()
                self._open.retry(lambda: self._open.open().purge())
            except IndexUnavailableError:  # another process uses it, but nothing of it may stay
                self._open.retry(lambda: self._open.open().clear())

    def _purge_cache(self) -> None:
        if os.path.lexists(self._open.cache_path):
            from memolith.index.vector_cache import forget_all

            forget_all(self._open.cache_path)

    def _left_undone(self) -> Iterator[str]:
        """What a sync could not do: keep an index, or have the model answer for each text."""
        yield from self._open.place.told()
        if self._open.config.search.meaning:
            if self._open.model.problem:
                yield f"{self._open.model.problem} Text is found by words only for now."
            if refused := self._open.open().refused():
                yield f"{refused_chunks(refused)}."
