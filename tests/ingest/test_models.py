"""A memory with a model behind an endpoint: cached, changed, away, and back again."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest

from memolith import Memory
from memolith.embed import endpoint
from memolith.errors import ConfigError, EmbeddingError, IndexUnavailableError
from memolith.index import vector_cache
from memolith.index.vector_cache import CachedEmbedder, forget_all
from tests.embed.model_server import openai_answer, vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from memolith.interfaces import Vectors
    from tests.embed.model_server import ModelServer


def settings(server: ModelServer, name: str = "m") -> dict[str, object]:
    return {
        "embed.kind": "openai",
        "embed.url": server.url,
        "embed.model": name,
        "embed.retries": 0,
        "embed.timeout_seconds": 300.0,
        "dream.track": False,
    }


@contextmanager
def thinking(server: ModelServer, words: str) -> Iterator[None]:
    """Inside of the block the server gives no vectors of texts with these words; afterwards it does."""
    answered = threading.Event()

    def answer(texts: list[str]) -> tuple[int, bytes]:
        if words in " ".join(texts):
            answered.wait(300)
        return openai_answer(texts)

    server.behave = answer
    try:
        yield
    finally:
        answered.set()


def until_embedded(memory: Memory, question: str) -> None:
    deadline = time.monotonic() + 300
    while memory.search(question).warnings:
        assert time.monotonic() < deadline, memory.search(question).warnings
        time.sleep(0.05)


def sent(server: ModelServer) -> list[str]:
    return [text for batch in server.batches for text in batch]


def test_new_text_is_found_by_words_at_once_and_embedded_in_the_background(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        with thinking(server, "stands in the river"):
            first = memory.search("heron")
        assert [hit.text for hit in first.hits] == ["A heron stands in the river"]
        assert "found by words only" in " ".join(first.warnings)
        until_embedded(memory, "heron")
        assert memory.search("heron").hits[0].ranks == {"words": 1, "meaning": 1}


def test_sync_waits_for_the_model(tmp_path: Path, server: ModelServer) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        assert memory.index.sync().warnings == ()
        assert memory.search("heron").warnings == ()


def test_a_file_is_replaced_without_waiting_for_the_model(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings={"search.meaning": False, "dream.track": False}) as memory:
        for number in range(40):
            memory.remember(f"Bird {number} was seen")
        memory.index.sync()
    with Memory(tmp_path, settings=settings(server)) as memory, thinking(server, "Bird"):
        file = memory.files.read("MEMORY.md")
        report = memory.files.write("MEMORY.md", f"{file.content}A grebe dives\n", file.version)
        assert report.warnings == ()
        assert not [text for text in sent(server) if "Bird" in text]
        assert [hit.text for hit in memory.search("grebe").hits if "grebe" in hit.text]


def test_an_index_made_anew_asks_for_no_vector_twice(tmp_path: Path, server: ModelServer) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        for number in range(30):
            memory.remember(f"Bird {number} was seen")
        memory.index.sync()
        asked = len(sent(server))
        memory.index.rebuild()
        assert len(sent(server)) == asked
        assert memory.search("bird").warnings == ()


def test_a_memory_without_a_folder_of_ours_keeps_its_first_vectors_too(
    tmp_path: Path, server: ModelServer
) -> None:
    (tmp_path / "a.md").write_text("A heron stands in the river.\n")
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.index.sync()
        memory.index.rebuild()
    assert sent(server).count("A heron stands in the river.") == 1


def test_what_was_answered_before_the_model_failed_is_not_asked_for_again(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    quota = 3  # requests a run

    def answer(texts: list[str]) -> tuple[int, bytes]:
        return openai_answer(texts) if len(server.batches) - before < quota else (429, b"")

    server.behave = answer
    text = "\n\n".join(f"# Bird {number}\n\nIt was seen.\n" for number in range(40))
    (tmp_path / "a.md").write_text(text)
    monkeypatch.setattr(endpoint, "BATCH_SIZE", 8)
    monkeypatch.setattr(vector_cache, "_AT_ONCE", 8)
    with Memory(tmp_path, settings=settings(server)) as memory:
        for _ in range(4):
            before = len(server.batches)
            warnings = memory.index.sync().warnings
        assert warnings == ()
        assert memory.index.status().without_vector == 0


def test_a_secret_alone_is_indexed_by_a_process_that_has_asked_the_model_nothing(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("The door code is 4711", sensitivity="secret")
        assert memory.index.sync().warnings == ()
        found = memory.search("door code", include_secret=True)
        assert [hit.text for hit in found.hits][:1] == ["The door code is 4711"]
    assert not any("4711" in text for text in sent(server))


def test_one_text_that_is_refused_is_not_asked_for_again_by_a_new_process(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    server.behave = lambda texts: (400, b"") if "bad" in str(texts) else openai_answer(texts)
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("a bad text")
        assert "the model refused the text" in memory.index.sync().warnings[0]
        assert memory.index.status().without_vector == 0
    asked = len(sent(server))
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.index.sync()
    assert len(sent(server)) == asked


def test_what_is_forgotten_leaves_no_vector(tmp_path: Path, server: ModelServer) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        record = memory.remember("The door code is 4711")
        memory.index.sync()
        memory.forget(record.id)
    assert not list((tmp_path / ".memolith").glob("embeddings.db*"))


def test_after_a_change_of_model_words_answer_while_vectors_are_made_again(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        for number in range(40):
            memory.remember(f"Bird {number} was seen")
        memory.index.sync()
    with Memory(tmp_path, settings=settings(server, "another")) as memory:
        with thinking(server, "was seen"):
            first = memory.search("bird 7")
        assert first.hits
        assert "40 chunks" in first.warnings[0] or "80 chunks" in first.warnings[0]
        until_embedded(memory, "bird 7")
    with Memory(tmp_path) as memory:  # and back to the model that comes along
        assert memory.search("bird 7").hits
        assert memory.index.sync().warnings == ()


def test_a_server_that_is_away_is_said_and_used_again_when_it_is_back(
    tmp_path: Path, server: ModelServer
) -> None:
    server.behave = lambda _: (500, b"")
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        result = memory.search("heron")
        assert [hit.text for hit in result.hits] == ["A heron stands in the river"]
        assert "500" in result.warnings[0]
        assert "words only" in result.warnings[0]
        server.behave = openai_answer
        until_embedded(memory, "heron")
        server.behave = lambda _: None
        later = memory.search("a river")
        assert later.hits
        assert "words only" in " ".join(later.warnings)


@pytest.mark.parametrize("refusals", range(8))
def test_a_model_that_comes_back_in_the_middle_of_a_search_costs_no_index(
    tmp_path: Path, server: ModelServer, refusals: int
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    folder = tmp_path / ".memolith" / "index"
    before = [path.name for path in folder.glob("*.db")]
    (tmp_path / ".memolith" / "embeddings.db").unlink()  # else nobody asks how long a vector is
    known = len(server.batches)
    server.behave = lambda texts: (
        (503, b"") if len(server.batches) - known <= refusals else openai_answer(texts)
    )
    with Memory(tmp_path, settings=settings(server)) as memory:
        for _ in range(3):
            assert memory.search("heron").hits
    assert [path.name for path in folder.glob("*.db")] == before


def test_a_key_is_read_from_the_environment_and_never_from_a_file(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMOLITH_EMBED_KEY", "s3cret")
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    assert set(server.keys) == {"Bearer s3cret"}
    (tmp_path / "memolith.toml").write_text('[embed]\nkey = "s3cret"\n')
    with pytest.raises(ConfigError, match=r"embed\.key"):
        Memory(tmp_path)


def test_a_secret_is_never_sent_and_still_found_by_words(
    tmp_path: Path, server: ModelServer
) -> None:
    with Memory(tmp_path, settings=settings(server)) as memory:
        memory.remember("The door code is 4711", sensitivity="secret")
        memory.remember("The door is green")
        memory.index.sync()
        found = memory.search("door code", include_secret=True).hits
        assert "The door code is 4711" in [hit.text for hit in found]
    assert not [text for text in sent(server) if "4711" in text]


def test_a_closed_memory_holds_no_file_of_vectors_open_and_opens_it_again(
    tmp_path: Path, server: ModelServer
) -> None:
    def held() -> list[str]:
        return [db.filename for db in apsw.connections() if db.filename.startswith(str(tmp_path))]

    memory = Memory(tmp_path, settings=settings(server))
    for text in ("A heron stands in the river", "A stork stands on the roof"):
        memory.remember(text)
        until_embedded(memory, "heron")
        asked = len(sent(server))
        memory.close()
        deadline = time.monotonic() + 300
        while held():  # a thread in the background may be at its end
            assert time.monotonic() < deadline, held()
            time.sleep(0.05)
        memory.index.rebuild()
        assert len(sent(server)) == asked
    memory.close()


class Counting:
    """An embedder that counts what it is asked for."""

    name = "counting"
    dimensions = 8
    is_remote = False

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.array([vector_of(text) for text in texts], np.float32)


def test_a_damaged_or_foreign_cache_is_no_cache_and_no_error(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    inner = Counting()
    CachedEmbedder(inner, str(path)).embed(["tea", "milk", "tea"])
    assert inner.asked == ["tea", "milk"]
    assert (CachedEmbedder(inner, str(path)).embed(["milk"])[0] == vector_of("milk")).all()
    assert inner.asked == ["tea", "milk"]
    content = path.read_bytes()
    path.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    assert CachedEmbedder(inner, str(path)).embed(["milk"]).any()
    for content in (b"not a database at all" * 100, b""):
        path.write_bytes(content)
        assert CachedEmbedder(inner, str(path)).embed(["milk"]).any()
        forget_all(str(path))
        assert not path.exists() or b"not a database" not in path.read_bytes()
    assert CachedEmbedder(inner, str(tmp_path / "no" / "folder.db")).embed(["milk"]).any()


def test_no_vector_is_kept_by_a_reader_who_does_not_stop(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    CachedEmbedder(Counting(), str(path)).embed(["tea"])
    reader = apsw.Connection(str(path))
    reader.execute("BEGIN")
    assert list(reader.execute("SELECT count(*) FROM vectors")) == [(1,)]
    kept = np.array(vector_of("tea"), "<f4").tobytes()
    assert any(kept in file.read_bytes() for file in tmp_path.iterdir())
    forget_all(str(path))
    assert not any(kept in file.read_bytes() for file in tmp_path.iterdir())
    reader.close()


def test_vectors_that_cannot_be_deleted_are_said(tmp_path: Path) -> None:
    path = tmp_path / "vectors.db"
    path.mkdir()
    with pytest.raises(IndexUnavailableError, match="vectors of what was forgotten"):
        forget_all(str(path))


def test_two_memories_with_different_models_never_mix_their_vectors(
    tmp_path: Path, server: ModelServer
) -> None:
    with (
        Memory(tmp_path, settings={"dream.track": False}) as ours,
        Memory(tmp_path, settings=settings(server)) as theirs,
    ):
        for number, memory in enumerate((ours, theirs, ours, theirs)):
            memory.remember(f"Bird {number} was seen")
            memory.index.sync()
            status = memory.index.status()
            assert status.without_vector == 0
            assert status.model.startswith("openai:" if memory is theirs else "wordllama")
            sizes = "SELECT DISTINCT length(vector) FROM chunks"
            (database,) = (tmp_path / ".memolith" / "index").glob("*.db")
            assert len(list(apsw.Connection(str(database)).execute(sizes))) == 1


def test_vectors_of_another_size_than_those_kept_are_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "vectors.db")
    CachedEmbedder(Counting(), path).embed(["tea"])
    inner = Counting()
    inner.embed = lambda texts: np.ones((len(texts), 3), np.float32)  # type: ignore[method-assign]
    with pytest.raises(EmbeddingError, match="another size"):
        CachedEmbedder(inner, path).embed(["tea", "milk"])
