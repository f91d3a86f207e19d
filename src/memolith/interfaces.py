"""What can be plugged in: an index, an embedder and a summariser. Nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from memolith.errors import IndexUnavailableError
from memolith.types import Chunk, Filters, Stamp

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"
Tokens: TypeAlias = "NDArray[np.uint16]"
Column: TypeAlias = "NDArray[Any]"
Picked: TypeAlias = "Column | slice"


class IndexReplacedError(IndexUnavailableError):
    """The index was damaged, deleted or made anew: open it again and repeat what was being done."""


class IndexDamagedError(IndexUnavailableError):
    """The index is damaged, and whoever has opened it only looks."""


class Embedder(Protocol):
    """Turns texts into vectors of one length."""

    @property
    def name(self) -> str:
        """The model's identity, part of the index: another name means other vectors."""

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has."""

    @property
    def sends(self) -> bool:
        """Whether texts leave this process: then it is given no secret ones."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of length 1; a row of zeros for a text without meaning (or a bad one).

        Raises EmbeddingError when the model as a whole does not answer.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One thing that was said, on a day, by these records."""

    text: str
    ids: tuple[str, ...]
    day: date
    category: str = ""
    said_by: str = ""  # user or agent, where its line stands among lines of both


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

        A text is given as what stands between its spaces.
        """

    def directions(self, tokens: Column, dimensions: int) -> tuple[Vectors, Vectors]:
        """The first numbers of the vector of each token, made a vector of length 1, and the length they had.

        The vector of a word is the sum of its tokens'.
        """


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the index knows it: unchanged stamp, unchanged file; else its hash tells."""

    stamp: Stamp
    digest: str
    flaws: str = ""  # what of it cannot be found, as `ingest.flaws` spells it


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
    tokens: bytes = b""  # how it begins, as `WordVectors` spell it


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file's new chunks, which take the place of its old ones; no state forgets the file."""

    path: str
    state: FileState | None
    chunks: Sequence[IndexedChunk] | None = ()  # None: they are as they were, only the stamp is new
    # What the index held when the file was looked at; None: nothing. Whoever gives it wants no change
    # if another process has been there since: what that one read may be newer.
    seen: FileState | None = None
    if_as_seen: bool = False
    is_appended: bool = False  # the chunks come behind those that are there


@dataclass(frozen=True, slots=True)
class Found:
    """A chunk the index found: where it stands, never its text."""

    key: int
    chunk: Chunk  # with an empty text: text is read from the file
    digest: bytes


# What a chunk is, and who said it, as columns spell it.
RECORD, TURN, PROSE = range(3)
NOBODY, USER, ASSISTANT = range(3)


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """Everything that speaks for some chunks, in columns. Higher is better, 0 is nothing."""

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

    def take(self, at: Picked) -> Signals:
        """Those of some of the chunks, in this order."""
        return Signals(*[column[at] for column in _columns(self)])

    @classmethod
    def together(cls, parts: Sequence[Signals]) -> Signals:
        """All of them, as one."""
        import numpy as np

        return cls(*map(np.concatenate, zip(*map(_columns, parts), strict=True)))


_columns = attrgetter(*Signals.__slots__)


@dataclass(frozen=True, slots=True, eq=False)
class Nomination:
    """The chunks that may answer, and what the index knows of the question."""

    signals: Signals
    usual_meaning: float = 0.0  # how near any chunk is, on average
    chunks: int = 0  # how many there are in all
    rarity: Sequence[float] = ()  # how much each word asked for tells, its idf
    named: Column | None = None  # the numbers of records of a category that the question names


@dataclass(frozen=True, slots=True)
class IndexStats:
    """How much the index holds."""

    files: int
    chunks: int
    without_vector: int
    refused: int
    bytes: int
    model: str


class Index(Protocol):
    """Where chunks are found by words and by meaning. Derived: it may be deleted at any time.

    Every operation raises IndexReplacedError when the index has to be opened again, and
    IndexUnavailableError when it cannot be read or written right now.
    """

    def files(self) -> Mapping[str, FileState]:
        """What the index believes it holds."""

    def flaws(self) -> Mapping[str, str]:
        """What of files cannot be found, by the paths of those of which something cannot."""

    def identities(self, path: str) -> Counter[bytes]:
        """What of a file is indexed already, and how often, wherever in the file it stands."""

    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Put chunks in the place of files' old ones, all at once; returns the files not as seen."""

    def clear(self) -> None:
        """Throw everything away; the next operation raises IndexReplacedError."""

    def maintain(self, *, embedded: bool = False) -> bool:
        """Tidy up after writes, if it is worth it; returns whether it was.

        Vectors that came late are searched from then on: many at once, or all when they are `embedded`.
        """

    def purge(self) -> None:
        """Leave nothing of removed chunks in any file; needed when something was forgotten."""

    def nominate(
        self,
        words: Sequence[Mapping[str, float]],
        vector: Vectors | None,
        limit: int,
        kinds: Sequence[Filters],
    ) -> list[Nomination]:
        """Of each kind the best chunks by BM25 and the nearest by cosine, each with all its signals.

        Each word is a choice of terms with weights, of which the best counts. Without words and
        vector these are the newest that the filters let through.
        """

    def fetch(self, keys: Sequence[int]) -> dict[int, Found]:
        """The chunks with these keys; keys of replaced chunks are left out."""

    def tokens(self, keys: Column) -> tuple[Tokens, Column]:
        """The tokens of chunks nominated last, one after the other, and how many each has."""

    def chat_vectors(self, chats: Column) -> Vectors:
        """The sum of the vectors of each chat, as of what was nominated last; zeros without any."""

    def names(self, kind: str, filters: Filters) -> set[str]:
        """Every category, session or chat (that is the kind) of all that the filters let through."""

    def successors(
        self, record_ids: Collection[str], filters: Filters
    ) -> Mapping[str, Sequence[int]]:
        """Which of these records a newer one has taken the place of, and by which, one after the other.

        The last holds now. Each is the key of a chunk; those that may not be seen are left out, so
        there may be none. Of the filters only the day, the moment and secrecy count.
        """

    def replaced(self, names: Collection[str]) -> set[str]:
        """Which of these short ids are of records that a newer one has taken the place of."""

    def secret_records(self) -> Collection[str]:
        """The ids of the records that any file marks secret."""

    def without_vector(self, limit: int, before: int | None = None) -> list[Found]:
        """Chunks that still have to be embedded, the newest first; those with keys before this one."""

    def refused(self) -> int:
        """How many chunks the model gave no vector for when it was asked: their vectors are empty."""

    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add the vectors of chunks that had none, and their tokens."""

    def stats(self) -> IndexStats:
        """How much the index holds."""

    def close(self) -> None:
        """Let go of the files."""
