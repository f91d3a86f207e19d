"""Where a sync reads from, how it knows the user's days, and how it tells a changed text or file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from hashlib import blake2b

from memolith import clock
from memolith.files.chunking import CUT, STANDARD, ChunkSize
from memolith.files.disk_view import Roots
from memolith.interfaces import FileChange, FileState, IndexedChunk, WordVectors
from memolith.results import Turn
from memolith.types import Record

RACY = -1  # the time in the stamp of a file that was indexed too soon after it was written


@dataclass(frozen=True, slots=True)
class Days:
    """How files are cut: by which days and zone, and how long; what was cut otherwise is cut again.

    The zone stands behind the digest of a file. Where none is set it is the system's, whichever that
    is: processes that are told different ones would cut everything again by turns.
    """

    of: Callable[[Record | Turn], date]
    zone: str = ""
    size: ChunkSize = STANDARD

    @property
    def ending(self) -> str:
        """What the digest of every file ends with that was cut as we do, and by these days."""
        size = "" if self.size == STANDARD else f".{self.size.size}-{self.size.overlap}"
        return f".{CUT}{size}@{self.zone}"

    def mark(self, digest: blake2b) -> str:
        """The digest of a file that was cut by these days."""
        return digest.hexdigest() + self.ending

    def tell(self, state: FileState) -> bool:
        """Whether a file was cut by these days."""
        return state.digest.endswith(self.ending)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a sync reads from, and how it knows the user's days."""

    roots: Roots
    days: Days
    word_vectors: WordVectors | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long somebody waits for a sync: without limits, until all is indexed."""

    until: float = math.inf  # the moment after which no more files are read
    embedding_seconds: float = (
        math.inf
    )  # for chunks that wait for a vector; 0 leaves them to a thread

    @property
    def is_search(self) -> bool:
        """Whether somebody waits for an answer: vectors may follow."""
        return self.embedding_seconds < math.inf

    @property
    def is_short(self) -> bool:
        """Whether the answer has a deadline."""
        return self.until < math.inf

    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return clock.monotonic() > self.until


PATIENT = Patience()


def as_seen(
    known: Mapping[str, FileState],
    path: str,
    state: FileState | None = None,
    chunks: Sequence[IndexedChunk] | None = (),
    *,
    is_appended: bool = False,
) -> FileChange:
    """A change that is only made if no other process was there since we looked."""
    seen = known.get(path)
    return FileChange(path, state, chunks, seen=seen, if_as_seen=True, is_appended=is_appended)


def as_doubtful(known: Mapping[str, FileState], path: str) -> FileChange:
    """A change after which a file is read and cut again: what the index holds of it is not so."""
    state = known[path]
    return as_seen(known, path, FileState((*state.stamp[:2], RACY), ""), None)


def text_digest(text: str) -> bytes:
    """What a chunk is known again by when its text is read from the file."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()
