"""Embed chunks that wait for it, beside searches that words answer: there were many of them at once, the
model was not there, it is another one now, or it is asked over HTTP.

What is sent elsewhere waits here until every file is in the index: only then it is known which records
one of their files marks secret.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from memolith.errors import MemolithError
from memolith.files.chunk_text import read_texts
from memolith.ingest.sync import Sources
from memolith.interfaces import Embedder, Found, Index
from memolith.results import Chunk, ReadText

_CHUNKS_AT_ONCE = 512
_STOP_SECONDS = 2.0


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
    archived = frozenset[str]()
    if embedder.is_remote:  # archives are not searched, but say of records that they are secret
        from memolith.files.ledger import Ledger, archives

        own = sources.roots.own
        archived = frozenset(Ledger.of(own, archives(own)).secret)
    explained: dict[str, dict[tuple[int, str], Chunk]] = {}
    before: int | None = None
    while waiting := index.without_vector(_CHUNKS_AT_ONCE, before):
        from memolith.ingest.taking_in import embed, spell

        before = min(item.key for item in waiting)
        read = dict(_readable(sources, waiting))
        chunks = list(_explained(sources, explained, [chunk for chunk, _ in read.values()]))
        spelled = spell(sources.word_vectors, chunks)
        if embedder.is_remote:
            secret = index.record_states().secret | archived
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


def _readable(
    sources: Sources, waiting: Collection[Found]
) -> Iterator[tuple[int, tuple[Chunk, ReadText]]]:
    """The chunks with their texts, by key, without those that are not where the index knows them."""
    for item, read in zip(waiting, read_texts(sources.roots, waiting), strict=True):
        if read is not None:
            yield item.key, (replace(item.chunk, text=read.text), read)


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


def _explained(
    sources: Sources, known: dict[str, dict[tuple[int, str], Chunk]], chunks: Sequence[Chunk]
) -> Iterator[Chunk]:
    """The chunks, messages with what explains them, said around them or next: the index does not keep it.

    A chat history is cut once; `known` has its messages by their place and who said them.
    """
    for path in {chunk.path for chunk in chunks if chunk.kind == "turn"} - known.keys():
        from memolith.files.chunking import chunk_file

        data = sources.roots.read(path) or b""
        cut = chunk_file(path, data, sources.day_of, sources.size)
        known[path] = {(one.offset, one.role): one for one in cut if one.around or one.follow_up}
    for chunk in chunks:
        one = known.get(chunk.path, {}).get((chunk.offset, chunk.role))
        yield replace(chunk, around=one.around, follow_up=one.follow_up) if one else chunk


class Background:
    """A thread that works until it is done, or told to stop; for use under a lock.

    One is at work at a time. Beside it, one that was stopped may still be at its last batch.
    """

    def __init__(self, work: Callable[[Callable[[], bool]], str]) -> None:
        """`work` is given a function that tells whether it is to stop; it returns what went wrong."""
        self._work = work
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self.problem = ""

    @property
    def is_at_work(self) -> bool:
        """Whether it has begun and is not done."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Begin, unless it is at work already."""
        if not self.is_at_work:
            # Each run has its own: one that still is at its last batch stays stopped.
            self._stopped = stopped = threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(stopped,), name="memolith-embed", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Have it stop after the batch it is at; what is done is done."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_STOP_SECONDS)
            self._thread = None

    def _run(self, stopped: threading.Event) -> None:
        try:
            problem = self._work(stopped.is_set)
        except MemolithError as error:  # the next search tells, and begins again
            problem = error.message
        if not stopped.is_set():
            self.problem = problem
