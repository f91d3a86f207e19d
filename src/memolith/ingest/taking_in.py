"""Take in files that may have changed: they are cut, embedded and put into the index, many at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from memolith.errors import MemolithError
from memolith.files.discovery import MAX_FILE_BYTES
from memolith.ingest.cutting import Cut, cut_file
from memolith.ingest.preparing import Prepared, Preparer, Said
from memolith.ingest.sources import Sources, as_seen, text_digest
from memolith.interfaces import Embedder, FileChange, FileState, Index, IndexedChunk
from memolith.results import Chunk
from memolith.text.cleaning import shown_path
from memolith.text.digests import blake2b
from memolith.types import Progress, Stamp

# Larger files are left out, with a warning: nobody wrote them by hand, and they would fill the index.
_CHUNKS_AT_ONCE = 512
_FILES_AT_ONCE = 256


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
        warnings: list[str],
    ) -> None:
        self._sources = sources
        self._index = index
        self._embedder = embedder
        self._preparer = Preparer(embedder, sources.word_vectors)
        self._known = known
        self._warnings = warnings
        self._cut: dict[str, Cut] = {}
        self._touched: list[FileChange] = []
        self._waiting = 0
        self.indexed = 0
        self.chunks = 0
        self.overtaken = set[str]()  # what other processes have indexed meanwhile

    def take_in(self, changed: Mapping[str, Stamp], progress: Progress | None = None) -> None:
        """Cut these files, and put what is new into the index."""
        for number, (path, stamp) in enumerate(changed.items()):
            if progress is not None:  # before a file: a large one takes a minute
                progress(number, len(changed))
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
        if self._waiting >= _CHUNKS_AT_ONCE or len(self._cut) >= _FILES_AT_ONCE:
            self._store_batch()

    def _store_batch(self) -> None:
        if self._touched:
            self._replace(self._touched)
        batch = _Batch(self._cut, {path: self._identities(path) for path in self._cut})
        self._cut, self._touched, self._waiting = {}, [], 0
        if not batch.files:
            return
        prepared = self._preparer.prepare(batch.new(), self._warnings)
        self._replace(list(batch.changes(prepared, self._known)))

    def _replace(self, changes: Sequence[FileChange]) -> None:
        self.overtaken.update(self._index.replace_files(changes))

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        if stamp[1] > MAX_FILE_BYTES:
            self._warnings.append(
                f"{shown_path(path)} has {stamp[1]:,} bytes and is left out of search: files of more than"
                f" {MAX_FILE_BYTES:,} are not indexed. Split it, or move it out of the memory."
            )
            if path in self._known:
                self._replace([as_seen(self._known, path)])
            return None
        try:
            return self._sources.roots.read(path)  # None: deleted since it was listed
        except MemolithError as error:
            self._warnings.append(f"{error.message} It is left out of search.")
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
