"""Embed chunks that wait for it: the model was not there, it is another one now, or it is asked over HTTP.

What is sent elsewhere waits here until every file is in the index: only then it is known which records
one of their files marks secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.files.chunk_text import read_texts
from memolith.ingest.sources import text_digest
from memolith.values import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from memolith.ingest.sources import Sources
    from memolith.interfaces import Embedder, Found, Index
    from memolith.retrieval import Chunk, ReadText

_CHUNKS_AT_ONCE = 512


def embed_waiting(
    sources: Sources,
    index: Index,
    embedder: Embedder,
    warnings: list[str],
    is_stopped: Callable[[], bool],
) -> None:
    """Embed chunks that have no vector yet: the model was not there, or it is another one now."""
    secrets = _Secrets(sources, index) if embedder.sends else None
    while waiting := index.without_vector(_CHUNKS_AT_ONCE):
        from memolith.ingest.preparing import Said, embed, spell

        whole = dict(_readable(sources, waiting))
        chunks = _with_follow_ups(sources, (chunk for chunk, _ in whole.values()))
        said = [Said.by(chunk) for chunk in chunks]
        spelled = spell(sources.word_vectors, said)
        if secrets is not None:
            read = (text for _, text in whole.values())
            said = [Said.by(chunk) for chunk in secrets.marked(zip(chunks, read, strict=True))]
        vectors = embed(embedder, said, warnings)
        index.set_vectors(
            {key: vector for key, vector in zip(whole, vectors, strict=True) if vector is not None},
            dict(zip(whole, spelled, strict=True)),
        )
        if len(whole) < len(waiting) or vectors[0] is None:
            break  # files changed meanwhile, or the model does not answer
        if is_stopped():
            break


def _readable(
    sources: Sources, waiting: Collection[Found]
) -> Iterator[tuple[int, tuple[Chunk, ReadText]]]:
    """The chunks with their texts, by key, without those that are not where the index knows them."""
    texts = read_texts(sources.roots, (item.chunk for item in waiting))
    for item, read in zip(waiting, texts, strict=True):
        if read is not None and text_digest(read.text) == item.digest:
            yield item.key, (replace(item.chunk, text=read.text), read)


class _Secrets:
    """Which chunks tell a record that one of its files marks secret, be it a copy of the record."""

    def __init__(self, sources: Sources, index: Index) -> None:
        """What the archives say, which are not searched, is read once."""
        from memolith.files.archives import every_archive
        from memolith.files.secret_marks import secret_in

        self._index = index
        self._archived = secret_in(sources.roots.own, every_archive(sources.roots.own))

    def marked(self, chunks: Iterable[tuple[Chunk, ReadText]]) -> Iterator[Chunk]:
        """The same chunks: secret wherever their record is, and summaries without what is."""
        from memolith.text.summary_line import short_id
        from memolith.text.summary_text import with_stand_ins

        secret = {*self._index.secret_records(), *self._archived}
        short = {short_id(record_id) for record_id in secret}
        for chunk, read in chunks:
            if not secret.isdisjoint((chunk.record_id, read.copy_of)):
                yield replace(chunk, sensitivity="secret")
            elif short.isdisjoint(read.names):
                yield chunk
            else:
                yield replace(chunk, text=with_stand_ins(chunk.text, short))


def _with_follow_ups(sources: Sources, chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks, those of chats with their follow-ups, which the index does not keep."""
    from memolith.files.chunking import chunk_file

    follow_ups: dict[tuple[str, int, str], str] = {}
    read = set[str]()
    complete: list[Chunk] = []
    for chunk in chunks:
        if chunk.kind == "turn" and chunk.path not in read:
            read.add(chunk.path)
            data = sources.roots.read(chunk.path) or b""
            for said in chunk_file(chunk.path, data, sources.days.of):
                follow_ups[said.path, said.offset, said.role] = said.follow_up
        follow_up = follow_ups.get((chunk.path, chunk.offset, chunk.role), "")
        complete.append(replace(chunk, follow_up=follow_up))
    return complete
