"""The model of a memory, and chunks that wait for it, beside searches that words answer.

They wait because there were many of them at once, the model was not there, it is another one now, or it is
asked over HTTP. What is sent elsewhere waits here until every file is in the index: only then it is known
which records one of their files marks secret.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from memolith import clock
from memolith.config.load import EMBED_KEY, api_key
from memolith.config.sections import EmbedConfig
from memolith.embed import choose
from memolith.errors import ConfigError, EmbeddingError, MemolithError
from memolith.files.chunk_text import read_texts
from memolith.interfaces import Embedder, Index
from memolith.results import Chunk, ReadText

if TYPE_CHECKING:
    from memolith.ingest.sync import Sources

_AGAIN_SECONDS = 15.0
_CHUNKS_AT_ONCE = 512
_STOP_SECONDS = 2.0


class Model:
    """The configured embedder: opened when needed, left alone for a while when it fails.

    While it cannot be used, search goes by words and says why.
    """

    def __init__(self, config: EmbedConfig, cache_path: str) -> None:
        """Nothing is opened before it is needed."""
        self._config = config
        self._cache_path = cache_path
        self._embedder: Embedder | None = None
        self._tried = float("-inf")
        self._is_default = False  # used instead of a model on this machine that is not here
        self.problem = ""

    @property
    def is_slow(self) -> bool:
        """Whether a text may take seconds: then no search waits for texts that changed."""
        is_other = self._config.kind != "default" or choose.is_local(self._config)
        return is_other and not self._is_default

    @property
    def warning(self) -> str:
        """What a search does without the configured model; "" if it can be used."""
        instead = (
            "The default model is used instead." if self._is_default else "Searched by words only."
        )
        return self.problem and f"{self.problem} {instead}"

    def open(self) -> Embedder | None:
        """The embedder; None while it cannot be used, with the reason in `problem`."""
        is_missing = self._embedder is None or self._is_default
        if is_missing and clock.monotonic() - self._tried > _AGAIN_SECONDS:
            self._tried = clock.monotonic()
            try:
                self._is_default = False
                self._embedder, self.problem = self.another(), ""
            except (EmbeddingError, ConfigError) as error:
                self.problem = _message(error)
                if choose.is_local(self._config):
                    self._embedder, self._is_default = choose.choose_embedder(), True
        return self._embedder

    def another(self) -> Embedder:
        """One more, for another thread; raises EmbeddingError or ConfigError."""
        config = None if self._is_default else self._config
        embedder = choose.choose_embedder(config, api_key(EMBED_KEY))
        if self.is_slow:
            from memolith.index.vector_cache import CachedEmbedder

            embedder = CachedEmbedder(embedder, self._cache_path)
        choose.check_dimensions(embedder)
        return embedder

    def ask(self) -> str:
        """What is wrong with the model right now, "" if it answers; nothing is opened or kept."""
        try:
            choose.try_embedder(self._config, api_key(EMBED_KEY))
        except (EmbeddingError, ConfigError) as error:
            return _message(error)
        return ""


def _message(error: EmbeddingError | ConfigError) -> str:
    return f"{error.message} {error.hint}".rstrip()


def embed_waiting(
    sources: Sources,
    index: Index,
    embedder: Embedder,
    warnings: list[str],
    is_stopped: Callable[[], bool],
) -> bool:
    """Embed chunks that have no vector yet, the newest first; whether nothing is left that can be read.

    What is not where the index knows it is passed over: the next look at the disk finds out.
    """
    histories: Histories = {}
    before: int | None = None
    while waiting := index.without_vector(_CHUNKS_AT_ONCE, before):
        from memolith.ingest.taking_in import embed, spell

        before = waiting[-1].key
        texts = zip(waiting, read_texts(sources.roots, waiting), strict=True)
        read = {item.key: (item.chunk, text) for item, text in texts if text}
        chunks = [
            _explained(sources, histories, replace(chunk, text=text.text))
            for chunk, text in read.values()
        ]
        spelled = spell(sources.word_vectors, chunks)
        if embedder.is_remote:
            from memolith.files.ledger import Ledger, archives

            own = (
                sources.roots.own
            )  # archives are not searched, but say of records that they are secret
            secret = index.record_states().secret.union(Ledger.of(own, archives(own)).secret)
            pairs = zip(chunks, (text for _, text in read.values()), strict=True)
            chunks = list(_marked(pairs, secret))
        vectors = embed(embedder, chunks, warnings)
        index.set_vectors(
            {key: vector for key, vector in zip(read, vectors, strict=True) if vector is not None},
            dict(zip(read, spelled, strict=True)),
        )
        has_failed = any(vector is None for vector in vectors)
        if has_failed or is_stopped():
            return False
    return True


def _marked(chunks: Iterable[tuple[Chunk, ReadText]], secret: Collection[str]) -> Iterator[Chunk]:
    """The chunks as secret as any file of their record says, and summaries without what is secret."""
    from memolith.text.lines import short_id, with_stand_ins

    short = {short_id(record_id) for record_id in secret}
    for chunk, read in chunks:
        if chunk.record_id in secret or read.copy_of in secret:
            yield replace(chunk, sensitivity="secret")
        elif short.isdisjoint(read.names):
            yield chunk
        else:
            yield replace(chunk, text=with_stand_ins(chunk.text, short))


# By its path a chat history that was cut: its messages by their place and who said them.
Histories = dict[str, dict[tuple[int, str], Chunk]]


def _explained(sources: Sources, histories: Histories, chunk: Chunk) -> Chunk:
    """A message with what explains it, said around it or next: the index does not keep that."""
    if chunk.kind != "turn":
        return chunk
    if chunk.path not in histories:
        from memolith.files.chunking import chunk_file

        data = sources.roots.read(chunk.path) or b""
        cut = chunk_file(chunk.path, data, sources.day_of, sources.size)
        histories[chunk.path] = {(one.offset, one.role): one for one in cut}
    one = histories[chunk.path].get((chunk.offset, chunk.role), chunk)
    return replace(chunk, around=one.around, follow_up=one.follow_up)


class Background(threading.Thread):
    """A thread that works until it is done or stopped: then it may still be at its last batch."""

    def __init__(self, work: Callable[[Callable[[], bool]], str], problem: str = "") -> None:
        """`work` gets a function that returns whether to stop; it returns what went wrong.

        Until then `problem` is what went wrong the last time.
        """
        super().__init__(name="memolith-embed", daemon=True)
        self._work = work
        self._stopped = threading.Event()
        self.problem = problem

    def run(self) -> None:
        """Work; the next search reports what went wrong, and begins again."""
        try:
            self.problem = self._work(self._stopped.is_set)
        except MemolithError as error:
            self.problem = error.message

    def is_at_work(self) -> bool:
        """Whether it works, and was not stopped."""
        return self.is_alive() and not self._stopped.is_set()

    def stop(self) -> None:
        """Have it stop after the batch it is at; what is done is done."""
        self._stopped.set()
        if self.is_alive() and self is not threading.current_thread():
            self.join(_STOP_SECONDS)
