"""Chroma as the engine for vectors: embedded in this process, or a server (extra: `chroma`).

Rows, words and filters are the built-in index's, which keeps the vectors, too: what it holds is copied to
Chroma, and it answers whenever Chroma does not. Secret chunks are never copied.
"""

from __future__ import annotations

import fcntl
import os
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx2
import numpy as np
from numpy.typing import NDArray

from memolith.clock import monotonic
from memolith.config.load import INDEX_KEY, api_key
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import FileChange, IndexReplacedError, Vectors
from memolith.results import Chunk, Filters

Keys = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T")

EVERYTHING, EXPERIENCES = "everything", "experiences"
_BATCH = 2_000
_COPIED_IN_SEARCH = 2_000  # more are copied by a sync, which nobody waits for
_PAUSE_SECONDS = 30.0  # after a failure
_FEW = 1_000  # chunks that are named to Chroma one by one, where filters leave no more
_guard = threading.Lock()
_locked: dict[str, list[int]] = {}  # by folder: the handle that holds the lock, and its users


class ChromaIndex(SqliteIndex):
    """The built-in index, with the nearest chunks found by Chroma."""

    def __init__(
        self, folder: str, model: tuple[str, int] | None, *, url: str, timeout_seconds: float
    ) -> None:
        """Without a `url`, Chroma is embedded, with its files beside the built-in index."""
        super().__init__(folder, model)
        self._url, self._seconds = url, timeout_seconds
        self._path = os.path.join(folder, "chroma")
        self._copies: Copies | None = None
        self._identity = self._identify()
        self._not_before = 0.0

    def replace_files(self, changes: Sequence[FileChange]) -> list[str]:
        """Replace the chunks of files, and their copies."""
        changed = super().replace_files(changes)
        self._copy_all()
        return changed

    def set_vectors(self, vectors: Mapping[int, Vectors], tokens: Mapping[int, bytes]) -> None:
        """Add vectors, and copy them."""
        super().set_vectors(vectors, tokens)
        self._copy_all()

    def purge(self) -> None:
        """Erase every trace of removed chunks, of which Chroma keeps some: it begins again."""
        super().purge()
        with self._failing_softly():
            if self._has_chroma() and (copies := self._open()):
                copies.begin_again()
        self._copy_all()

    def close(self) -> None:
        """Release the files, or the connection."""
        super().close()
        self._release()

    def _nearest(
        self,
        vector: Vectors,
        distances: NDArray[np.uint16],
        mask: Mask,
        limit: int,
        filters: Filters,
    ) -> Keys:
        found: Keys | None = None
        with self._failing_softly():
            if copies := self._open():
                wanted = self._wanted()
                if copies.follow(wanted, self._vectors_of, self._about, _COPIED_IN_SEARCH):
                    found = copies.nearest(vector, mask & wanted, limit, filters)
                    self.problem = ""
                else:
                    self.problem = (
                        f"Chroma has {copies.count:,} of {int(wanted.sum()):,} chunks so far;"
                        " the built-in index answered. To copy the rest: memolith sync"
                    )
        if found is None:
            return super()._nearest(vector, distances, mask, limit, filters)
        kept_here = mask & ~self._wanted()
        if not kept_here.any():
            return found
        return np.union1d(found, super()._nearest(vector, distances, kept_here, limit, filters))

    def _copy_all(self) -> None:
        with self._failing_softly():
            if self._has_model and (copies := self._open()):
                with self._database.operation(), self._database.snapshot():
                    self._arrays.refresh(self._database)
                    copies.follow(self._wanted(), self._vectors_of, self._about, 1 << 62)
                self.problem = ""

    def _wanted(self) -> Mask:
        """The chunks that Chroma should have: those with a vector that are in no way secret."""
        return self._arrays.shown(include_secret=False) & (self._arrays["scale"] > 0)

    def _vectors_of(self, keys: Keys) -> NDArray[np.float32]:
        arrays = self._arrays
        scale: NDArray[np.float32] = arrays["scale"][keys]
        return arrays["vectors"][keys].astype(np.float32) * scale[:, None]

    def _about(self, keys: Keys) -> list[Chunk]:
        found = self.fetch(keys.tolist())
        return [found[key].chunk for key in keys.tolist()]

    def _has_chroma(self) -> bool:
        return bool(self._url) or os.path.isdir(self._path)

    def _open(self) -> Copies | None:
        """The copies in Chroma; None while it rests after a failure."""
        if self._copies is None and monotonic() >= self._not_before:
            self._copies = Copies(self._client(), self._name(), self._identity)
        return self._copies

    def _client(self) -> Any:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if not self._url:
            os.makedirs(self._path, mode=0o700, exist_ok=True)
            _lock(self._path)
            return chromadb.PersistentClient(self._path, settings=settings)
        parts = urlsplit(self._url)
        key = api_key(INDEX_KEY)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        is_encrypted = parts.scheme == "https"
        host, port = parts.hostname or "localhost", parts.port or (443 if is_encrypted else 8000)
        # The client below would wait for ever for a server that does not answer.
        shown = f"[{host}]" if ":" in host else host
        probe = f"{parts.scheme}://{shown}:{port}/api/v2/heartbeat"
        httpx2.get(probe, headers=headers, timeout=self._seconds).raise_for_status()
        client = chromadb.HttpClient(
            host=host, port=port, ssl=is_encrypted, headers=headers, settings=settings
        )
        for session in _sessions(client):
            session.timeout = self._seconds
        return client

    def _name(self) -> str:
        real = os.path.realpath(self._database.folder)
        return f"memolith-{blake2b(os.fsencode(real), digest_size=8).hexdigest()}"

    def _identify(self) -> str:
        """Which index and model the copies are of: those of another are worth nothing."""
        with self._database.operation():
            known = self._database.meta("copies")
            if known is None and self._database.writable:
                known = uuid.uuid4().hex
                with self._database.writing():
                    self._database.set_meta("copies", known)
        return f"{known} {self._model} {self._dimensions}"

    @contextmanager
    def _failing_softly(self) -> Iterator[None]:
        """Whatever is wrong with Chroma is said, and the built-in index answers."""
        try:
            yield
        except IndexReplacedError:
            raise
        except ImportError:
            self._pause("it is not installed: pip install 'memolith[chroma]'")
        except _Busy:
            self._pause("another process uses the embedded Chroma of this memory")
        except _failures() as error:
            self._pause(str(error).partition("\n")[0][:200] or type(error).__name__)

    def _pause(self, why: str) -> None:
        self._release()
        self._not_before = monotonic() + _PAUSE_SECONDS
        place = f" at {self._url}" if self._url else ""
        self.problem = f"Chroma{place} cannot be used: {why}. The built-in index answered."

    def _release(self) -> None:
        copies, self._copies = self._copies, None
        if copies is not None:
            with suppress(*_failures()):
                copies.client.close()
            for session in _sessions(copies.client):
                session.close()
            if not self._url:
                _unlock(self._path)


