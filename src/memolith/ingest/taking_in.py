"""Take in files that may have changed: they are cut, embedded and put into the index, many at once.

If only the end of a file is new, as after every write, only that is cut.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from memolith import clock
from memolith.errors import EmbeddingError, MemolithError
from memolith.files.chunk_text import text_digest
from memolith.files.chunking import chunk_appended, chunk_file
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.index.arrays import REFUSED, normalised
from memolith.index.words import as_terms
from memolith.ingest.flaws import MOST_CHARS, without_noise
from memolith.ingest.sync import RACY, Patience, Sources, as_seen
from memolith.interfaces import (
    Embedder,
    FileChange,
    FileState,
    Index,
    IndexedChunk,
    Terms,
    Vectors,
    WordVectors,
)
from memolith.results import Chunk
from memolith.text.cleaning import shown_path
from memolith.text.synonyms import in_english
from memolith.text.terms import term_counts
from memolith.types import Progress, Stamp

# Chunks in one transaction: many, because their postings are written together; few when time is short.
_CHUNKS_AT_ONCE, _CHUNKS_IN_A_HURRY = 2_048, 256
_FILES_AT_ONCE = 256
# A large file has tens of thousands of chunks: taken apart all at once, they would need seventy times its size.
_PREPARED_AT_ONCE = 1_000
# A search waits for the words of all new chunks, but only for this many vectors.
_EMBEDDED_FOR_A_SEARCH = 1_000
# How much a term in the titles above counts, against 1 in the text.
HEADING_WEIGHT = 0.5
# How much of a text is searched for its best passage; a chunk of a file is not longer.
SPELLED_CHARS = 2_000


@dataclass(slots=True)
class Work:
    """What changed, cut and put into the index some hundred chunks at once."""

    sources: Sources
    index: Index
    embedder: Embedder | None
    known: Mapping[str, FileState]
    patience: Patience
    warnings: list[str] = field(default_factory=list)
    indexed: int = 0
    chunks: int = 0
    overtaken: set[str] = field(default_factory=set)  # what other processes have indexed meanwhile
    changes: list[FileChange] = field(default_factory=list)  # not stored yet
    new: list[IndexedChunk] = field(default_factory=list)  # what of these the index does not have

    def take_in(self, changed: Mapping[str, Stamp], progress: Progress) -> None:
        """Cut these files, and put what is new into the index; the rest when the time is up is left."""
        files = list(changed.items())
        if self.patience.until < math.inf:
            files.sort(key=lambda file: -file[1][2])  # the newest first
        for number, (path, stamp) in enumerate(files):
            if number and clock.monotonic() > self.patience.until:
                left = len(files) - number
                self.warnings.append(
                    f"{left:,} changed files are not indexed yet: what is new in them is not found."
                )
                break
            progress(number, len(files))  # before a file: a large one takes a minute
            self._add(path, stamp)
        self._store()
        progress(len(files), len(files))

    def _add(self, path: str, stamp: Stamp) -> None:
        data, known = self._read(path, stamp), self.known.get(path)
        if data is None:
            return
        state, chunks, is_appended = cut_file(path, data, stamp, known, self.sources)
        if chunks is None and state == known:
            return  # still racy: a write would only have other processes read the index again
        items = None if chunks is None else self._items(path, chunks, is_appended=is_appended)
        self.changes.append(as_seen(self.known, path, state, items, is_appended=is_appended))
        if items is not None:
            self.indexed += 1
            self.chunks += len(items)
        most = _CHUNKS_IN_A_HURRY if self.patience.until < math.inf else _CHUNKS_AT_ONCE
        waiting = sum([len(change.chunks or ()) for change in self.changes])
        if waiting >= most or len(self.changes) >= _FILES_AT_ONCE:
            self._store()

    def _items(
        self, path: str, chunks: Sequence[Chunk], *, is_appended: bool
    ) -> list[IndexedChunk]:
        """The chunks of a file; what the index has already is passed on without its terms."""
        there = Counter[bytes]()
        if path in self.known and not is_appended:
            there = self.index.identities(path)
        items = []
        for chunk in chunks:
            item = IndexedChunk(chunk, text_digest(chunk.text), _identity(chunk), None)
            there[item.identity] -= 1
            if there[item.identity] < 0:
                self.new.append(item)
            items.append(item)
        return items

    def _store(self) -> None:
        """Put what was cut into the index."""
        is_later = self.patience.is_search and self.chunks > _EMBEDDED_FOR_A_SEARCH
        models = (None, None) if is_later else (self.embedder, self.sources.word_vectors)
        prepare(self.new, *models, self.warnings)
        if self.changes:
            self.overtaken.update(self.index.replace_files(self.changes))
        self.changes, self.new = [], []

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        if stamp[1] > MAX_FILE_BYTES:
            self.warnings.append(
                f"{shown_path(path)} has {stamp[1]:,} bytes and is left out of search: files of more than"
                f" {MAX_FILE_BYTES:,} are not indexed. Split it, or move it out of the memory."
            )
            if path in self.known:
                self.changes.append(as_seen(self.known, path))
            return None
        try:
            return self.sources.roots.read(path)  # None: deleted since it was listed
        except MemolithError as error:
            self.warnings.append(f"{error.message} It is left out of search.")
            return None


def _identity(chunk: Chunk) -> bytes:
    """Of everything that is searched or filtered by, but not of the place in the file."""
    parts = (
        chunk.kind, chunk.text, chunk.role, chunk.heading, chunk.around, chunk.follow_up,
        chunk.dated, chunk.category, chunk.session, chunk.chat, chunk.sensitivity, chunk.channel,
        chunk.record_id, chunk.copy_of, chunk.supersedes, chunk.expires,
    )  # fmt: skip
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()


def cut_file(
    path: str, data: bytes, stamp: Stamp, known: FileState | None, sources: Sources
) -> tuple[FileState, Sequence[Chunk] | None, bool]:
    """Compare a file with what is known of it, and cut what is new; of a file with flaws, everything.

    Without chunks it says what it said before; else they may come behind those that were there.
    """
    ending = sources.ending
    if known is not None and not known.digest.endswith(ending):
        known = None
    before = known.stamp[1] if known else 0
    view = memoryview(data)  # a memory may have many megabytes: no copies of them
    digest = blake2b(view[:before], digest_size=16)
    grew = known is not None and len(data) > before and digest.hexdigest() + ending == known.digest
    digest.update(view[before:])
    # Racy as git calls it: a change within the same tick of the file system's clock would get the same
    # stamp. A racy stamp equals no other, so that the file is read again.
    is_lasting = stamp[2] < clock.file_time() - clock.FILE_TICK
    state = FileState(stamp if is_lasting else (*stamp[:2], RACY), digest.hexdigest() + ending)
    if known is not None and known.digest == state.digest:
        return replace(state, flaws=known.flaws), None, False
    if grew and known is not None and not known.flaws:
        appended = chunk_appended(path, data, before, sources.day_of, sources.size)
        if appended is not None and not without_noise(path, data, appended)[1]:
            return state, appended, True
    cut = chunk_file(path, data, sources.day_of, sources.size)
    readable, flaws = without_noise(path, data, cut)
    return replace(state, flaws=flaws), readable, False


def prepare(
    items: Sequence[IndexedChunk],
    embedder: Embedder | None,
    word_vectors: WordVectors | None,
    warnings: list[str],
) -> None:
    """Give each chunk its terms, its vector and its tokens."""
    for at in range(0, len(items), _PREPARED_AT_ONCE):
        some = items[at : at + _PREPARED_AT_ONCE]
        chunks = [item.chunk for item in some]
        vectors, spelled = embed(embedder, chunks, warnings), spell(word_vectors, chunks)
        for item, vector, tokens in zip(some, vectors, spelled, strict=True):
            item.terms, item.vector, item.tokens = _terms(item.chunk), vector, tokens


def _terms(chunk: Chunk) -> Terms:
    """How often a chunk says each term; what is above or around it counts less."""
    terms: dict[str, float] = dict(term_counts(chunk.text[:MOST_CHARS]))
    titles = term_counts(f"{chunk.heading[:MOST_CHARS]}\n{chunk.around}")
    for term, count in titles.items():
        terms[term] = terms.get(term, 0) + count * HEADING_WEIGHT
    return as_terms(terms)


def embed(
    embedder: Embedder | None, chunks: Sequence[Chunk], warnings: list[str]
) -> Sequence[Vectors | None]:
    """The vectors of chunks; None, and a warning, when the model does not answer.

    Nothing that is secret is sent: who has a model that sends says of each chunk whether its record is
    marked so in any file.
    """
    if embedder is None or not chunks:
        return [None] * len(chunks)
    texts = [
        "" if embedder.is_remote and chunk.sensitivity == "secret" else embedding_text(chunk)
        for chunk in chunks
    ]
    try:
        rows = normalised(embedder.embed(texts))
    except EmbeddingError as error:
        message = f"{error.message} {error.hint}".rstrip()
        warnings.append(f"{message} New text is found by words only for now.")
        return [None] * len(chunks)
    if not embedder.is_remote:
        return list(rows)
    pairs = zip(texts, rows, strict=True)
    return [row if row.any() or not text.strip() else REFUSED for text, row in pairs]


def spell(model: WordVectors | None, chunks: Sequence[Chunk]) -> list[bytes]:
    """How each text begins, in tokens: what passages are looked for in."""
    if model is None:
        return [b""] * len(chunks)
    return model.spell([in_english(chunk.text[:SPELLED_CHARS].split()) for chunk in chunks])


def embedding_text(chunk: Chunk) -> str:
    """What is embedded for a chunk: its text, under the titles above it and with what explains it."""
    heading, text = chunk.heading[:MOST_CHARS], chunk.text[:MOST_CHARS]
    return "\n".join(filter(None, (heading, text, chunk.around, chunk.follow_up)))
