"""The index and the model of one profile: opened when they are needed, kept in line with the files."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from memolith import clock as clocks
from memolith.clock import Clock
from memolith.config.sections import Config
from memolith.embed.choose import choose_word_vectors
from memolith.errors import IndexUnavailableError, MemolithError
from memolith.files.folder import Folder
from memolith.files.layout import EMBEDDINGS, INDEX_FOLDER
from memolith.files.locks import make_state_folder
from memolith.files.roots import Roots
from memolith.index.choose import open_index
from memolith.index.place import IndexPlace
from memolith.ingest.background import Background
from memolith.ingest.embedding import embed_waiting
from memolith.ingest.flaws import told_of  # a memory without flaws need not load it
from memolith.ingest.model import Model
from memolith.ingest.sources import Days, Sources, as_doubtful
from memolith.ingest.status import index_status
from memolith.ingest.sync import sync
from memolith.interfaces import Embedder, Index, IndexReplacedError, WordVectors
from memolith.reports import IndexStatus, SyncReport, told_of_refused
from memolith.types import Progress

# Who closes waits so long for a search that runs; a search that is late must not hold up its caller.
_PATIENCE_SECONDS = 0.3
# Searches that follow each other so closely are not held up by what is indexed ahead of them.
_CLOSE_SECONDS = 1.0
# After a change of model, a search embeds old chunks for at most so long before it answers.
_EMBEDDING_SECONDS = 1.0
# A search begins again when the index was made anew meanwhile: at least so often, and for so long.
_ATTEMPTS = 5
_SECONDS_OF_ATTEMPTS = 10.0
_NEVER = float("-inf")
T = TypeVar("T")


class KeptIndex:
    """The index and the model of one profile in one process; safe to share between threads."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        """Nothing is opened before the first search or sync."""
        self._root = root
        self._config = config
        self._clock = clock
        self._guard = threading.RLock()
        self._index: Index | None = None
        self._indexed_by: Embedder | None = None  # the model the index was opened for
        self._model = self._new_model()
        self._background = Background(self._embed_in_background)
        self._word_vectors: WordVectors | None = None
        self._asked = _NEVER
        self._place = IndexPlace(os.path.join(root, INDEX_FOLDER))
        self._closing = False

    def configure(self, config: Config, clock: Clock) -> None:
        """Use other settings from the next search on."""
        with self._guard:
            before, self._config, self._clock = self._config, config, clock
            if (config.search.meaning, config.embed) != (before.search.meaning, before.embed):
                self._close()  # the index is opened for the model it is searched with
                self._model = self._new_model()

    def close(self) -> None:
        """Let go of the index: at once, or when what still is at work with it ends."""
        self._closing = True
        if not self._guard.acquire(timeout=_PATIENCE_SECONDS):
            return
        try:
            self._close()
        finally:
            self._guard.release()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        """Use index and model alone; whoever wanted to close them meanwhile gets it at the end."""
        with self._guard:
            try:
                yield
            finally:
                if self._closing:
                    self._close()

    def _close(self) -> None:
        self._closing = False
        self._background.stop()
        self._model.close()
        if self._index is not None:
            self._index.close()
            self._index = None
        self._place.close()

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Bring the index in line with the files."""
        with self._at_work():
            report = self._again_if_replaced(lambda: self._sync(progress))
            return replace(report, warnings=(*report.warnings, *self._left_undone()))

    def keep_up(self) -> bool:
        """Files may have changed: index them now, unless a search just did or none ever was; never fails.

        False if searches come so close that each of them looks for itself: better try again later.
        """
        if clocks.monotonic() - self._asked < _CLOSE_SECONDS:
            return False
        with self._at_work(), suppress(MemolithError):
            if self._index is not None:
                self._again_if_replaced(lambda: self._sync(None, _EMBEDDING_SECONDS))
        return True

    def follow(self) -> None:
        """Files were changed by us: index them now. As a search, it does not wait for vectors for long."""
        with self._at_work():
            self._again_if_replaced(lambda: self._sync(None, _EMBEDDING_SECONDS))

    def reindex(self, progress: Progress | None = None) -> SyncReport:
        """Throw the index away and make it again from the files."""
        with self._at_work():
            self._again_if_replaced(lambda: self._open_index().clear())
            report = self._again_if_replaced(lambda: self._sync(progress))
            return replace(report, warnings=(*report.warnings, *self._left_undone()))

    def status(self, *, ask_model: bool = True) -> IndexStatus:
        """How the index stands to the files, and whether the model answers; nothing is made or changed."""
        with self._at_work():
            status = self._again_if_replaced(self._status)
            problem = self._model.ask() if ask_model and self._config.search.meaning else ""
            if not problem:
                return status
            told = f"{problem} Search goes by words only."
            return replace(status, warnings=(*status.warnings, told))

    def _left_undone(self) -> Iterator[str]:
        """What a sync could not do: keep an index, or have the model answer for each text."""
        yield from self._place.told()
        if self._config.search.meaning:
            if self._model.problem:
                yield f"{self._model.problem} Text is found by words only for now."
            if refused := self._open_index().refused():
                yield f"{told_of_refused(refused)}."

    def _again_if_replaced(self, work: Callable[[], T]) -> T:
        """Repeat what was being done when the index was made anew meanwhile."""
        attempts, deadline = 0, clocks.monotonic() + _SECONDS_OF_ATTEMPTS
        while attempts < _ATTEMPTS or clocks.monotonic() < deadline:
            attempts += 1
            try:
                return work()
            except IndexReplacedError:
                self._close()
        return work()

    def purge(self) -> tuple[str, ...]:
        """Something was forgotten: leave nothing of it in the index, or among vectors kept apart.

        Says what may hold it yet. No error: the files are rid of it, so nobody could forget it again.
        """
        told = list[str]()
        for work in (self._purge_index, self._purge_cache):
            try:
                work()
            except MemolithError as error:
                told.append(
                    f"{error.message} It may still hold words of the record. {error.hint}"
                    " Then make the index anew: memolith reindex"
                )
        return tuple(told)

    def _purge_index(self) -> None:
        with self._at_work():
            try:
                self.follow()
                self._again_if_replaced(lambda: self._open_index().purge())
            except IndexUnavailableError:  # whoever holds it, nothing of it may stay
                self._again_if_replaced(lambda: self._open_index().clear())

    def _purge_cache(self) -> None:
        if os.path.lexists(self._cache_path):
            from memolith.index.vector_cache import forget_all

            forget_all(self._cache_path)

    def _sync(self, progress: Progress | None, embedding_seconds: float = math.inf) -> SyncReport:
        embedder = self._open_embedder()
        is_search = embedding_seconds < math.inf
        if self._model.is_slow and is_search:
            embedder = None  # a search does not wait for it
        if not is_search:
            self._background.stop()  # two would embed the same chunks
        with self._roots() as roots:
            report = sync(
                self._sources(roots, self._open_word_vectors()),
                self._open_index(),
                embedder,
                progress,
                embedding_seconds=None if self._background.is_at_work else embedding_seconds,
            )
        flaws = self._tell_flaws()
        return replace(report, warnings=report.warnings + flaws) if flaws else report

    def _tell_flaws(self) -> tuple[str, ...]:
        flawed = self._open_index().flaws()
        if not flawed:
            return ()

        return told_of(flawed)

    def _look(self) -> tuple[str, ...]:
        """Index what has changed on the disk; returns warnings."""
        try:
            return self._sync(None, _EMBEDDING_SECONDS).warnings
        except IndexReplacedError:
            raise
        except IndexUnavailableError as error:
            if not self._open_index().stats().chunks:
                raise
            return (f"{error.message} What changed since then is not found yet.",)

    def _read_again(self, paths: Collection[str]) -> bool:
        """Have the next look read files that are not as the index says, whatever their stamps are.

        False if nothing would come of it: they have been read again already, or nothing can be written.
        """
        index = self._open_index()
        known = index.files()
        doubtful = [path for path in paths if path not in known or known[path].digest]
        try:
            index.replace_files([as_doubtful(known, path) for path in doubtful if path in known])
        except IndexReplacedError:
            raise
        except IndexUnavailableError:
            return False
        return bool(doubtful)

    def _go_elsewhere(self, why: str) -> None:
        """Do without an index that cannot be used: make one in another place."""
        self._close()
        self._place.go_elsewhere(why)

    def _open_word_vectors(self) -> WordVectors | None:
        if self._word_vectors is None:
            self._word_vectors = choose_word_vectors(self._open_embedder())
        return self._word_vectors

    def _open_index(self) -> Index:
        if self._index is None:
            embedder = self._open_embedder()
            with Folder(self._root) as folder, suppress(OSError):
                make_state_folder(folder)  # private, and not for git
            self._index = open_index(self._place.choose(), embedder)
            self._indexed_by = embedder
        return self._index

    def _open_embedder(self) -> Embedder | None:
        embedder = self._model.open() if self._config.search.meaning else None
        if self._index is not None and embedder is not self._indexed_by:
            self._close()  # the model answers again
        return embedder

    def _status(self) -> IndexStatus:
        with self._roots() as roots:
            return index_status(roots, self._place.folder)

    def _embed_later(self) -> tuple[str, ...]:
        """Have chunks without a vector embedded while others search; says how many there are."""
        index = self._open_index()
        if self._indexed_by is None:
            return ()
        # Who embeds in the background also puts in what is done: until then words alone find that.
        if not (index.without_vector(1) or self._background.is_at_work):
            refused = index.refused() if self._model.is_slow else 0
            return (f"{told_of_refused(refused)}.",) if refused else ()
        waiting = index.stats().without_vector
        self._background.start()
        why = f" {self._background.problem}" if self._background.problem else ""
        some = f"{waiting:,}" if waiting else "Some"
        return (f"{some} chunks are found by words only until they are embedded.{why}",)

    def _embed_in_background(self, is_stopped: Callable[[], bool]) -> str:
        model = self._model
        embedder = model.another()
        warnings: list[str] = []
        try:
            with (
                self._roots() as roots,
                closing(open_index(self._place.folder, embedder)) as index,
            ):
                sources = self._sources(roots, self._word_vectors)

                def is_enough() -> bool:
                    index.maintain()  # nobody else does, while we are at it
                    return is_stopped()

                embedded = embed_waiting(sources, index, embedder, warnings, is_enough)
                index.maintain(embedded=embedded)
        finally:
            model.let_go(embedder)
        return " ".join(warnings)

    @contextmanager
    def _roots(self) -> Iterator[Roots]:
        extra_paths = self._config.index.extra_paths
        with Folder(self._root) as folder, Roots(folder, extra_paths) as roots:
            yield roots

    def _sources(self, roots: Roots, word_vectors: WordVectors | None) -> Sources:
        return Sources(
            roots,
            Days(lambda item: self._clock.day_of(item.created), self._clock.zone),
            word_vectors=word_vectors,
        )

    def _new_model(self) -> Model:
        return Model(self._config.embed, self._cache_path)

    @property
    def _cache_path(self) -> str:
        return os.path.join(self._root, EMBEDDINGS)
