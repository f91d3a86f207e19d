"""What else one might use, on the same texts and vectors; each is imported only when it is asked for.

A rival is made from a folder and the texts, and then answers questions with ten texts. Those that are
not installed say so: `pip install chromadb sqlite-vec lancedb` into the environment of the benchmark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from memolith.embed.choose import choose_embedder

Ask = Callable[[str], Sequence[str]]
_RRF = 60


def fts5(folder: str, texts: Sequence[str]) -> Ask:
    """SQLite's own full text search, every word of the question joined by OR: the naive way."""
    db = apsw.Connection(str(Path(folder) / "texts.db"))
    db.execute("CREATE VIRTUAL TABLE texts USING fts5(text, tokenize='porter')")
    with db:
        db.executemany("INSERT INTO texts VALUES (?)", [(text,) for text in texts])

    def ask(question: str) -> Sequence[str]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        found = "SELECT text FROM texts WHERE texts MATCH ? ORDER BY bm25(texts) LIMIT 10"
        return [row[0] for row in db.execute(found, (words,))]

    return ask


def sqlite_vec(folder: str, texts: Sequence[str]) -> Ask:
    """The same, with sqlite-vec beside it and both rankings fused."""
    import sqlite_vec as extension

    model = choose_embedder()
    by_words = fts5(folder, texts)
    db = apsw.Connection(str(Path(folder) / "vectors.db"))
    db.enable_load_extension(True)
    db.load_extension(extension.loadable_path())
    db.execute(f"CREATE VIRTUAL TABLE vectors USING vec0(vector float[{model.dimensions}])")
    with db:
        for at in range(0, len(texts), 1000):
            rows = model.embed(texts[at : at + 1000])
            db.executemany(
                "INSERT INTO vectors (rowid, vector) VALUES (?, ?)",
                [(at + number + 1, row.tobytes()) for number, row in enumerate(rows)],
            )

    def ask(question: str) -> Sequence[str]:
        vector = model.embed([question])[0].tobytes()
        nearest = "SELECT rowid FROM vectors WHERE vector MATCH ? AND k = 10 ORDER BY distance"
        near = [texts[row[0] - 1] for row in db.execute(nearest, (vector,))]
        return fused(by_words(question), near)

    return ask


def chromadb(folder: str, texts: Sequence[str]) -> Ask:
    """Chroma, embedded, with our vectors: it has no ranking by words."""
    import chromadb as chroma

    model = choose_embedder()
    store = chroma.PersistentClient(folder).create_collection("texts", embedding_function=None)
    for at in range(0, len(texts), 1000):
        some = list(texts[at : at + 1000])
        numbers = [str(at + number) for number in range(len(some))]
        store.add(ids=numbers, documents=some, embeddings=model.embed(some))

    def ask(question: str) -> Sequence[str]:
        found = store.query(query_embeddings=model.embed([question]), n_results=10)
        return list(found["documents"][0])

    return ask


def lancedb(folder: str, texts: Sequence[str]) -> Ask:
    """LanceDB's hybrid search with our vectors."""
    import lancedb as lance

    model = choose_embedder()
    rows = [
        {"text": text, "vector": row}
        for at in range(0, len(texts), 1000)
        for text, row in zip(texts[at : at + 1000], model.embed(texts[at : at + 1000]), strict=True)
    ]
    table = lance.connect(folder).create_table("texts", rows)
    table.create_fts_index("text")

    def ask(question: str) -> Sequence[str]:
        words = " ".join(re.findall(r"\w+", question))
        query = table.search(query_type="hybrid").vector(model.embed([question])[0]).text(words)
        return [row["text"] for row in query.limit(10).to_list()]

    return ask


def fused(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """Two rankings as one, by reciprocal ranks."""
    scores: dict[str, float] = {}
    for ranking in (one, other):
        for rank, text in enumerate(ranking, 1):
            scores[text] = scores.get(text, 0.0) + 1 / (_RRF + rank)
    return sorted(scores, key=lambda text: -scores[text])[:10]


RIVALS: dict[str, Callable[[str, Sequence[str]], Ask]] = {
    "fts5": fts5,
    "sqlite_vec": sqlite_vec,
    "chromadb": chromadb,
    "lancedb": lancedb,
}
