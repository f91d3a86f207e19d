"""Bring the index in line with the files: what changed is cut, embedded and put in; what is gone, out."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from memolith import clock
from memolith.errors import MemolithError
from memolith.files.byte_marks import is_utf16, not_utf8
from memolith.files.chunk_text import read_texts
from memolith.files.chunking import chunk_file
from memolith.index_reports import SyncReport
from memolith.ingest.cutting import Days, cut_file
from memolith.ingest.helper import HelperError, start_helper
from memolith.ingest.preparing import MOST_CHARS, Prepared, Preparer, Said, embed, spell
from memolith.ingest.turns import turn
from memolith.interfaces import FileChange, IndexedChunk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from memolith.files.roots import Roots
    from memolith.ingest.cutting import Cut
    from memolith.ingest.helper import Helper
    from memolith.interfaces import Embedder, FileState, Index, WordVectors
    from memolith.retrieval import Chunk
    from memolith.types import Stamp

    Progress = Callable[[int, int], None]

# Larger files are left out, with a warning: nobody wrote them by hand, and they would fill the index.
MAX_FILE_BYTES = 64 * 1024 * 1024
_CHUNKS_AT_ONCE = 512
_FILES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Sources:
    """Where a sync reads from, and how it knows the user's days."""

    roots: Roots
    days: Days
    about_to_look: Callable[[str], None] | None = None  # told the path of every folder
    word_vectors: WordVectors | None = None


def sync(
    sources: Sources,
    index: Index,
    embedder: Embedder | None,
    progress: Progress | None = None,
    *,
    embedding_seconds: float = math.inf,
) -> SyncReport:
    """Compare the disk with the index and repair the index; one changed file costs one file.

    Without an embedder chunks are found by words, and a later sync adds their vectors: for at most
    `embedding_seconds`, the rest is left to the next one.
    """
    overtaken_once = set[str]()
    while True:
        report, overtaken = _sync_once(sources, index, embedder, progress, embedding_seconds)
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
    embedding_seconds: float,
) -> tuple[SyncReport, set[str]]:
    """Also the files that other processes have indexed meanwhile, perhaps as they were before."""
    seen = _Seen.now(sources, index)
    preparer = Preparer(embedder, sources.word_vectors)
    is_due = bool(seen.changed or seen.gone)
    with turn(sources.roots.own) if is_due else nullcontext(enter_result=False) as waited:
        seen = seen.after_others(sources, index) if waited else seen
        known, gone, changed, warnings = seen.known, seen.gone, seen.changed, seen.warnings
        overtaken = set(
            index.replace_files([_as_seen(known, path) for path in gone]) if gone else ()
        )
        work = _Work(sources, index, preparer, known, warnings)
        with closing(work):
            work.helper = start_helper(seen.new_bytes, embedder if sources.word_vectors else None)
            for number, (path, stamp) in enumerate(changed.items(), 1):
                work.add(path, stamp)
                if progress is not None:
                    progress(number, len(changed))
            work.store()
        if embedder is not None:
            deadline = clock.monotonic() + embedding_seconds
            embed_waiting(sources, index, embedder, warnings, lambda: clock.monotonic() > deadline)
        index.maintain()
    report = SyncReport(
        files=seen.files,
        indexed=work.indexed,
        removed=len(gone),
        chunks=work.chunks,
        warnings=tuple(dict.fromkeys(warnings)),
    )
    return report, overtaken | work.overtaken


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
        on_disk, warnings = sources.roots.discover(sources.about_to_look)
        gone = [path for path in known if path not in on_disk]
        return cls(known, len(on_disk), gone, _unlike(known, on_disk, sources), warnings)

    def after_others(self, sources: Sources, index: Index) -> _Seen:
        """The same after another process was at it: mostly it has left nothing to do."""
        known = index.files()
        if any(path in known for path in self.gone) or _unlike(known, self.changed, sources):
            return _Seen.now(sources, index)
        return replace(self, known=known, gone=(), changed={})

    @property
    def new_bytes(self) -> int:
        """About how much is new: most files that are known have grown at their end."""
        return sum(
            max(0, size - self.known[path].stamp[1]) if path in self.known else size
            for path, (_, size, _) in self.changed.items()
        )


def _unlike(
    known: Mapping[str, FileState], on_disk: Mapping[str, Stamp], sources: Sources
) -> dict[str, Stamp]:
    """The files that the index does not hold as they are."""
    return {
        path: stamp
        for path, stamp in on_disk.items()
        if path not in known or known[path].stamp != stamp or not sources.days.tell(known[path])
    }