class Copies:
    """The collections of one index: everything, and the experiences by themselves."""

    def __init__(self, client: Any, name: str, identity: str) -> None:
        self.client, self._name, self._identity = client, name, identity
        self._collections = {one: self._collection(one) for one in (EVERYTHING, EXPERIENCES)}
        self._there = np.zeros(1, np.bool_)
        self._mark(self._keys_there(), there=True)

    @property
    def count(self) -> int:
        """How many chunks are there."""
        return int(self._there.sum())

    def begin_again(self) -> None:
        """Delete the collections and make them empty."""
        for which in self._collections:
            self.client.delete_collection(f"{self._name}-{which}")
            self._collections[which] = self._collection(which)
        self._there[:] = False

    def follow(
        self,
        wanted: Mask,
        vectors: Callable[[Keys], NDArray[np.float32]],
        about: Callable[[Keys], list[Chunk]],
        most: int,
    ) -> bool:
        """Copy what is missing and delete what is gone; False if more than `most` would be copied."""
        self._grow(len(wanted))
        there = self._there[: len(wanted)]
        gone, missing = (there & ~wanted).nonzero()[0], (wanted & ~there).nonzero()[0]
        if len(missing) > most:
            return False
        for at in range(0, len(gone), _BATCH):
            ids = _ids(gone[at : at + _BATCH])
            for collection in self._collections.values():
                collection.delete(ids=ids)
            self._mark(gone[at : at + _BATCH], there=False)
        for at in range(0, len(missing), _BATCH):
            keys = missing[at : at + _BATCH]
            chunks = about(keys)
            self._add(EVERYTHING, keys, vectors(keys), chunks)
            some = [n for n, chunk in enumerate(chunks) if _is_experience(chunk.category)]
            if some:
                told = keys[some]
                self._add(EXPERIENCES, told, vectors(told), [chunks[n] for n in some])
            self._mark(keys, there=True)
        return True

    def nearest(self, vector: Vectors, allowed: Mask, limit: int, filters: Filters) -> Keys:
        """The nearest of the allowed chunks."""
        is_about = filters.category is not None and _is_experience(filters.category)
        collection = self._collections[EXPERIENCES if is_about else EVERYTHING]
        keys = allowed.nonzero()[0]
        if len(keys) <= limit:
            return keys
        if len(keys) <= _FEW:
            return _asked(collection, vector, limit, ids=_ids(keys))
        most, known = 2 * limit, collection.count()
        while True:
            found = _asked(collection, vector, min(most, known))
            found = found[(found < len(allowed))]
            found = found[allowed[found]][:limit]
            if len(found) == limit or most >= known:
                return found
            most *= 4

    def _collection(self, which: str) -> Any:
        name = f"{self._name}-{which}"
        options = {"embedding_function": None, "configuration": {"hnsw": {"space": "cosine"}}}
        metadata = {"index": self._identity}
        found = self.client.get_or_create_collection(name, metadata=metadata, **options)
        if (found.metadata or {}).get("index") != self._identity:
            self.client.delete_collection(name)
            found = self.client.get_or_create_collection(name, metadata=metadata, **options)
        return found

    def _keys_there(self) -> Keys:
        ids = self._collections[EVERYTHING].get(include=[])["ids"]
        return np.array([int(one) for one in ids if one.isdigit()], np.int64)

    def _add(
        self, which: str, keys: Keys, vectors: NDArray[np.float32], chunks: Sequence[Chunk]
    ) -> None:
        self._collections[which].upsert(
            ids=_ids(keys), embeddings=vectors, metadatas=[_metadata(chunk) for chunk in chunks]
        )

    def _mark(self, keys: Keys, *, there: bool) -> None:
        self._grow(int(keys.max(initial=0)) + 1)
        self._there[keys] = there

    def _grow(self, size: int) -> None:
        if size > len(self._there):
            self._there = np.pad(self._there, (0, size - len(self._there)))


