"""What can be plugged in: an index, an embedder and a summariser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from memolith.errors import IndexUnavailableError
from memolith.reports import IndexStatus
from memolith.results import Chunk, Filters
from memolith.types import Stamp

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
Tokens: TypeAlias = "NDArray[np.uint16]"
Column: TypeAlias = "NDArray[Any]"


class IndexReplacedError(IndexUnavailableError):
    """The index was damaged, deleted or rebuilt: open it again and repeat the operation."""


NEAR = 0.2  # of the default model: a cosine so far above the usual one counts fully


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def name(self) -> str:
        """The model's identity, part of the index: another name means other vectors."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def is_remote(self) -> bool:
        """Whether texts leave this process: then it is given no secret ones."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a row of zeros for a text without meaning (or a bad one).

        Raises EmbeddingError when the model as a whole does not answer.
        """

    # Two more are optional: `embed_question(question)`, if the model reads questions otherwise than texts, and
    # `near`, how far above the usual a cosine must be to count fully.


class Reranker(Protocol):
    """Reads a question and a text together: slower and better than comparing vectors."""

    @property
    def name(self) -> str:
        """What the model is called in messages."""

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """A number for each text, more is better; raises EmbeddingError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that was said, on a day, by these records."""

    text: str
    ids: tuple[str, ...]
    day: date
    category: str = ""
    said_by: str = ""  # user or agent, if its source has lines of both


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Fewer statements than there were, oldest first, and what it cost to write them."""

    statements: tuple[Statement, ...]
    tokens: int = 0


class Summariser(Protocol):
    """Says in few statements what many say. Its answer is checked; it is never simply believed."""

    @property
    def name(self) -> str:
        """The name of the model or rules that wrote the summary."""

    def summarise(self, statements: Sequence[Statement], max_chars: int) -> Summary:
        """The summary, every statement with the ids it rests on.

        Raises SummariserError when it does not answer.
        """


# Added to the token a word begins with.
WORD_START = 0x8000


class WordVectors(Protocol):
    """Knows what single words mean, where an `Embedder` knows whole texts."""

    def spell(self, texts: Sequence[Sequence[str]]) -> list[bytes]:
        """Each text as tokens, the pieces of words a model knows: two bytes each, see `WORD_START`.

        A text is given as its words, split at spaces.
        """

    def directions(self, tokens: Column, dimensions: int) -> tuple[Vectors, Vectors]:
        """The first numbers of the vector of each token, made a vector of length 1, and the length they had.

        The vector of a word is the sum of its tokens'.
        """


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the index knows it: with the same stamp it is unchanged; otherwise the hash decides."""

    stamp: Stamp
    digest: str
    flaws: str = ""  # the parts that cannot be searched, as `ingest.flaws` encodes them


class Terms(NamedTuple):
    """How often a text has each term, weighted by field, in quarters; and its length in words."""

    hashes: Column  # `index.words.term_hash` of each
    counts: Column
    length: float


@dataclass(slots=True)
class IndexedChunk:
    """A chunk with its terms, vector and digests."""

    chunk: Chunk
    digest: bytes  # of the text, to recognise the chunk in the file
    identity: bytes  # of all that is searched: a chunk with the same one is not indexed again
    terms: Terms | None  # None: its identity is indexed already
    vector: Vectors | None = None  # None: not embedded yet, found by words only
    tokens: bytes = b""  # how it begins, as `WordVectors` spell it


