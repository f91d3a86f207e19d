"""Take in files that may have changed: they are cut, embedded and put into the index, many at once.

If only the end of a file is new, as after every write, only that is cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.chunking import chunk_appended, chunk_file
from memolith.files.disk_view import MAX_FILE_BYTES
from memolith.ingest.flaws import Flaws, without_noise
from memolith.ingest.preparing import Prepared, Preparer, Said
from memolith.ingest.sources import RACY, Days, Patience, Sources, as_seen, text_digest
from memolith.interfaces import Embedder, FileChange, FileState, Index, IndexedChunk
from memolith.results import Chunk
from memolith.text.cleaning import shown_path
from memolith.types import Progress, Stamp

# Chunks in one transaction: many, because their postings are written together; few when time is short.
_CHUNKS_AT_ONCE, _CHUNKS_IN_A_HURRY = 2_048, 256
_FILES_AT_ONCE = 256
# A search waits for the words of all new chunks, but for the vectors of so many only.
_EMBEDDED_FOR_A_SEARCH = 1_000


@dataclass(frozen=True, slots=True)
class Cut:
    """What a file says now; `chunks` is None if that is what it said before."""

    state: FileState
    chunks: list[Chunk] | None
    is_appended: bool = False  # the chunks come behind those that were there


@dataclass(frozen=True, slots=True)
class _Batch:
    """Files that were cut; of each chunk its identity, and whether it has to be indexed."""

    files: Mapping[str, Cut]
    identities: Mapping[str, list[tuple[bytes, bool]]]

    def new(self) -> list[Said]:
        """What is said in chunks that have to be indexed."""
        return [
            Said.by(chunk)
            for path, cut in self.files.items()
            for chunk, (_, is_new) in zip(cut.chunks or (), self.identities[path], strict=True)
            if is_new
        ]

    def changes(self, prepared: Prepared, known: Mapping[str, FileState]) -> Iterator[FileChange]:
        """What is indexed already is passed on without its terms, as often as it is there."""
        made = zip(prepared.terms, prepared.vectors, prepared.tokens, strict=True)
        for path, cut in self.files.items():
            items = [
                IndexedChunk(
                    chunk, text_digest(chunk.text), identity, *(next(made) if is_new else (None,))
                )
                for chunk, (identity, is_new) in zip(
                    cut.chunks or (), self.identities[path], strict=True
                )
            ]
            yield as_seen(known, path, cut.state, items, is_appended=cut.is_appended)


class Work:
    """What changed, cut and put into the index some hundred chunks at once."""

    def __init__(
        self,
        sources: Sources,
        index: Index,
        embedder: Embedder | None,
        known: Mapping[str, FileState],
        patience: Patience,
    ) -> None:
        self._sources = sources
        self._index = index
        self._preparer = Preparer(embedder, sources.word_vectors)
        self._known = known
        self._patience = patience
        self._cut: dict[str, Cut] = {}
        self._touched: list[FileChange] = []
        self._waiting = 0
        self.warnings: list[str] = []
        self.indexed = 0
        self.chunks = 0
        self.overtaken = set[str]()  # what other processes have indexed meanwhile

    def take_in(self, changed: Mapping[str, Stamp], progress: Progress | None = None) -> None:
        """Cut these files, and put what is new into the index; the rest when the time is up is left."""
        files = list(changed.items())
        if self._patience.is_short:
            files.sort(key=lambda file: -file[1][2])  # the newest first
        for number, (path, stamp) in enumerate(files):
            if number and self._patience.is_over():
                left = len(files) - number
                self.warnings.append(
                    f"{left:,} changed files are not indexed yet: what is new in them is not found."
                )
                break
            if progress is not None:  # before a file: a large one takes a minute
                progress(number, len(files))
            self._add(path, stamp)
        self._store_batch()
        if progress is not None and changed:
            progress(len(changed), len(changed))

    def _add(self, path: str, stamp: Stamp) -> None:
        data = self._read(path, stamp)
        if data is None:
            return
        cut = cut_file(path, data, stamp, self._known.get(path), self._sources.days)
        if cut.chunks is None and cut.state == self._known.get(path):
            return  # still racy: a write would only have other processes read the index again
        if cut.chunks is None:
            self._touched.append(as_seen(self._known, path, cut.state, None))
        else:
            self._cut[path] = cut
            self.indexed += 1
            self.chunks += len(cut.chunks)
            self._waiting += len(cut.chunks)
        most = _CHUNKS_IN_A_HURRY if self._patience.is_short else _CHUNKS_AT_ONCE
        if self._waiting >= most or len(self._cut) >= _FILES_AT_ONCE:
            self._store_batch()

    def _store_batch(self) -> None:
        if self._touched:
            self._replace(self._touched)
        batch = _Batch(self._cut, {path: self._identities(path) for path in self._cut})
        self._cut, self._touched, self._waiting = {}, [], 0
        if not batch.files:
            return
        with_vectors = not self._patience.is_search or self.chunks <= _EMBEDDED_FOR_A_SEARCH
        prepared = self._preparer.prepare(batch.new(), self.warnings, with_vectors=with_vectors)
        self._replace(list(batch.changes(prepared, self._known)))

    def _replace(self, changes: Sequence[FileChange]) -> None:
        self.overtaken.update(self._index.replace_files(changes))

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        if stamp[1] > MAX_FILE_BYTES:
            self.warnings.append(
                f"{shown_path(path)} has {stamp[1]:,} bytes and is left out of search: files of more than"
                f" {MAX_FILE_BYTES:,} are not indexed. Split it, or move it out of the memory."
            )
            if path in self._known:
                self._replace([as_seen(self._known, path)])
            return None
        try:
            return self._sources.roots.read(path)  # None: deleted since it was listed
        except MemolithError as error:
            self.warnings.append(f"{error.message} It is left out of search.")
            return None

    def _identities(self, path: str) -> list[tuple[bytes, bool]]:
        """The identity of each chunk of a file, and whether it has to be indexed."""
        cut, there = self._cut[path], Counter[bytes]()
        if path in self._known and not cut.is_appended:
            there = self._index.identities(path)
        found = []
        for chunk in cut.chunks or ():
            identity = _identity(chunk)
            there[identity] -= 1
            found.append((identity, there[identity] < 0))
        return found


def _identity(chunk: Chunk) -> bytes:
    """Of everything that is searched or filtered by, but not of the place in the file."""
    parts = (
        chunk.kind, chunk.text, chunk.role, chunk.heading, chunk.around, chunk.follow_up,
        chunk.dated, chunk.category, chunk.session, chunk.chat, chunk.sensitivity, chunk.channel,
        chunk.record_id, chunk.copy_of, chunk.supersedes, chunk.expires,
    )  # fmt: skip
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()


def cut_file(
    path: str,
    data: bytes,
    stamp: Stamp,
    known: FileState | None,
    days: Days,
) -> Cut:
    """Compare a file with what is known of it, and cut what is new."""
    if known is not None and not days.tell(known):
        known = None
    before = known.stamp[1] if known else 0
    view = memoryview(data)  # a memory may have many megabytes: no copies of them
    digest = blake2b(view[:before], digest_size=16)
    grew = known is not None and len(data) > before and days.mark(digest) == known.digest
    digest.update(view[before:])
    state = FileState(_lasting_stamp(stamp), days.mark(digest))
    if known is not None and known.digest == state.digest:
        return Cut(replace(state, flaws=known.flaws), None)
    appended = chunk_appended(path, data, before, days.of, days.size) if grew else None
    chunks = chunk_file(path, data, days.of, days.size) if appended is None else appended
    readable, flaws = without_noise(path, data, chunks)
    if known is not None and appended is not None:
        flaws = flaws.behind(Flaws.spelled(known.flaws))
    state = replace(state, flaws=str(flaws))
    return Cut(state, readable, is_appended=appended is not None)


def _lasting_stamp(stamp: Stamp) -> Stamp:
    """The stamp to compare with later; a racy one equals no other, so that the file is read again.

    Racy as git calls it: a change within the same tick of the file system's clock would get the same stamp.
    """
    return stamp if stamp[2] < clock.file_time() - clock.FILE_TICK else (*stamp[:2], RACY)
