"""Vectors that cost time or money, kept by the hash of their text: an index made anew asks for none.

A file of its own, apart from the index and its database. It may be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from zlib import crc32

import apsw
import numpy as np

from memolith.errors import EmbeddingError, IndexUnavailableError
from memolith.index import database
from memolith.interfaces import NEAR, Embedder, Vectors

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT"
_MOST = 500_000
_AT_ONCE = 500
_BUSY_MILLISECONDS = 2_000


class CachedEmbedder:
    """An embedder that is asked for each text only once; for use by one thread."""

    def __init__(self, embedder: Embedder, path: str, batch_size: int = _AT_ONCE) -> None:
        """Keep vectors in the file at `path`; when that cannot be used, do without.

        So many texts are asked for at once, and kept before others are: those may fail.
        """
        self._embedder = embedder
        self._batch_size = batch_size
        self._path = path
        self._db: apsw.Connection | None = None

    @property
    def name(self) -> str:
        """The model's."""
        return self._embedder.name

    @property
    def is_remote(self) -> bool:
        """The model's."""
        return self._embedder.is_remote

    @property
    def dimensions(self) -> int:
        """The model's, also while it does not answer."""
        known = self._look_up([_DIMENSIONS])
        if known:
            return len(known[_DIMENSIONS])
        vector = self.embed([_DIMENSIONS])[0]
        return len(vector)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text; only those not met before are embedded."""
        said = [text for text in dict.fromkeys(texts) if text.strip()]
        known = self._look_up(said)
        new = [text for text in said if text not in known]
        for at in range(0, len(new), self._batch_size):
            some = new[at : at + self._batch_size]
            made = dict(zip(some, self._embedder.embed(some), strict=True))
            known |= made
            self._keep({text: row for text, row in made.items() if row.any()})
        # A model that was asked for nothing yet does not know how long the row of a blank text is.
        size = len(known[said[0]]) if said else self.dimensions
        before = len(self._look_up([_DIMENSIONS]).get(_DIMENSIONS, ())) or size
        if any(len(row) != before for row in known.values()):
            raise EmbeddingError(
                f"The model {self.name} gives vectors of another size than before.",
                hint=f"Delete {self._path}; vectors are made again.",
            )
        result = np.zeros((len(texts), size), np.float32)
        for at, text in enumerate(texts):
            if text in known:
                result[at] = known[text]
        return result

    @property
    def near(self) -> float:
        """The model's."""
        return getattr(self._embedder, "near", NEAR)

    def embed_question(self, question: str) -> Vectors:
        """As the model reads a question; a question is not kept."""
        read = getattr(self._embedder, "embed_question", None)
        found: Vectors = read(question) if read else self.embed([question])
        return found

    def close(self) -> None:
        """Let go of the file; the next text opens it again."""
        if self._db is not None:
            self._db.close()
        self._db = None

    def _open(self) -> apsw.Connection | None:
        if self._db is None:  # a new memory has no folder for it when its model is opened
            self._db = _open(self._path)
        return self._db

    def _look_up(self, texts: Sequence[str]) -> dict[str, Vectors]:
        hashes = {self._hash(text): text for text in texts}
        found: dict[str, Vectors] = {}
        db = self._open()
        if db is None:
            return found
        keys = list(hashes)
        with suppress(apsw.Error):  # a damaged cache knows nothing
            for at in range(0, len(keys), _AT_ONCE):
                some = keys[at : at + _AT_ONCE]
                marks = ",".join("?" * len(some))
                statement = f"SELECT hash, vector FROM vectors WHERE hash IN ({marks})"  # noqa: S608 - question marks
                for key, data in db.execute(statement, some):
                    if data[-4:] == _sum(key, data[:-4]):
                        found[hashes[key]] = np.frombuffer(data[:-4], "<f4")
        return found

    def _keep(self, vectors: dict[str, Vectors]) -> None:
        db = self._open()
        if db is None or not vectors:
            return
        rows = [(self._hash(text), row.astype("<f4").tobytes()) for text, row in vectors.items()]
        with suppress(apsw.Error), db:
            db.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [(key, data + _sum(key, data)) for key, data in rows],
            )
            db.execute(
                "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?", (_MOST,)
            )

    def _hash(self, text: str) -> bytes:
        whole = f"{self._embedder.name}\0{text}".encode(errors="surrogatepass")
        return blake2b(whole, digest_size=20).digest()


_DIMENSIONS = "dimensions"


def forget_all(path: str) -> None:
    """Delete every vector, so that nothing of a forgotten text is left; with the file, if need be.

    Raises IndexUnavailableError when neither can be done.
    """
    if _empty(path):
        return
    for part in ("", "-wal", "-shm"):  # whoever has it open goes on with a cache of his own
        database.discard(path + part)
    if os.path.lexists(path):
        raise IndexUnavailableError(
            f"{path} cannot be emptied: it may still hold vectors of what was forgotten.",
            path=path,
            hint="Delete this file; nothing else is kept in it.",
        )


def _empty(path: str) -> bool:
    """Whether all rows are gone, from the log too: a reader who does not stop keeps them there."""
    db = _open(path)
    if db is None:
        return False
    try:
        db.pragma("secure_delete", 1)
        db.execute("DELETE FROM vectors")
        return not next(iter(db.execute("PRAGMA wal_checkpoint(TRUNCATE)")))[0]
    except apsw.Error:
        return False
    finally:
        db.close()


def _open(path: str) -> apsw.Connection | None:
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW
    db = None
    try:
        path = database.resolve(path)
        database.make_private(path)
        db = apsw.Connection(path, flags=flags)
        db.set_busy_timeout(_BUSY_MILLISECONDS)
        db.pragma("journal_mode", "wal")
        db.pragma("synchronous", "normal")
        db.execute(_TABLE)
    except (apsw.Error, OSError):  # read-only, full, damaged or no database at all
        if db is not None:
            db.close()
        return None
    return db


def _sum(key: bytes, data: bytes) -> bytes:
    return crc32(data, crc32(key)).to_bytes(4, "little")
