"""Bring the index in line with the files: what changed is cut, embedded and put in; what is gone, out."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from memolith.clock import Clock, monotonic
from memolith.files.chunking import CUT, STANDARD, ChunkSize
from memolith.files.disk_view import Roots
from memolith.ingest.embedding import embed_waiting
from memolith.interfaces import Embedder, FileChange, FileState, Index, IndexedChunk, WordVectors
from memolith.reports import SyncReport
from memolith.results import Turn
from memolith.types import Progress, Record

RACY = -1  # the time in the stamp of a file that was indexed too soon after it was written


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a sync reads from, and how files are cut: by which days and zone, and how long.

    What was cut otherwise is cut again. The zone follows the digest of a file. Where none is set it is
    the system's, whichever that is: processes with different zones would cut everything by turns.
    """

    roots: Roots
    clock: Clock
    size: ChunkSize = STANDARD
    word_vectors: WordVectors | None = None

    def day_of(self, item: Record | Turn) -> date:
        """The day something was said, as the user would name it."""
        return self.clock.day_of(item.created)

    @property
    def ending(self) -> str:
        """What the digest of every file ends with that was cut as we do, and by these days."""
        size = "" if self.size == STANDARD else f".{self.size.size}-{self.size.overlap}"
        return f".{CUT}{size}@{self.clock.zone}"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long somebody waits for a sync: without limits, until all is indexed."""

    until: float = math.inf  # the moment after which no more files are read
    # For chunks that wait for a vector; 0 leaves them to a thread.
    embedding_seconds: float = math.inf

    @property
    def is_search(self) -> bool:
        """Whether somebody waits for an answer: vectors may follow."""
        return self.embedding_seconds < math.inf


PATIENT = Patience()


def sync(
    sources: Sources,
    index: Index,
    embedder: Embedder | None,
    progress: Progress | None = None,
    patience: Patience = PATIENT,
) -> SyncReport:
    """Compare the disk with the index and repair the index; one changed file costs one file.

    Without an embedder chunks are found by words, and a later sync adds their vectors.
    """
    overtaken_before = set[str]()
    while True:
        known = index.files()  # first: what another process indexes meanwhile is not taken for gone
        on_disk, warnings = sources.roots.discover()
        gone = [path for path in known if path not in on_disk]
        # Every search waits for this loop.
        ending, no_file, held = sources.ending, FileState((0, 0, 0), ""), known.get
        changed = {
            path: stamp
            for path, stamp in on_disk.items()
            if (state := held(path, no_file)).stamp != stamp or not state.digest.endswith(ending)
        }
        removed = index.replace_files([as_seen(known, path) for path in gone]) if gone else ()
        overtaken, indexed, chunks = set(removed), 0, 0
        # Mostly nothing has changed, and a search in a new process need not load what cuts files.
        if changed:
            from memolith.ingest.taking_in import Work

            # Texts are sent when all files are in the index: a mark in one of them counts in all.
            is_here = embedder is not None and not embedder.is_remote
            work = Work(sources, index, embedder if is_here else None, known, patience)
            work.take_in(changed, progress or (lambda done, total: None))
            indexed, chunks = work.indexed, work.chunks
            overtaken |= work.overtaken
            warnings += work.warnings
        # A sync that overtakes us once may have read the file before we began. If it does so again, it has
        # seen in the index what the first one left there, and read the file after that: late enough.
        if overtaken <= overtaken_before:
            break
        overtaken_before |= overtaken
    if embedder is not None and patience.embedding_seconds:
        deadline = monotonic() + patience.embedding_seconds
        embed_waiting(sources, index, embedder, warnings, lambda: monotonic() > deadline)
    states = index.files() if indexed or gone else known
    if flawed := {path: state.flaws for path, state in states.items() if state.flaws}:
        from memolith.ingest.flaws import flaw_warnings  # a memory without flaws does not load it

        warnings.extend(flaw_warnings(flawed))
    return SyncReport(
        files=len(on_disk),
        indexed=indexed,
        removed=len(gone),
        chunks=chunks,
        warnings=tuple(dict.fromkeys(warnings)),
    )


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