class _Busy(Exception):  # noqa: N818 - never leaves this module
    """Another process has the embedded database open, which only one may use."""


def _sessions(client: Any) -> list[Any]:
    """The HTTP clients of a client: there is no other way to limit their time, or to close them."""
    servers = (client._server, client._admin_client._server)  # noqa: SLF001
    return [session for one in servers if (session := getattr(one, "_session", None))]


def _asked(collection: Any, vector: Vectors, limit: int, ids: Sequence[str] | None = None) -> Keys:
    answer = collection.query(
        query_embeddings=[vector.tolist()], n_results=limit, ids=ids, include=[]
    )
    return np.array([int(one) for one in answer["ids"][0] if one.isdigit()], np.int64)


def _ids(keys: Keys) -> list[str]:
    return list(map(str, keys.tolist()))


def _is_experience(category: str) -> bool:
    return category.casefold() == "experience"


def _metadata(chunk: Chunk) -> dict[str, str | int]:
    """What another program that looks into Chroma can know of a chunk; its text is in the file."""
    day = chunk.dated if isinstance(chunk.dated, date) else None
    texts = {
        "path": chunk.path, "kind": chunk.kind, "category": chunk.category,
        "session": chunk.session, "chat": chunk.chat, "record_id": chunk.record_id,
        "day": day.isoformat() if day else "",
    }  # fmt: skip
    plain = {name: text.encode(errors="replace").decode() for name, text in texts.items() if text}
    return {**plain, "first_line": chunk.first_line, "last_line": chunk.last_line}


def _failures() -> tuple[type[Exception], ...]:
    """What Chroma raises, and the HTTP client that comes with it."""
    ours = (OSError, ValueError, RuntimeError, httpx2.HTTPError)
    try:
        import httpx
        from chromadb.errors import ChromaError
    except ImportError:
        return ours
    return (*ours, ChromaError, httpx.HTTPError, httpx.InvalidURL)


def _lock(path: str) -> None:
    """Take the embedded database for this process; others that use it would read stale data."""
    with _guard:
        if path not in _locked:
            handle = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                os.close(handle)
                raise _Busy from error
            _locked[path] = [handle, 0]
        _locked[path][1] += 1


def _unlock(path: str) -> None:
    with _guard:
        if path in _locked:
            _locked[path][1] -= 1
            if not _locked[path][1]:
                os.close(_locked.pop(path)[0])