def _as_seen(
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


def text_digest(text: str) -> bytes:
    """What a chunk is known again by when its text is read from the file."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()


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
            yield _as_seen(known, path, cut.state, items, is_appended=cut.is_appended)


class _Work:
    """What changed, cut and put into the index some hundred chunks at once."""

    def __init__(
        self,
        sources: Sources,
        index: Index,
        preparer: Preparer,
        known: Mapping[str, FileState],
        warnings: list[str],
    ) -> None:
        self._sources = sources
        self._index = index
        self._preparer = preparer
        self._known = known
        self._warnings = warnings
        self._cut: dict[str, Cut] = {}
        self._touched: list[FileChange] = []
        self._waiting = 0
        # What the helper is at: the batch, what is new in it, and its terms.
        self._away: tuple[_Batch, list[Said], list[bytes]] | None = None
        self.helper: Helper | None = None
        self.indexed = 0
        self.chunks = 0
        self.overtaken = set[str]()  # what other processes have indexed meanwhile

    def close(self) -> None:
        """Do without the helper from now on."""
        if self.helper is not None:
            self.helper.close()
            self.helper = None

    def add(self, path: str, stamp: Stamp) -> None:
        """Cut a file that may have changed."""
        data = self._read(path, stamp)
        if data is None:
            return
        if is_utf16(data):
            self._warnings.append(not_utf8(path, "it is left out of search").message)
        cut = cut_file(path, data, stamp, self._known.get(path), self._sources.days)
        if cut.chunks is None:
            self._touched.append(_as_seen(self._known, path, cut.state, None))
        else:
            self._cut[path] = cut
            self.indexed += 1
            self.chunks += len(cut.chunks)
            self._waiting += len(cut.chunks)
            if cut.left_out:
                part = f"{cut.left_out:,} passages of it are" if cut.chunks else "it is"
                self._warnings.append(f"{path} is no UTF-8 text; {part} left out of search.")
            self._warnings += (
                f"{chunk.citation} has {len(chunk.text):,} characters; the first {MOST_CHARS:,} are searched."
                for chunk in cut.chunks
                if len(chunk.text) > MOST_CHARS
            )
        if self._waiting >= _CHUNKS_AT_ONCE or len(self._cut) >= _FILES_AT_ONCE:
            self._store_batch()

    def store(self) -> None:
        """Put all that was cut so far into the index."""
        self._store_batch()
        self._put(self._take_back())

    def _store_batch(self) -> None:
        if self._touched:
            self._replace(self._touched)
        batch = _Batch(self._cut, {path: self._identities(path) for path in self._cut})
        self._cut, self._touched, self._waiting = {}, [], 0
        if not batch.files:
            return
        done = self._take_back()
        given = self._give_away(batch)  # the helper is at this one while the one before is stored
        self._put(done)
        if not given:
            self._put((batch, self._preparer.prepare(batch.new(), self._warnings)))

    def _put(self, done: tuple[_Batch, Prepared] | None) -> None:
        if done is not None:
            batch, prepared = done
            self._replace(list(batch.changes(prepared, self._known)))

    def _replace(self, changes: Sequence[FileChange]) -> None:
        self.overtaken.update(self._index.replace_files(changes))

    def _give_away(self, batch: _Batch) -> bool:
        """Have the helper begin with a batch, and make its terms meanwhile."""
        if self.helper is None:
            return False
        new = batch.new()
        try:
            self.helper.give(new)
        except HelperError:
            self.close()
            return False
        self._away = batch, new, self._preparer.terms(new)
        return True

    def _take_back(self) -> tuple[_Batch, Prepared] | None:
        """What the helper was at, and all that is needed of it, even if the helper failed."""
        if self._away is None:
            return None
        (batch, new, terms), self._away = self._away, None
        try:
            made = self.helper.take() if self.helper is not None else None
        except HelperError:
            made = None
            self.close()
        if made is None:
            return batch, self._preparer.prepare(new, self._warnings)
        return batch, Prepared(terms, *made)

    def _read(self, path: str, stamp: Stamp) -> bytes | None:
        if stamp[1] > MAX_FILE_BYTES:
            self._warnings.append(f"{path} has {stamp[1]:,} bytes and is left out of search.")
            if path in self._known:
                self._replace([_as_seen(self._known, path)])
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


def embed_waiting(
    sources: Sources,
    index: Index,
    embedder: Embedder,
    warnings: list[str],
    is_stopped: Callable[[], bool],
) -> None:
    """Embed chunks that have no vector yet: the model was not there, or it is another one now."""
    while waiting := index.without_vector(_CHUNKS_AT_ONCE):
        texts = list(read_texts(sources.roots, (item.chunk for item in waiting)))
        whole = {
            item.key: replace(item.chunk, text=text)
            for item, text in zip(waiting, texts, strict=True)
            if text is not None and text_digest(text) == item.digest
        }
        said = [Said.by(chunk) for chunk in _with_follow_ups(sources, whole.values())]
        vectors = embed(embedder, said, warnings)
        spelled = spell(sources.word_vectors, said)
        index.set_vectors(
            {key: vector for key, vector in zip(whole, vectors, strict=True) if vector is not None},
            dict(zip(whole, spelled, strict=True)),
        )
        if len(whole) < len(waiting) or vectors[0] is None:
            break  # files changed meanwhile, or the model does not answer
        if is_stopped():
            break


def _with_follow_ups(sources: Sources, chunks: Iterable[Chunk]) -> list[Chunk]:
    """The chunks, those of chats with their follow-ups, which the index does not keep."""
    follow_ups: dict[tuple[str, int, str], str] = {}
    read = set[str]()
    complete: list[Chunk] = []
    for chunk in chunks:
        if chunk.kind == "turn" and chunk.path not in read:
            read.add(chunk.path)
            data = sources.roots.read(chunk.path) or b""
            for said in chunk_file(chunk.path, data, sources.days.of):
                follow_ups[said.path, said.offset, said.role] = said.follow_up
        follow_up = follow_ups.get((chunk.path, chunk.offset, chunk.role), "")
        complete.append(replace(chunk, follow_up=follow_up))
    return complete


def _identity(chunk: Chunk) -> bytes:
    """Of everything that is searched or filtered by, but not of the place in the file."""
    parts = (
        chunk.kind, chunk.text, chunk.role, chunk.heading, chunk.follow_up, chunk.dated,
        chunk.category, chunk.session, chunk.chat, chunk.sensitivity, chunk.channel,
        chunk.record_id, chunk.copy_of, chunk.supersedes, chunk.expires,
    )  # fmt: skip
    return blake2b(repr(parts).encode(errors="surrogatepass"), digest_size=16).digest()
