"""Bring the index in line with the files: what changed is cut, embedded and put in; what is gone, out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError, MemolithError
from memolith.files.chunking import chunk_file
from memolith.files.discovery import discover
from memolith.interfaces import FileState, IndexedChunk
from memolith.reports import SyncReport
from memolith.text.terms import index_terms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from memolith.files.folder import Folder
    from memolith.interfaces import Embedder, Index, Vectors
    from memolith.retrieval import Chunk, Turn
    from memolith.types import Record, Stamp

    Progress = Callable[[int, int], None]

# Larger files are left out, with a warning: nobody wrote them by hand, and they would fill the index.
MAX_FILE_BYTES = 64 * 1024 * 1024
# How much a term counts by where it stands: in the text 1, in the titles above, in what was said around.
HEADING_WEIGHT = 0.5
CONTEXT_WEIGHT = 0.25
_CHUNKS_AT_ONCE = 512


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a sync reads from, and how it knows the user's days."""

    folder: Folder
    day_of: Callable[[Record | Turn], date]


def sync(
    sources: Sources, index: Index, embedder: Embedder | None, progress: Progress | None = None
) -> SyncReport:
    """Compare the disk with the index and repair the index; one changed file costs one file.

    Without an embedder chunks are found by words, and a later sync adds their vectors.
    """
    on_disk, warnings = discover(sources.folder)
    known = index.files()
    gone = [path for path in known if path not in on_disk]
    for path in gone:
        index.replace_file(path, None, [])
    changed = {
        path: stamp
        for path, stamp in on_disk.items()
        if path not in known or known[path].stamp != stamp
    }
    batch: dict[str, _Cut] = {}
    indexed = chunks = waiting = 0
    for number, (path, stamp) in enumerate(changed.items(), 1):
        cut = _cut(sources, path, stamp, warnings)
        if cut is not None and path in known and known[path].digest == cut.state.digest:
            index.touch_file(path, cut.state)
        elif cut is not None:
            batch[path] = cut
            waiting += len(cut.chunks)
            indexed, chunks = indexed + 1, chunks + len(cut.chunks)
        if waiting >= _CHUNKS_AT_ONCE or number == len(changed):
            _store(index, embedder, batch, warnings)
            batch, waiting = {}, 0
        if progress is not None:
            progress(number, len(changed))
    if changed or gone:
        index.maintain()
    return SyncReport(
        files=len(on_disk),
        indexed=indexed,
        removed=len(gone),
        chunks=chunks,
        warnings=tuple(dict.fromkeys(warnings)),
    )


def chunk_digest(chunk: Chunk) -> bytes:
    """What a chunk is known again by when its text is read from the file."""
    return blake2b(chunk.text.encode(errors="surrogatepass"), digest_size=16).digest()


def weighted_terms(chunk: Chunk) -> Mapping[str, float]:
    """How often each term stands in a chunk, by the weight of the place it stands in."""
    terms: Counter[str] = Counter()
    for text, weight in (
        (chunk.text, 1.0),
        (chunk.heading, HEADING_WEIGHT),
        (chunk.context, CONTEXT_WEIGHT),
    ):
        if text:
            for term, count in Counter(index_terms(text)).items():
                terms[term] += count * weight  # type: ignore[assignment]  # a Counter of floats
    return terms


@dataclass(frozen=True, slots=True)
class _Cut:
    """A changed file, cut into chunks."""

    state: FileState
    chunks: Sequence[Chunk]


def _cut(sources: Sources, path: str, stamp: Stamp, warnings: list[str]) -> _Cut | None:
    if stamp[1] > MAX_FILE_BYTES:
        warnings.append(f"{path} has {stamp[1]:,} bytes and is left out of search.")
        return None
    try:
        data = sources.folder.read(path)
    except MemolithError as error:
        warnings.append(f"{error.message} It is left out of search.")
        return None
    if data is None:
        return None  # deleted since it was listed; the next sync forgets it
    digest = blake2b(data, digest_size=16).hexdigest()
    return _Cut(FileState(stamp, digest), chunk_file(path, data, sources.day_of))


def _store(
    index: Index, embedder: Embedder | None, batch: Mapping[str, _Cut], warnings: list[str]
) -> None:
    identities = {path: [_identity(chunk) for chunk in cut.chunks] for path, cut in batch.items()}
    known = {path: index.identities(path) for path in batch}
    new = [
        chunk
        for path, cut in batch.items()
        for chunk, identity in zip(cut.chunks, identities[path], strict=True)
        if identity not in known[path]
    ]
    vectors = iter(_embed(embedder, new, warnings))
    for path, cut in batch.items():
        items = [
            IndexedChunk(chunk, chunk_digest(chunk), identity, {}, None)
            if identity in known[path]
            else IndexedChunk(
                chunk, chunk_digest(chunk), identity, weighted_terms(chunk), next(vectors)
            )
            for chunk, identity in zip(cut.chunks, identities[path], strict=True)
        ]
        index.replace_file(path, cut.state, items)


def _identity(chunk: Chunk) -> bytes:
    """Of everything that is searched or filtered by, but not of the place in the file."""
    parts = (
        chunk.kind, chunk.text, chunk.role, chunk.heading, chunk.context, chunk.dated,
        chunk.category, chunk.session, chunk.chat, chunk.sensitivity, chunk.channel,
        chunk.record_id, chunk.supersedes, chunk.expires,
    )  # fmt: skip
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()


def _embed(
    embedder: Embedder | None, chunks: Sequence[Chunk], warnings: list[str]
) -> Sequence[Vectors | None]:
    if embedder is not None and chunks:
        try:
            return list(embedder.embed([embedding_text(chunk) for chunk in chunks]))
        except EmbeddingError as error:
            warnings.append(f"{error.message} New text is found by words only for now.")
    return [None] * len(chunks)


def embedding_text(chunk: Chunk) -> str:
    """What is embedded for a chunk: its text, under the titles above it."""
    return f"{chunk.heading}\n{chunk.text}" if chunk.heading else chunk.text
