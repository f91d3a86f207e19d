"""What else one might use, on the same texts and vectors; each is imported only when it is asked for.

A rival builds its store in a folder, and later, in another process, opens it and answers questions with
ten texts. Those that are not installed say so: `pip install --group rivals`, in an environment of their own.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.speed.corpus import Corpus

Ask = Callable[[str], Sequence[str]]
Vectors = np.ndarray[Any, Any]
_RRF = 60
_AT_ONCE = 1000


class Contender(Protocol):
    """One way to keep texts and find them again."""

    package: str  # whose version is noted

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        """Put the texts in; this is timed."""

    def open(self, folder: Path) -> Ask:
        """Open what was built, ready to answer."""


@cache
def _model() -> Any:
    from memolith.embed.static_model import StaticModel

    return StaticModel()


def _embed(question: str) -> Vectors:
    return _model().embed([question])[0]


class Memolith:
    """The whole product: a folder of files, `Memory.sync` and `Memory.search`."""

    package = "memolith"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        from memolith import Memory

        with Memory(folder) as memory:
            assert memory.index.sync().chunks == len(texts)

    def prepare(self, folder: Path, size: int) -> None:
        Corpus(size).write(folder)

    def open(self, folder: Path) -> Ask:
        from memolith import Memory

        memory = Memory(folder)
        return lambda question: [hit.text for hit in memory.search(question).hits]


class Fts5:
    """SQLite's own full text search, every word of the question joined by OR: the naive way."""

    package = "apsw"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        db = _database(folder)
        db.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter')")
        with db:
            db.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])

    def open(self, folder: Path) -> Ask:
        db = _database(folder)

        def ask(question: str) -> Sequence[str]:
            words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
            found = "SELECT text FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 10"
            return [row[0] for row in db.execute(found, (words,))]

        return ask


class SqliteVec:
    """FTS5 as above with sqlite-vec beside it, and both rankings fused."""

    package = "sqlite-vec"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        Fts5().build(folder, texts, vectors)
        db = _with_vectors(folder)
        db.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(vector float[{vectors.shape[1]}])")
        with db:
            db.executemany(
                "INSERT INTO vectors (rowid, vector) VALUES (?, ?)",
                ((at, row.tobytes()) for at, row in enumerate(vectors, 1)),
            )

    def open(self, folder: Path) -> Ask:
        by_words = Fts5().open(folder)
        db = _with_vectors(folder)
        near = (
            "SELECT text FROM texts JOIN (SELECT rowid AS at FROM vectors WHERE vector MATCH ?"
            " AND k = 10 ORDER BY distance) ON texts.rowid = at"
        )

        def ask(question: str) -> Sequence[str]:
            nearest = [row[0] for row in db.execute(near, (_embed(question).tobytes(),))]
            return fused(by_words(question), nearest)

        return ask


class Chroma:
    """Chroma, embedded, with our vectors: it has no ranking by words."""

    package = "chromadb"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        store = self._client(folder).create_collection("texts", embedding_function=None)
        for at in range(0, len(texts), _AT_ONCE):
            part = slice(at, at + _AT_ONCE)
            numbers = [str(at + number) for number in range(len(texts[part]))]
            store.add(ids=numbers, documents=list(texts[part]), embeddings=vectors[part])

    def open(self, folder: Path) -> Ask:
        store = self._client(folder).get_collection("texts", embedding_function=None)

        def ask(question: str) -> Sequence[str]:
            found = store.query(query_embeddings=_embed(question)[None], n_results=10)
            return list(found["documents"][0])

        return ask

    def _client(self, folder: Path) -> Any:
        import chromadb

        quiet = chromadb.Settings(anonymized_telemetry=False)
        return chromadb.PersistentClient(str(folder), settings=quiet)


class Lance:
    """LanceDB's hybrid search: its full text index and our vectors."""

    package = "lancedb"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        import lancedb

        rows = [{"text": text, "vector": row} for text, row in zip(texts, vectors, strict=True)]
        lancedb.connect(folder).create_table("texts", rows).create_fts_index("text")

    def open(self, folder: Path) -> Ask:
        import lancedb

        table = lancedb.connect(folder).open_table("texts")

        def ask(question: str) -> Sequence[str]:
            words = " ".join(re.findall(r"\w+", question))
            query = table.search(query_type="hybrid").vector(_embed(question)).text(words)
            return [row["text"] for row in query.limit(10).to_list()]

        return ask


class Mem0:
    """mem0 without an LLM (`infer=False`) on its own default store, Qdrant in this process.

    Its ranking by words needs models that are downloaded at run time, so it goes by vectors.
    """

    package = "mem0ai"

    def build(self, folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
        memory = self._memory(folder)
        rows = {text: row.tolist() for text, row in zip(texts, vectors, strict=True)}
        memory.embedding_model.embed = lambda text, *_: rows[text]
        for text in texts:
            memory.add(text, user_id="me", infer=False)

    def open(self, folder: Path) -> Ask:
        memory = self._memory(folder)
        memory.embedding_model.embed = lambda text, *_: _embed(text).tolist()

        def ask(question: str) -> Sequence[str]:
            found = memory.search(question, top_k=10, filters={"user_id": "me"}, threshold=0.0)
            return [row["memory"] for row in found["results"]]

        return ask

    def _memory(self, folder: Path) -> Any:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0")}
        from mem0 import Memory as Mem0Memory

        nobody = {"provider": "openai", "config": {"api_key": "none is called"}}
        store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 256}
        return Mem0Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": nobody,
                "llm": nobody,
                "history_db_path": str(folder / "history.db"),
            }
        )


def fused(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Two rankings as one, by reciprocal ranks."""
    scores: dict[str, float] = {}
    for ranking in (one, other):
        for rank, text in enumerate(ranking, 1):
            scores[text] = scores.get(text, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda text: -scores[text])[:10]


def _database(folder: Path) -> Any:
    import apsw

    return apsw.Connection(str(folder / "texts.db"))


def _with_vectors(folder: Path) -> Any:
    import sqlite_vec

    db = _database(folder)
    db.enable_load_extension(True)
    db.load_extension(sqlite_vec.loadable_path())
    return db


CONTENDERS: dict[str, Contender] = {
    "memolith": Memolith(),
    "fts5": Fts5(),
    "sqlite_vec": SqliteVec(),
    "chromadb": Chroma(),
    "lancedb": Lance(),
    "mem0": Mem0(),
}
