"""Chunks that wait for a vector: all are embedded that can be, each file is cut once for all of them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import EmbeddingError
from memolith.files import chunking
from memolith.files.disk_view import Roots
from memolith.files.folder import Folder
from memolith.index.sqlite import SqliteIndex
from memolith.ingest import embedding
from memolith.ingest.embedding import embed_waiting
from memolith.ingest.sync import Sources, sync

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memolith.interfaces import Vectors

AT_ONCE = 4


class Noticing:
    """An embedder that notices what it is given, and fails at texts with some word."""

    name = "noticing"
    dimensions = 4
    is_remote = False

    def __init__(self, fails_at: str = "no such word") -> None:
        self.batches: list[list[str]] = []
        self._fails_at = fails_at

    def embed(self, texts: Sequence[str]) -> Vectors:
        if any(self._fails_at in text for text in texts):
            raise EmbeddingError("It does not answer.")
        self.batches.append(list(texts))
        return np.ones((len(texts), 4), np.float32)


@pytest.fixture(autouse=True)
def few_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding, "_CHUNKS_AT_ONCE", AT_ONCE)


@contextmanager
def indexed(root: Path) -> Iterator[tuple[Sources, SqliteIndex]]:
    """The index of a memory, in which nothing is embedded yet."""
    with Folder(str(root)) as folder, Roots(folder, ()) as roots:
        sources = Sources(roots, Clock("UTC"))
        index = SqliteIndex(str(root / "index"), (Noticing.name, Noticing.dimensions))
        sync(sources, index, None)
        yield sources, index
        index.close()


def birds(name: str, count: int = 10) -> str:
    return "".join(f"# {name} {number}\n\nIt was seen.\n\n" for number in range(count))


def test_what_cannot_be_read_keeps_nothing_else_from_being_embedded(tmp_path: Path) -> None:
    for name in ("stork", "heron", "raven"):
        (tmp_path / f"{name}.md").write_text(birds(name))
    with indexed(tmp_path) as (sources, index):
        newest = index.without_vector(1)[0].chunk.path
        (tmp_path / newest).unlink()
        embedder = Noticing()
        warnings: list[str] = []
        assert embed_waiting(sources, index, embedder, warnings, lambda: False)
        assert (index.stats().without_vector, warnings) == (10, [])
    assert sum(map(len, embedder.batches)) == 20


def test_a_model_that_does_not_answer_is_asked_no_further(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(birds("heron", 20))
    with indexed(tmp_path) as (sources, index):
        embedder = Noticing(fails_at="heron 9")
        warnings: list[str] = []
        assert not embed_waiting(sources, index, embedder, warnings, lambda: False)
        assert index.stats().without_vector == 12  # 8 newer ones are done: those from 12 to 19
    assert len(embedder.batches) == 2
    assert "does not answer" in warnings[0]


def test_a_chat_history_is_cut_once_however_long_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path) as memory:
        for number in range(10):
            memory.chats.log(f"Question {number}?", f"Answer {number}.")
    cuts: list[str] = []
    cut = chunking.chunk_file
    with indexed(tmp_path) as (sources, index):
        monkeypatch.setattr(
            chunking, "chunk_file", lambda path, *rest: cuts.append(path) or cut(path, *rest)
        )
        embedder = Noticing()
        assert embed_waiting(sources, index, embedder, [], lambda: False)
    assert len(embedder.batches) == 20 / AT_ONCE
    said = "Question 3?\nQuestion 2?\nAnswer 2.\nAnswer 3.\nQuestion 4?"
    assert said in [text for batch in embedder.batches for text in batch]
    assert len(cuts) == 1