@dataclass(frozen=True, slots=True)
class FileChange:
    """The new chunks of a file, which replace its old ones; without a state the file is removed."""

    path: str
    state: FileState | None
    chunks: Sequence[IndexedChunk] | None = ()  # None: unchanged, only the stamp is new
    # The state in the index when the file was read; None: none. With `if_as_seen` nothing changes if
    # another process has indexed the file since: it may have read a newer version.
    seen: FileState | None = None
    if_as_seen: bool = False
    is_appended: bool = False  # the chunks follow the existing ones


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk that the index found: its place, never its text."""

    key: int
    chunk: Chunk  # with an empty text: text is read from the file
    digest: bytes


# The kind of a chunk and its speaker, as numbers in columns.
RECORD, TURN, PROSE = range(3)
NOBODY, USER, ASSISTANT = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """The ranking signals of some chunks, in columns. Higher is better, 0 is none."""

    keys: Column
    words: Column  # BM25
    meaning: Column  # cosine
    words_rank: Column  # place in the ranking by words, from 1; 0 if it was not nominated there
    meaning_rank: Column
    group_words: Column  # BM25 of the whole chat or file it belongs to
    group_user_words: Column  # … of what the user said in it
    group_title: Column  # cosine of how that begins
    kind: Column
    role: Column
    dated: Column  # day number
    chat: Column  # a number for the chat
    record: Column  # an even number for the record; one more for a copy made of it
    tokens: Column  # how it begins, as `WordVectors` spell it; an engine may keep none

    def take(self, at: Column | slice) -> Signals:
        """The signals of the chunks at these positions, in this order."""
        return Signals(*map(itemgetter(at), _columns(self)))

    @classmethod
    def together(cls, parts: Sequence[Signals]) -> Signals:
        """Several sets of signals as one."""
        import numpy as np

        return cls(*map(np.concatenate, zip(*map(_columns, parts), strict=True)))


_columns = attrgetter(*Signals.__slots__)


@dataclass(frozen=True, slots=True, eq=False)
class Nomination:
    """The candidates, and corpus statistics for the question."""

    signals: Signals
    mean_similarity: float = 0.0  # the mean cosine of all chunks
    chunks: int = 0  # in the whole index
    rarity: Sequence[float] = ()  # the idf of each word of the question
    # The sum of the vectors of each of some chats, by its number in `Signals`; an engine may keep none.
    chat_vectors: Callable[[Column], Vectors] | None = None


@dataclass(frozen=True, slots=True)
class RecordStates:
    """The records with something to say about all of their chunks."""

    secret: frozenset[str] = frozenset()  # the ids that any file marks secret
    superseded: frozenset[str] = frozenset()  # the ids that a newer record replaced


class Index(Protocol):
    """Finds chunks by words and by meaning. Derived from the files: it may be deleted at any time.

    An engine is opened for one model, by name and number of dimensions: vectors of another model are
    discarded, and without a model chunks are found by words alone. Several processes may use one index
    at once. Every operation raises IndexReplacedError when the index has to be opened again, and
    IndexUnavailableError when it cannot be read or written right now. Compaction of its own storage is
    the engine's affair. `tests/contract/test_index.py` is this contract as tests.
    """

    problem: str  # why answers are worse than they could be, for the user; "" if they are not
    question: str  # what is asked for in whole words, of which `rank` is given the terms

    def files(self) -> Mapping[str, FileState]:
        """The state of each indexed file."""

    def identities(self, path: str) -> Counter[bytes]:
        """The identities of a file's indexed chunks, and how often each occurs."""

    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Replace the chunks of files in one transaction; returns the files that changed meanwhile.

        A chunk with a known identity keeps its key, vector and terms, and gets its new place. An
        unknown identity without terms raises IndexReplacedError, and nothing changes.
        """

    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, newest first, with keys below `before`."""

    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens; an empty vector is "refused"."""

    def rank(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        filter_sets: Sequence[Filters],
    ) -> list[Nomination]:
        """For each set of filters the best chunks by BM25 and by cosine, with all their signals.

        Each word is a choice of terms with weights, of which the best counts. Without words and
        vector these are the newest that the filters let through. Signals an engine does not have are
        zero. Chunks that a caller may not see affect no score he sees.
        """

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""

    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> Mapping[str, Sequence[int]]:
        """The superseded ones of these records, each with its chain of successors.

        The last holds now. Each is the key of a chunk; those that may not be seen are left out, so
        there may be none. Of the filters only the day, the moment and secrecy count.
        """

    def record_states(self) -> RecordStates:
        """Which records are secret in any file, and which are superseded."""

    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (the `kind`) of the chunks that pass the filters."""

    def stats(self) -> IndexStatus:
        """How much the index holds; it is not compared with the files."""

    def purge(self) -> None:
        """Erase every trace of removed chunks; needed after forget."""

    def clear(self) -> None:
        """Delete everything; the next operation raises IndexReplacedError."""

    def close(self) -> None:
        """Release files and connections; a later operation raises IndexReplacedError."""
