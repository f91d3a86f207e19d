"""Vectors that cost time or money, kept by the hash of their text: a rebuilt index asks for none.

A file of its own, apart from the index and its database. It may be deleted at any time.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from hashlib import blake2b
from typing import Any

import apsw
import numpy as np

from memolith.errors import EmbeddingError, IndexUnavailableError
from memolith.index import database
from memolith.interfaces import NEAR, Embedder, Vectors

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (hash BLOB PRIMARY KEY, vector BLOB NOT NULL) STRICT"
_FIND = "SELECT hash, vector FROM vectors WHERE hash = ?"
_FORGET_OLDEST = "DELETE FROM vectors WHERE rowid <= (SELECT max(rowid) FROM vectors) - ?"
_MOST = 500_000
_AT_ONCE = 64  # texts that are asked for, and kept before others are: those may fail


class CachedEmbedder:
    """An embedder that is asked for each text only once."""

    def __init__(self, embedder: Embedder, path: str) -> None:
        """Keep vectors in the file at `path`; when that cannot be used, do without."""
        self._embedder = embedder
        self.name, self.is_remote = embedder.name, embedder.is_remote
        self.near: float = getattr(embedder, "near", NEAR)
        self._path = path

    @property
    def dimensions(self) -> int:
        """The model's, also while it does not answer."""
        known = self._look_up([_DIMENSIONS])
        return len(known[_DIMENSIONS] if known else self.embed([_DIMENSIONS])[0])

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text; only those not met before are embedded."""
        said = [text for text in dict.fromkeys(texts) if text.strip()]
        known = self._look_up(said)
        new = [text for text in said if text not in known]
        for at in range(0, len(new), _AT_ONCE):
            some = new[at : at + _AT_ONCE]
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
        none = np.zeros(size, np.float32)
        return np.array([known.get(text, none) for text in texts], np.float32).reshape(-1, size)

    def embed_question(self, question: str) -> Vectors:
        """As the model reads a question; a question is not kept."""
        read = getattr(self._embedder, "embed_question", None)
        found: Vectors = read(question) if read else self.embed([question])
        return found

    def _look_up(self, texts: Sequence[str]) -> dict[str, Vectors]:
        hashes = {self._hash(text): text for text in texts}
        rows = self._run(_FIND, [(key,) for key in hashes])
        return {hashes[key]: np.frombuffer(data, "<f4") for key, data in rows}

    def _keep(self, vectors: dict[str, Vectors]) -> None:
        rows = [(self._hash(text), row.astype("<f4").tobytes()) for text, row in vectors.items()]
        self._run("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        self._run(_FORGET_OLDEST, [(_MOST,)])

    def _run(self, statement: str, values: Sequence[Sequence[object]]) -> list[tuple[Any, ...]]:
        """The rows of a statement; none if the file cannot be used. One that is damaged is deleted."""
        try:
            path = database.resolve(self._path)
            database.make_private(path)
            with closing(database.connect(path)) as db:
                db.execute(f"PRAGMA synchronous = off; {_TABLE}")
                with db:
                    return [*db.executemany(statement, values)]
        except (apsw.Error, OSError) as error:
            if isinstance(error, apsw.Error) and database.is_damage(error):
                _delete(self._path)
        return []

    def _hash(self, text: str) -> bytes:
        whole = f"{self.name}\0{text}".encode(errors="surrogatepass")
        return blake2b(whole, digest_size=20).digest()


_DIMENSIONS = "dimensions"


def forget_all(path: str) -> None:
    """Delete the file, so that nothing of a forgotten text is left; raises IndexUnavailableError.

    A process that has it open cannot write to it any more, and uses the next one.
    """
    _delete(path)
    if os.path.lexists(path):
        raise IndexUnavailableError(
            f"{path} cannot be deleted: it may still hold vectors of what was forgotten.",
            path=path,
            hint="Delete this file; nothing else is kept in it.",
        )


def _delete(path: str) -> None:
    for part in ("", "-journal"):
        database.discard(path + part)
