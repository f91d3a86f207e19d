"""Chunks to index, and an index to put them in."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from memolith.index.arrays import normalised
from memolith.index.words import as_terms
from memolith.interfaces import FileChange, FileState, IndexedChunk
from memolith.results import Chunk, Filters
from memolith.text.terms import term_counts

if TYPE_CHECKING:
    from memolith.interfaces import Index, Vectors

MODEL = ("test model", 16)
ALL = Filters(include_secret=True)


def vector_of(text: str) -> Vectors:
    """A vector that depends on the words alone."""
    total = np.zeros(MODEL[1], np.float32)
    for word in text.split():
        seed = int.from_bytes(blake2b(word.encode(), digest_size=4).digest(), "little")
        total += np.random.default_rng(seed).normal(size=MODEL[1]).astype(np.float32)
    return normalised(total[None])[0]


def make_chunk(text: str, path: str = "MEMORY.md", line: int = 1, **fields: object) -> Chunk:
    """A chunk of prose on one line."""
    place = {"first_line": line, "last_line": line, "offset": 100 * line, "size": len(text)}
    return Chunk(**{"kind": "prose", "text": text, "path": path, **place, **fields})


def indexed(chunk: Chunk, *, embedded: bool = True) -> IndexedChunk:
    """The chunk with its terms and its vector."""
    parts = (chunk.text, chunk.category, chunk.session, chunk.chat, chunk.sensitivity, chunk.dated)
    return IndexedChunk(
        chunk,
        blake2b(chunk.text.encode(), digest_size=16).digest(),
        blake2b(repr(parts).encode(), digest_size=16).digest(),
        as_terms(term_counts(chunk.text)),
        vector_of(chunk.text) if embedded else None,
    )


def put(index: Index, *chunks: Chunk, embedded: bool = True) -> None:
    """Index the chunks, by the files they name."""
    files: dict[str, list[IndexedChunk]] = {}
    for chunk in chunks:
        files.setdefault(chunk.path, []).append(indexed(chunk, embedded=embedded))
    index.replace_files([FileChange(path, state_of(path), items) for path, items in files.items()])


def state_of(path: str, digest: str = "a") -> FileState:
    return FileState((1, len(path), 3), digest)


def keys_of(index: Index, word: str, filters: Filters = ALL) -> list[int]:
    """The keys of the chunks that hold a word, best first."""
    keys: list[int] = index.rank([{word: 1.0}], None, 100, [filters])[0].signals.keys.tolist()
    return keys


def texts_at(index: Index, word: str, filters: Filters = ALL) -> set[tuple[str, int]]:
    """Where the chunks that hold a word stand."""
    found = index.fetch(keys_of(index, word, filters)).values()
    return {(item.chunk.path, item.chunk.first_line) for item in found}
