"""The index and the model of one memory, kept open and in sync with its files."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

from memolith import clock as clocks
from memolith.clock import Clock
from memolith.config.sections import SETTINGS, Config
from memolith.embed.choose import choose_word_vectors
from memolith.engines.choose import is_elsewhere, open_engine
from memolith.errors import IndexUnavailableError, MemolithError
from memolith.files.chunking import ChunkSize
from memolith.files.disk_view import Listings, Roots, last_write
from memolith.files.folder import Folder
from memolith.files.layout import EMBEDDINGS, index_folder
from memolith.files.locks import EMBED_LOCK, OwnerLock, make_state_folder
from memolith.index.place import IndexPlace, open_index
from memolith.ingest.embedding import Background, Model, embed_waiting
from memolith.ingest.sync import PATIENT, RACY, Patience, Sources, as_doubtful, sync
from memolith.interfaces import Embedder, Index, IndexReplacedError, WordVectors
from memolith.reports import IndexStatus, SyncReport
from memolith.search.plan import Reader
from memolith.text.cleaning import shown_path
from memolith.text.synonyms import load_synonyms
from memolith.text.terms import StopWords
from memolith.text.wording import refused_chunks
from memolith.types import Progress

T = TypeVar("T")

# close() waits at most this long for a running search; a late search must not hold up its caller.
_MAX_CLOSE_SECONDS = 0.3
# After a change of model, a search embeds old chunks for at most this long before it answers.
_MAX_EMBEDDING_SECONDS = 1.0
# A look at this many files takes longer than the search, so one right after another does not look again,
# unless somebody wrote to the memory: nobody asks about an edit so soon.
_MANY_FILES = 2_000
_BELIEVED_SECONDS = 0.25
# A folder whose times are as they were is not listed again for this long after it was: there are file systems,
# most of them on other machines, on which these say nothing. Every file is looked at all the same.
_LISTED_SECONDS = 2.0
# Work begins again when the index was replaced meanwhile: at least this often, and for this long.
_MIN_ATTEMPTS = 5
_RETRY_SECONDS = 10.0
# An engine on another machine that cannot be used is tried again after this.
_ENGINE_PAUSE_SECONDS = 30.0
# Of a file of the user's own synonyms or stop words. Each search reads them, and they change seldom.
_MAX_BYTES = 1 << 20
_SHOWN_PROBLEMS = 3
_load_synonyms, _load_stop_words = lru_cache(8)(load_synonyms), lru_cache(8)(StopWords.load)


class OpenIndex:
    """The index and the model of one memory, opened when needed. To be used inside `exclusive`."""

    def __init__(self, root: str, config: Config, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self._cache_path = os.path.join(root, EMBEDDINGS)
        self.place = IndexPlace(index_folder(root, config.index.path))
        self.embedder: Embedder | None = None  # the model that the index was opened for
        self.model = Model(config.embed, self._cache_path)
        self._background = Background(self._embed_in_background)
        self._root = root
        self._guard = threading.RLock()
        self._index: Index | None = None
        self._word_vectors: WordVectors | None = None
        self._closing = False
        self._listings: Listings = {}
        self._written: object = None  # the last write that was seen
        self._listed_until = self._believed_until = 0.0
        self._try_at = 0.0
        self.progress: Progress | None = None  # of a sync that a search waits for

    def configure(self, config: Config, clock: Clock) -> None:
        """Use other settings from the next search on."""
        with self._guard:
            before, self.config, self.clock = self.config, config, clock
            new, old = ((one.search.meaning, one.embed, one.index) for one in (config, before))
            if new != old:
                self._close()  # the index is opened for the model it is searched with
                self.place = IndexPlace(index_folder(self._root, config.index.path))

    def close(self) -> None:
        """Close index and model: at once, or when the search that still uses them ends."""
        self._closing = True
        if self._guard.acquire(timeout=_MAX_CLOSE_SECONDS):
            try:
                self._close()
            finally:
                self._guard.release()

    def _close(self) -> None:
        self._closing = False
        self.release()
        self.model = Model(self.config.embed, self._cache_path)
        self.embedder = self._word_vectors = None

    def release(self) -> None:
        """Close the files of the index; the next use opens them again, with the same model."""
        self._background.stop()
        self._look_again()
        if self._index is not None:
            self._index.close()
            self._index = None
        self.place.close()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Hold index and model for one thread; a `close` of another thread happens at the end."""
        with self._guard:
            try:
                yield
            finally:
                if self._closing:
                    self._close()

    def retry(self, work: Callable[[], T]) -> T:
        """Do the work, again when the index was replaced meanwhile."""
        attempts, deadline = 0, clocks.monotonic() + _RETRY_SECONDS
        while attempts < _MIN_ATTEMPTS or clocks.monotonic() < deadline:
            attempts += 1
            try:
                return work()
            except IndexReplacedError:
                self.release()
        return work()

    def open(self) -> Index:
        """The index, opened for the model in use."""
        if self._index is None:
            embedder = self.open_embedder()
            with Folder(self._root) as folder, suppress(OSError):
                make_state_folder(folder)  # private, and not for git
            self._index = self._open_engine(embedder)
            self.embedder = embedder
        return self._index

    def _open_engine(self, embedder: Embedder | None) -> Index:
        index, place = self.config.index, self.place
        if place.is_temporary:  # the engine cannot be used, and will be tried again
            return open_index(place.folder, embedder)
        folder = place.folder if is_elsewhere(index) else place.choose()
        return open_engine(index, folder, self._root, embedder)

    def try_again(self) -> None:
        """Go back to an engine elsewhere that could not be used, some time later."""
        now = clocks.monotonic()
        if not (self.place.is_temporary and is_elsewhere(self.config.index)):
            self._try_at = now + _ENGINE_PAUSE_SECONDS
        elif now >= self._try_at:
            self.release()

    def problems(self) -> tuple[str, ...]:
        """Why answers are worse than they could be."""
        return (self._index.problem,) if self._index is not None and self._index.problem else ()

    def open_embedder(self) -> Embedder | None:
        """The model; None if meaning is off or it does not answer."""
        embedder = self.model.open() if self.config.search.meaning else None
        if self._index is not None and embedder is not self.embedder:
            self.release()  # the model answers again
        return embedder

    def open_word_vectors(self) -> WordVectors | None:
        """The meanings of single words, if any model is in use."""
        if self._word_vectors is None:
            self._word_vectors = choose_word_vectors(self.open_embedder())
        return self._word_vectors

    @contextmanager
    def roots(self) -> Iterator[Roots]:
        """The folders that are searched."""
        extra_paths = self.config.index.extra_paths
        with Folder(self._root) as folder, Roots(folder, extra_paths) as roots:
            roots.listings = self._listings
            yield roots

    def sync(self, progress: Progress | None = None) -> SyncReport:
        """Bring the index in line with the files."""
        with self.exclusive():
            report = self.retry(lambda: self._sync(progress))
            warnings = (*report.warnings, *self.warnings(), *self._refused())
            return replace(report, warnings=warnings)

    def rebuild(self, progress: Progress | None = None) -> SyncReport:
        """Delete the index and make it again from the files."""
        with self.exclusive():
            self.retry(lambda: self.open().clear())
            report = self.sync(progress)
            # All of it is new, whether this process or another one was first to index a file.
            return replace(report, indexed=report.files, chunks=self.open().stats().chunks)

    def sync_now(self) -> None:
        """Index files that we changed; like a search, it does not wait long for vectors."""
        with self.exclusive():
            self.retry(lambda: self._sync(None, self._patience()))

    def sync_for_search(self, roots: Roots, seconds: float) -> tuple[str, ...]:
        """Index what changed, for about this long; returns warnings.

        An index that cannot be written is searched as it is.
        """
        now = clocks.monotonic()
        if (written := last_write(self._root)) != self._written or now > self._listed_until:
            self._look_again()
            self._written, self._listed_until = written, now + _LISTED_SECONDS
        elif self._index is not None and now < self._believed_until:
            return ()
        try:
            report = self._sync_with(roots, self.progress, self._patience(seconds))
        except IndexReplacedError:
            raise
        except IndexUnavailableError as error:
            if not self.open().stats().chunks:
                raise
            return (f"{error.message} What changed since then is not found yet.",)
        is_new = report.indexed or report.removed or report.warnings
        if report.files > _MANY_FILES and not is_new:
            self._believed_until = clocks.monotonic() + _BELIEVED_SECONDS
        return report.warnings

    def _look_again(self) -> None:
        """Have the next sync list all folders."""
        self._believed_until = 0.0
        self._listings.clear()

    def read_again(self, paths: Collection[str]) -> bool:
        """Mark files as stale that differ from the index although their stamps are the same.

        False if that would change nothing: they were marked before, or the index cannot be written.
        """
        index = self.open()
        self._look_again()
        known = index.files()
        doubtful = [path for path in paths if path not in known or known[path].digest]
        try:
            index.replace_files([as_doubtful(known, path) for path in doubtful if path in known])
        except IndexReplacedError:
            raise
        except IndexUnavailableError:
            return False
        return bool(doubtful)

    def keep_up(self) -> None:
        """Index files that changed, if the index is open; never fails."""
        with self.exclusive(), suppress(MemolithError):
            if self._index is not None:
                self.sync_now()

    def status(self, *, ask_model: bool = True) -> IndexStatus:
        """How many files the index has to catch up with, and whether the model answers."""
        with self.exclusive():
            status = self.retry(self._compare)
            asks = ask_model and self.config.search.meaning
            if not (problem := self.model.ask() if asks else ""):
                return status
            warning = f"{problem} Search goes by words only."
            return replace(status, warnings=(*status.warnings, warning))

    def _compare(self) -> IndexStatus:
        """The index against the disk. That in a folder is opened again: an open one repairs itself."""
        from memolith.index.database import is_well

        folder = self.place.folder
        self._look_again()
        with self.roots() as roots:
            on_disk, warnings = roots.discover()
        nothing = IndexStatus(
            folder=folder, exists=False, changed=len(on_disk), warnings=tuple(warnings)
        )
        if is_elsewhere(self.config.index):
            index = self.open()
        elif not (well := is_well(folder)):
            return replace(nothing, exists=well is not None, damaged=well is not None)
        else:
            index = open_index(folder, None)
        with nullcontext() if index is self._index else closing(index):
            known = {path: state.stamp for path, state in index.files().items()}
            stats = index.stats()
        changed = sum(
            known.get(path) not in (stamp, (*stamp[:2], RACY)) for path, stamp in on_disk.items()
        )
        removed = len(known.keys() - on_disk.keys())
        return replace(stats, changed=changed + removed, warnings=tuple(warnings))

    def purge(self) -> tuple[str, ...]:
        """Remove what was forgotten from the index and from cached vectors; returns warnings.

        A failure is not an error: the files no longer have it, so the user could not forget it again.
        """
        from memolith.index.vector_cache import forget_all

        warnings = []
        for work in (self._purge_index, lambda: forget_all(self._cache_path)):
            try:
                work()
            except MemolithError as error:
                warnings.append(
                    f"{error.message} It may still hold words of the record. {error.hint}"
                    " Then rebuild the index: memolith sync --rebuild"
                )
        return tuple(warnings)

    def _purge_index(self) -> None:
        with self.exclusive():
            try:
                self.sync_now()
                self.retry(lambda: self.open().purge())
            except IndexUnavailableError:  # another process uses it, but nothing of it may stay
                self.retry(lambda: self.open().clear())

    def warnings(self) -> tuple[str, ...]:
        """What is done without, the index of the memory or its model."""
        problem = self.model.warning if self.config.search.meaning else ""
        return (*self.place.warnings(), *([problem] if problem else ()))

    def _refused(self) -> tuple[str, ...]:
        refused = self.open().stats().refused if self.config.search.meaning else 0
        return (f"{refused_chunks(refused)}.",) if refused else ()

    def _patience(self, seconds: float = math.inf) -> Patience:
        """That of a search, which waits at most this long for files and does not wait for a slow model."""
        embedding_seconds = 0.0 if self._background.is_at_work() else _MAX_EMBEDDING_SECONDS
        return Patience(clocks.monotonic() + seconds, max(0.0, min(embedding_seconds, seconds)))

    def _sync(self, progress: Progress | None = None, patience: Patience = PATIENT) -> SyncReport:
        """Index what has changed."""
        self._look_again()
        with self.roots() as roots:
            return self._sync_with(roots, progress, patience)

    def _sync_with(self, roots: Roots, progress: Progress | None, patience: Patience) -> SyncReport:
        embedder = self.open_embedder()
        if self.model.is_slow and patience.is_search:
            embedder = None
        if not patience.is_search:
            self._background.stop()  # two would embed the same chunks
        sources = self._sources(roots, self.open_word_vectors())
        return sync(sources, self.open(), embedder, progress, patience)

    def embed_later(self) -> tuple[str, ...]:
        """Embed chunks without a vector in the background; says how many there are."""
        if self.embedder is None:
            return ()
        index, is_at_work = self.open(), self._background.is_at_work()
        # The background also indexes its vectors: until then words alone find those chunks.
        if not (is_at_work or index.without_vector(1)):
            return self._refused() if self.model.is_slow else ()
        waiting = index.stats().without_vector
        if not is_at_work:
            self._background = Background(self._embed_in_background, self._background.problem)
            self._background.start()
        why = f" {self._background.problem}" if self._background.problem else ""
        count = f"{waiting:,}" if waiting else "Some"
        return (f"{count} chunks are found by words only until they are embedded.{why}",)

    def _embed_in_background(self, is_stopped: Callable[[], bool]) -> str:
        warnings: list[str] = []
        embedder = self.model.another()
        with ExitStack() as stack:
            roots = stack.enter_context(self.roots())
            try:
                with suppress(MemolithError):  # where there are no locks, each process may
                    stack.callback(OwnerLock(roots.own, EMBED_LOCK).release)
            except BlockingIOError:
                return ""  # another process embeds the same chunks
            index = stack.enter_context(closing(self._open_engine(embedder)))
            sources = self._sources(roots, self._word_vectors)
            embed_waiting(sources, index, embedder, warnings, is_stopped)
        return " ".join(warnings)

    def _sources(self, roots: Roots, word_vectors: WordVectors | None) -> Sources:
        config = self.config.index
        size = ChunkSize(config.chunk_bytes, min(config.overlap_bytes, config.chunk_bytes // 2))
        return Sources(roots, self.clock, size, word_vectors)

    def reader(self, own: Folder) -> tuple[Reader, tuple[str, ...]]:
        """How questions are read, with the user's own words, and what is wrong with their files."""
        search, problems, texts = self.config.search, list[str](), list[str]()
        for name in ("synonyms_path", "stop_words_path"):
            key, path, data = f"search.{name}", getattr(search, name), None
            try:
                data = own.read(path, limit=_MAX_BYTES)
                if data is None and path != SETTINGS[key].default:
                    problems.append(f"There is no file {shown_path(path)}, which {key} names.")
            except MemolithError as error:
                problems.append(f"{error.message} Its words are not used.")
            texts.append((data or b"").decode(errors="replace"))
        synonyms = _load_synonyms(texts[0]) if texts[0] else None
        if synonyms is not None:
            shown = synonyms.problems[:_SHOWN_PROBLEMS]
            problems += [f"{shown_path(search.synonyms_path)}, {one}." for one in shown]
        reader = Reader(synonyms=synonyms, stop_words=_load_stop_words(texts[1]), config=search)
        return reader, tuple(problems)
