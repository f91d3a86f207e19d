"""A model that does not do its work is said by everything that needs it, with where and what to do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from tests.embed.model_server import openai_answer, vector_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.embed.model_server import Behaviour, ModelServer


def with_vectors(vectors: list[list[float]]) -> tuple[int, bytes]:
    items = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return 200, json.dumps({"data": items}).encode()


FAILURES: dict[str, Behaviour] = {
    "status 500": lambda _: (500, b"oops"),
    "status 401 (is MEMOLITH_EMBED_KEY right?)": lambda _: (401, b'{"error": "Incorrect API key"}'),
    "not JSON": lambda _: (200, b"<html>hi</html>"),
    "no vector of numbers": lambda texts: with_vectors([[float("nan")] * 8 for _ in texts]),
    "no vector of numbers, or of another": lambda texts: with_vectors([[0.0] * 8 for _ in texts]),
    "with 0 vectors": lambda texts: with_vectors([vector_of(text) for text in texts[1:]]),
    "closed the connection": lambda _: None,
}


def opened(root: Path, server: ModelServer) -> Memory:
    settings: dict[str, object] = {
        "embed.kind": "openai",
        "embed.url": server.url,
        "embed.model": "m",
        "embed.retries": 0,
        "embed.timeout_seconds": 300.0,
        "dream.track": False,
    }
    return Memory(root, settings=settings)


def model_warnings(memory: Memory) -> list[str]:
    checks = [check for check in memory.doctor().checks if check.id == "model"]
    return [f"{check.message} {check.hint}" for check in checks if check.status == "warn"]


@pytest.mark.parametrize("problem", FAILURES)
def test_sync_status_doctor_and_search_say_what_fails_where_and_what_to_do(
    tmp_path: Path, server: ModelServer, problem: str
) -> None:
    server.behave = FAILURES[problem]
    with opened(tmp_path, server) as memory:
        memory.remember("A heron stands in the river")
        told = [
            memory.index.sync().warnings,
            memory.search("heron").warnings,
            memory.index.rebuild().warnings,
            memory.index.status().warnings,
            model_warnings(memory),
        ]
        for warnings in told:
            text = " ".join(warnings)
            assert problem in text
            assert f"The model m at {server.url} fails" in text
            assert "Check the settings of [embed]" in text
            assert "words only" in text
        server.behave = openai_answer
        assert memory.index.sync().warnings == ()
        assert memory.index.status().warnings == ()
        assert model_warnings(memory) == []


def test_a_search_that_makes_the_index_says_it_too(tmp_path: Path, server: ModelServer) -> None:
    server.behave = FAILURES["status 500"]
    (tmp_path / "a.md").write_text("A heron stands in the river.\n")
    with opened(tmp_path, server) as memory:
        found = memory.search("heron")
    assert found.hits
    assert "status 500" in found.warnings[0]


def test_looking_at_the_index_keeps_no_vectors(tmp_path: Path, server: ModelServer) -> None:
    with opened(tmp_path, server) as memory:
        memory.remember("A heron stands in the river")
        memory.index.status()
        memory.doctor()
    assert not (tmp_path / ".memolith" / "embeddings.db").exists()
    assert {text for batch in server.batches for text in batch} == {"dimensions"}


REFUSED = "1 chunk is found by words only: the model refused the text, or gave a vector of another"


@pytest.mark.parametrize(
    "behave",
    [
        lambda texts: (400, b"") if "walrus" in str(texts) else openai_answer(texts),
        lambda texts: (500, b"") if "walrus" in str(texts) else openai_answer(texts),
        lambda texts: with_vectors(
            [vector_of(text)[: 3 if "walrus" in text else 8] for text in texts]
        ),
    ],
)
def test_a_text_without_a_vector_is_counted_and_told(
    tmp_path: Path, server: ModelServer, behave: Behaviour
) -> None:
    server.behave = behave
    (tmp_path / "a.md").write_text("A heron stands there.\n\n# W\n\nA walrus lies there.\n")
    for _ in range(2):
        with opened(tmp_path, server) as memory:
            (told,) = memory.index.sync().warnings
            assert told.startswith(REFUSED)
            assert told in memory.search("heron").warnings
            assert told in memory.search("heron").warnings
            status = memory.index.status()
            assert (status.refused, status.without_vector) == (1, 0)
            assert "A walrus lies there." in memory.search("walrus lies").hits[0].text
    server.behave = openai_answer
    with opened(tmp_path, server) as memory:
        assert memory.index.rebuild().warnings == ()
        assert memory.index.status().refused == 0


def test_a_question_without_a_vector_is_told(tmp_path: Path, server: ModelServer) -> None:
    server.behave = lambda texts: (400, b"") if "walrus" in str(texts) else openai_answer(texts)
    (tmp_path / "a.md").write_text("A heron stands there.\n")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
        told = "The model gave no vector for this question. Searched by words only."
        assert told in memory.search("walrus or heron").warnings
        assert memory.search("heron").warnings == ()


def test_a_question_with_a_vector_of_another_size_is_told(
    tmp_path: Path, server: ModelServer
) -> None:
    server.behave = lambda texts: with_vectors(
        [[1.0] * 3 if text == "walrus" else vector_of(text) for text in texts]
    )
    (tmp_path / "a.md").write_text("A walrus lies there.\n")
    with opened(tmp_path, server) as memory:
        memory.index.sync()
    with opened(tmp_path, server) as memory:
        found = memory.search("walrus")
    assert found.hits
    assert "of another size" in found.warnings[0]
