"""What can be plugged in: an index, an embedder and a summariser. Nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memolith.errors import IndexUnavailableError

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Collection, Mapping, Sequence
    from datetime import date

    import numpy as np
    from numpy.typing import NDArray

    from memolith.retrieval import Chunk, Filters
    from memolith.types import Stamp

    Vectors = NDArray[np.float32]


class IndexReplacedError(IndexUnavailableError):
    """The index was damaged, deleted or made anew: open it again and repeat what was being done."""


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

    @property
    def sends(self) -> bool:
        """Whether texts leave this process: then it is given no secret ones."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a row of zeros for a text without meaning (or a bad one).

        Raises EmbeddingError when the model as a whole does not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that was said, on a day, by these records."""

    text: str
    ids: tuple[str, ...]
    day: date
    category: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Fewer statements than there were, oldest first, and what it cost to write them."""

    statements: tuple[Statement, ...]
    tokens: int = 0


class Summariser(Protocol):
    """Says in few statements what many say. Its answer is checked; it is never simply believed."""

    @property
    def name(self) -> str:
        """Who wrote the summary."""
        ...

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """The summary, every statement with the ids it rests on.

        Raises SummariserError when it does not answer.
        """
        ...


class WordVectors(Protocol):
    """Knows what single words mean, where an `Embedder` knows whole texts."""

    def look_up(self, words: Sequence[str]) -> tuple[NDArray[np.intp], Vectors]:
        """For each word, as it stands between spaces, its row in a table of vectors.

        The rows hold until the next call; row 0 is zeros, for what is no word.
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
    # How often each term stands in it, weighted by field, as `index.postings.pack_terms` writes it;
    # None: its identity is indexed already.
    terms: bytes | None
    vector: Vectors | None = None  # None: not embedded yet, found by words only


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's new chunks, which take the place of its old ones; no state forgets the file."""

    path: str
    state: FileState | None
    chunks: Sequence[IndexedChunk] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk the index found: where it stands, never its text."""

    key: int
    chunk: Chunk  # with an empty text: text is read from the file
    digest: bytes


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything that speaks for one chunk. Raw values: higher is better, 0 is nothing."""

    key: int
    words: float  # BM25
    meaning: float  # cosine
    words_rank: int = 0  # place in the ranking by words, from 1; 0 if it was not nominated there
    meaning_rank: int = 0
    group_words: float = 0.0  # BM25 of the whole chat or file it belongs to
    group_user_words: float = 0.0  # … of what the user said in it
    group_title: float = 0.0  # cosine of how that begins
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class Nomination:
    """The chunks that may answer, and what the index knows of the question."""

    signals: Sequence[Signals]
    usual_meaning: float = 0.0  # how near any chunk is, on average
    rarity: Sequence[float] = ()  # how much each word asked for tells, its idf


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How much the index holds."""

    files: int
    chunks: int
    without_vector: int
    bytes: int
    model: str


class Index(Protocol):
    """Where chunks are found by words and by meaning. Derived: it may be deleted at any time.

    Every operation raises IndexReplacedError when the index has to be opened again, and
    IndexUnavailableError when it cannot be read or written right now.
    """

    def files(self) -> Mapping[str, FileState]:
        """What the index believes it holds."""
        ...

    def identities(self, path: str) -> Counter[bytes]:
        """What of a file is indexed already, and how often, wherever in the file it stands."""
        ...

    def replace_files(self, changes: Sequence[FileChange]) -> None:
        """Put chunks in the place of files' old ones, all in one step."""
        ...

    def touch_files(self, states: Mapping[str, FileState]) -> None:
        """Note new stamps of files whose content is the same."""
        ...

    def clear(self) -> None:
        """Throw everything away; the next operation raises IndexReplacedError."""
        ...

    def maintain(self) -> bool:
        """Tidy up after writes, if it is worth it; returns whether it was."""
        ...

    def nominate(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filters: Filters,
    ) -> Nomination:
        """The best chunks by BM25 and the nearest by cosine, each with all its signals.

        Each word is a choice of terms with weights, of which the best counts.
        """
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
