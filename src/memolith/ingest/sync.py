"""Bring the index in line with the files: what changed is cut, embedded and put in; what is gone, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.folder import Folder
from memolith.files.locks import SYNC_LOCK, OwnerLock
from memolith.ingest.late_vectors import embed_waiting
from memolith.ingest.sources import PATIENT, Patience, Sources, as_seen
from memolith.interfaces import Embedder, FileState, Index
from memolith.reports import SyncReport
from memolith.types import Progress, Stamp

# Longer than a few changed files take, and short for somebody who waits for a search.
_TURN_SECONDS = 0.25


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
    overtaken_once = set[str]()
    while True:
        report, overtaken = _sync_once(sources, index, embedder, progress, patience)
        # Who overtakes us the first time may have read the file before we began. Who does so again has
        # seen in the index what the first one left there, and read the file after that: late enough.
        if overtaken <= overtaken_once:
            return report
        overtaken_once |= overtaken


def _sync_once(
    sources: Sources,
    index: Index,
    embedder: Embedder | None,
    progress: Progress | None,
    patience: Patience,
) -> tuple[SyncReport, set[str]]:
    """Also the files that other processes have indexed meanwhile, perhaps as they were before."""
    seen = _Seen.now(sources, index)
    is_due = bool(seen.changed or seen.gone)
    with turn(sources.roots.own) if is_due else nullcontext(enter_result=False) as waited:
        seen = seen.after_others(sources, index) if waited else seen
        known, gone, changed, warnings = seen.known, seen.gone, seen.changed, seen.warnings
        overtaken = set(
            index.replace_files([as_seen(known, path) for path in gone]) if gone else ()
        )
        indexed = chunks = 0
        # Mostly nothing has changed, and a search in a new process need not load what cuts files.
        if changed:
            from memolith.ingest.taking_in import Work

            # Texts are sent when all files are in the index: a mark in one of them counts in all.
            is_here = embedder is not None and not embedder.is_remote
            work = Work(sources, index, embedder if is_here else None, known, patience)
            work.take_in(changed, progress)
            indexed, chunks = work.indexed, work.chunks
            overtaken |= work.overtaken
            warnings += work.warnings
        if embedder is not None and patience.embedding_seconds:
            deadline = clock.monotonic() + patience.embedding_seconds
            embed_waiting(sources, index, embedder, warnings, lambda: clock.monotonic() > deadline)
    held = index.files() if indexed or gone else known
    if flawed := {path: state.flaws for path, state in held.items() if state.flaws}:
        from memolith.ingest.flaws import flaw_warnings  # a memory without flaws does not load it

        warnings.extend(flaw_warnings(flawed))
    report = SyncReport(
        files=seen.files,
        indexed=indexed,
        removed=len(gone),
        chunks=chunks,
        warnings=tuple(dict.fromkeys(warnings)),
    )
    return report, overtaken


@contextmanager
def turn(folder: Folder) -> Iterator[bool]:
    """Our turn to index; gives whether somebody else had it just now, and may have left nothing to do.

    After each write all servers of a memory would do the same work at once, all but one of them in vain.
    It is a courtesy and no more: who has waited long enough goes ahead, and the index is right all the same.
    """
    lock, waited = None, False
    with suppress(MemolithError):  # there are no locks here, or nothing may be written
        try:
            lock = OwnerLock(folder, SYNC_LOCK)
        except BlockingIOError:
            waited = True
            with suppress(BlockingIOError):
                lock = OwnerLock(folder, SYNC_LOCK, _TURN_SECONDS)
    try:
        yield waited
    finally:
        if lock is not None:
            lock.release()


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the index holds, and what on the disk is not as it says."""

    known: Mapping[str, FileState]
    files: int
    gone: Sequence[str]
    changed: Mapping[str, Stamp]
    warnings: list[str]

    @classmethod
    def now(cls, sources: Sources, index: Index) -> _Seen:
        """Look; at the index first: what another process indexes meanwhile is not taken for gone."""
        known = index.files()
        on_disk, warnings = sources.roots.discover()
        gone = [path for path in known if path not in on_disk]
        return cls(known, len(on_disk), gone, _unlike(known, on_disk, sources), warnings)

    def after_others(self, sources: Sources, index: Index) -> _Seen:
        """The same after another process was at it: mostly it has left nothing to do."""
        known = index.files()
        if any(path in known for path in self.gone) or _unlike(known, self.changed, sources):
            return _Seen.now(sources, index)
        return replace(self, known=known, gone=(), changed={})


def _unlike(
    known: Mapping[str, FileState], on_disk: Mapping[str, Stamp], sources: Sources
) -> dict[str, Stamp]:
    """The files that the index does not hold as they are. Every search waits for this loop."""
    ending, no_file = sources.days.ending, FileState((0, 0, 0), "")
    held = known.get
    return {
        path: stamp
        for path, stamp in on_disk.items()
        if (state := held(path, no_file)).stamp != stamp or not state.digest.endswith(ending)
    }
