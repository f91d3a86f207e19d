"""The search engine of one memory: its finder and its cache of answers, shared by all views of it."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from memolith.config.setting import Value
from memolith.errors import ConfigError, IndexUnavailableError
from memolith.files import gate
from memolith.store import Store
from memolith.types import Progress

if TYPE_CHECKING:  # only a search needs the index
    from memolith.context.cache import AnswerCache
    from memolith.context.turn import Turn
    from memolith.finder import Finder
    from memolith.ingest.open_index import OpenIndex
    from memolith.reports import IndexStatus, MigrationReport, Reconfiguration, SyncReport
    from memolith.results import Filters, Hit, SearchResult, TurnContext

_QUESTIONS = 20  # texts of the newest records
_FIRST = 5  # what one engine finds first has to be among this many of the other


class Engine:
    """Opened by the first search; safe to share between threads."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._guard = threading.Lock()
        self.opened: Finder | None = None  # once something was searched
        self._answers: AnswerCache | None = None

    def finder(self) -> Finder:
        """The finder; two threads that search first at the same moment get the same."""
        from memolith.embed.choose import multiply_in_one_thread

        multiply_in_one_thread()  # before NumPy is loaded
        from memolith.finder import Finder

        with self._guard:
            if self.opened is None:
                self.opened = Finder(self._store.root, self._store.config, self._store.clock)
            return self.opened

    def ask(
        self,
        question: str,
        filter_sets: Sequence[Filters],
        limits: Sequence[int],
        seconds: float = math.inf,
    ) -> list[SearchResult]:
        """Ask the finder; a memory that does not exist yet has no hits, and a warning."""
        from memolith.results import SearchResult

        profile = self._store.profile
        if not profile.exists:
            return [SearchResult(hits=(), warnings=profile.missing)] * len(filter_sets)
        return self.finder().ask(question, filter_sets, limits, seconds=seconds)

    def search(
        self, text: str, limit: int, filters: Filters, *, explain: bool, log: bool
    ) -> SearchResult:
        """Ask the finder and log what it shows; a result without hits says why it has none.

        A person who looks around recalls nothing, so that is not logged.
        """
        finder = self.finder()
        result = finder.search(text, max(0, limit), filters, explain=explain)
        if not result.hits:
            result = finder.explain_nothing(result, filters)
        if log:
            self._store.note_shown(result.hits, text, "search")
        return result

    def recall(self, question: str, limit: int, filters: Filters) -> SearchResult:
        """A search whose answer may be a moment old, but never older than the last write."""
        from memolith.context.cache import digest_of

        def make() -> SearchResult:
            found = self.ask(question, [filters], [limit])[0]
            self._store.note_shown(found.hits, question, "recall")
            return found

        # Of the moment, the day counts: what expires meanwhile is seen to below.
        key = (replace(filters, now=None), limit, self._store.clock.today(), digest_of(question))
        # That nothing fits better is said in a warning too, but is no reason to search again.
        return self._cache().answer(
            key,
            make,
            lambda found: len(found.warnings) == found.weak and self._will_hold(found.hits),
        )

    def recall_in_time(
        self, question: str, limit: int, filters: Filters, seconds: float
    ) -> SearchResult:
        """The same, with a deadline; after it nothing was found, and the warnings say why."""
        from memolith.context.deadline import in_time
        from memolith.results import SearchResult

        warning = f"The search took longer than {seconds:g} seconds."
        late = SearchResult(hits=(), warnings=(warning,))
        return in_time(lambda: self.recall(question, limit, filters), seconds, late)

    def context(self, turn: Turn, filters: Filters) -> TurnContext:
        """What is worth knowing before an answer, from the cache if nothing changed."""
        from memolith.context.cache import digest_of
        from memolith.context.turn import Known, ids_at, turn_context

        def make() -> TurnContext:
            known = Known((*turn.known, *ids_at(turn.known, self._store.root)))
            found = turn_context(turn, self._store.config.context, self.ask, filters, known)
            self._store.note_shown((*found.hits, *found.experiences), turn.message, "context")
            return found

        options = (turn.session, turn.kind, turn.chat, turn.max_tokens, turn.limit)
        asked = digest_of(turn.message, *turn.known)
        # What is held back is said in a warning too, but is no reason to search again.
        return self._cache().answer(
            (*options, self._store.clock.today(), asked),
            make,
            lambda context: (
                len(context.warnings) == bool(context.held)
                and self._will_hold((*context.hits, *context.experiences))
            ),
        )

    def _cache(self) -> AnswerCache:
        """The answers that were given, with the settings in effect."""
        from memolith.context.cache import AnswerCache
        from memolith.files.disk_view import StoreVersion

        config = self._store.config
        with self._guard:
            if self._answers is None:
                own_words = (config.search.synonyms_path, config.search.stop_words_path)
                version = StoreVersion(self._store.root, config.index.extra_paths, own_words)
                limits = (config.context.cache_entries, config.context.cache_seconds)
                self._answers = AnswerCache(*limits, version)
            return self._answers

    def _will_hold(self, hits: Iterable[Hit]) -> bool:
        """Whether none of them expires as long as the answer may be given."""
        from memolith.context.cache import STALE_TIMES

        seconds = STALE_TIMES * self._store.config.context.cache_seconds
        until = self._store.clock.now() + timedelta(seconds=seconds)
        return all(hit.expires is None or hit.expires > until for hit in hits)

    def reconfigure(self) -> Reconfiguration:
        """Read the settings again and use them; broken ones leave everything as it was."""
        from memolith.reports import Reconfiguration

        try:
            changed, restart = self._store.reload_settings()
        except ConfigError as error:
            return Reconfiguration(problem=str(error))
        if self.opened is not None:
            self.opened.index.configure(self._store.config, self._store.clock)
        self._answers = None  # they were those of the settings before
        return Reconfiguration(changed=tuple(changed), restart=tuple(restart))

    def close(self) -> None:
        """Close index and model; the next search opens them again."""
        if self.opened is not None:
            self.opened.index.close()


