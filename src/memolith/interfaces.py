"""What can be plugged in: an index and an embedder. Nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from memolith.retrieval import Chunk, Filters
    from memolith.types import Stamp

    Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def name(self) -> str:
        """The model's identity, part of the index: another name means other vectors."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a row of zeros for a text without meaning (or a bad one).

        Raises EmbeddingError when the model as a whole does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the index knows it: unchanged stamp, unchanged file; else its hash tells."""

    stamp: Stamp
    digest: str


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with what the index needs to find it."""

    chunk: Chunk
    digest: bytes  # of the text, to know the chunk again in the file
    identity: bytes  # of all that is searched: equal, and the chunk need not be indexed again
    terms: Mapping[str, float]  # how often each term stands in it, weighted by field
    vector: Vectors | None  # None: not embedded yet, found by words only


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk the index found: where it stands, never its text."""

    key: int
    chunk: Chunk  # with an empty text: text is read from the file
    digest: bytes


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk's key and how well it matched; higher is better."""

    key: int
    score: float


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How much the index holds."""

    files: int
    chunks: int
    without_vector: int
    bytes: int
    model: str


class Index(Protocol):
    """Where chunks are found by words and by meaning. Derived: it may be deleted at any time."""

    def files(self) -> Mapping[str, FileState]:
        """What the index believes it holds."""
        ...

    def identities(self, path: str) -> set[bytes]:
        """What of a file is indexed already, wherever in the file it stands."""
        ...

    def replace_file(
        self, path: str, state: FileState | None, chunks: Sequence[IndexedChunk]
    ) -> None:
        """Put these chunks in the place of a file's old ones, in one step; no state forgets the file."""
        ...

    def touch_file(self, path: str, state: FileState) -> None:
        """Note a new stamp of a file whose content is the same."""
        ...

    def maintain(self) -> bool:
        """Tidy up after writes, if it is worth it; returns whether it was."""
        ...

    def keyword_search(
        self, words: Sequence[Mapping[str, float]], limit: int, filters: Filters
    ) -> list[Scored]:
        """The best chunks by BM25. Each word is a choice of terms with weights: the best one counts."""
        ...

    def vector_search(self, vector: Vectors, limit: int, filters: Filters) -> list[Scored]:
        """The nearest chunks by cosine."""
        ...

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""
        ...

    def superseded(self, record_ids: Collection[str], filters: Filters) -> set[str]:
        """Which of these records a newer one has taken the place of."""
        ...

    def without_vector(self, limit: int) -> list[Found]:
        """Chunks that still have to be embedded."""
        ...

    def set_vectors(self, vectors: Mapping[int, Vectors]) -> None:
        """Add the vectors of chunks that had none."""
        ...

    def stats(self) -> IndexStats:
        """How much the index holds."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...