@gate.checks_types
class IndexCommands:
    """`Memory.index`: what can be done with the index, which is derived from the files."""

    def __init__(self, store: Store, engine: Engine) -> None:
        self._store = store
        self._engine = engine

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Bring the index in line with the files.

        `progress` is called with files done and in all.
        """
        return self._index().sync(progress)

    def on_progress(self, progress: Progress) -> None:
        """Call `progress` with files done and in all while a search brings the index in line."""
        self._engine.finder().index.progress = progress

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Delete the index and make it again from the files."""
        return self._index().rebuild(progress)

    def migrate(
        self, backend: str, *, url: str | None = None, progress: Progress | None = None
    ) -> MigrationReport:
        """Index every file with another engine, and compare its answers; settings stay as they are.

        Raises IndexUnavailableError if it cannot be used, or holds something else.
        """
        from memolith.finder import Finder
        from memolith.reports import MigrationReport
        from memolith.results import Filters

        self._index()
        old = self._engine.finder()
        settings: dict[str, Value] = {"index.backend": backend}
        if url is not None:
            settings["index.url"] = url
        other, before = self._store.with_settings(settings), self._store.config.index.backend
        backend = other.config.index.backend
        new = Finder(other.root, other.config, other.clock)
        with closing(new.index):
            old.index.sync()
            warnings = new.index.sync(progress).warnings
            had, has = old.index.status(), new.index.status()
            filters = Filters(now=self._store.clock.now())
            questions = [record.text for record in self._store.records()[-_QUESTIONS:]]
            first = [{hit.citation for hit in old.search(one, 1, filters)} for one in questions]
            found = [
                {hit.citation for hit in new.search(one, _FIRST, filters)} for one in questions
            ]
            # An engine that another one answers for has not been moved to.
            problems = [*new.index.place.warnings(), *new.index.problems()]
            if (has.files, has.chunks) != (had.files, had.chunks):
                problems.append(
                    f"{backend} has {has.chunks:,} chunks of {has.files:,} files,"
                    f" and {before} {had.chunks:,} of {had.files:,}."
                )
            if problems:
                raise IndexUnavailableError(
                    f"The memory was not moved to {backend}. {problems[0]}",
                    path=new.index.place.folder,
                    hint="Mend that, and run it again: it goes on where it was.",
                )
        return MigrationReport(
            backend=backend,
            before=before,
            files=has.files,
            chunks=has.chunks,
            asked=len(questions),
            same=sum(map(set.issubset, first, found)),
            warnings=warnings,
        )

    def status(self) -> IndexStatus:
        """How far the index is behind the files; nothing is made or changed."""
        return self._index().status()

    def keep_up(self) -> None:
        """Index what has changed on the disk, for a watcher; before the first search, nothing."""
        if self._engine.opened is not None:
            self._engine.opened.index.keep_up()

    def warm(self) -> None:
        """Open the index and the model in the background, so that the first answer is quick.

        Returns at once; the first search says what could not be opened.
        """
        from memolith.context.deadline import in_time
        from memolith.results import Filters, SearchResult

        if self._store.profile.exists:
            late = list[SearchResult]()
            in_time(lambda: self._engine.ask("warm", [Filters()], [1]), 0.0, late)

    def _index(self) -> OpenIndex:
        """The index of a memory that exists."""
        self._store.existing().close()
        return self._engine.finder().index
