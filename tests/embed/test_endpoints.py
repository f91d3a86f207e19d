"""Models behind HTTP, on a real server that misbehaves in every way we could think of."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.config.sections import EmbedConfig
from memolith.embed import endpoint
from memolith.embed.choose import choose_embedder
from memolith.errors import EmbeddingError
from tests.embed.model_server import (
    DIMENSIONS,
    model_server,
    ollama_answer,
    openai_answer,
    vector_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.embed.endpoint import EndpointEmbedder
    from tests.embed.model_server import ModelServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    monkeypatch.setattr(endpoint, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(endpoint, "_REST_SECONDS", 0.0)
    with model_server() as made:
        yield made


def embedder(server: ModelServer, key: str = "", **values: object) -> EndpointEmbedder:
    settings = {
        "kind": "openai",
        "url": server.url,
        "model": "m",
        "timeout_seconds": 300.0,
        **values,
    }
    return choose_embedder(EmbedConfig(**settings), key)  # type: ignore[arg-type,return-value]


def test_vectors_come_in_the_order_of_the_texts_and_have_length_one(server: ModelServer) -> None:
    vectors = embedder(server, key="k").embed(["tea", "coffee beans", ""])
    assert vectors.shape == (3, DIMENSIONS)
    assert np.allclose(vectors[1], np.array(vector_of("coffee beans")) / np.sqrt(2))
    assert not vectors[2].any()  # a blank text is not even sent
    assert server.batches == [["tea", "coffee beans"]]
    assert (server.keys, server.paths) == (["Bearer k"], ["/v1/embeddings"])


def test_ollama_is_asked_in_its_own_language(server: ModelServer) -> None:
    server.behave = ollama_answer
    made = embedder(server, kind="ollama", url=server.url.removesuffix("/v1"))
    assert np.allclose(made.embed(["tea"])[0], vector_of("tea"))
    assert server.paths == ["/api/embed"]
    assert made.dimensions == DIMENSIONS


def test_texts_are_sent_in_batches(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint, "BATCH_SIZE", 10)
    embedder(server).embed([f"word{number}" for number in range(25)])
    assert [len(batch) for batch in server.batches] == [10, 10, 5]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(server: ModelServer, status: int) -> None:
    server.behave = lambda texts: (status, b"") if len(server.batches) < 3 else openai_answer(texts)
    assert embedder(server, retries=2).embed(["tea"]).any()
    assert len(server.batches) == 3


@pytest.mark.parametrize("status", [401, 404, 302])
def test_an_answer_that_will_not_change_is_not_asked_for_again(
    server: ModelServer, status: int
) -> None:
    server.behave = lambda _: (status, b"")
    with pytest.raises(EmbeddingError, match=str(status)):
        embedder(server).embed(["tea"])
    assert len(server.batches) == 1


def test_one_text_that_is_refused_does_not_fail_its_batch(server: ModelServer) -> None:
    server.behave = lambda texts: (400, b"") if "poison" in texts else openai_answer(texts)
    texts = ["tea", "milk", "poison", "bread", "salt"]
    vectors = embedder(server).embed(texts)
    assert [bool(row.any()) for row in vectors] == [True, True, False, True, True]


@pytest.mark.parametrize("status", [400, 413, 422, 500])
@pytest.mark.parametrize(
    "texts", [["poison"], ["tea", "milk", "poison", "bread", "poison", "salt"]]
)
def test_a_text_that_is_always_refused_is_told_from_a_server_that_takes_nothing(
    server: ModelServer, status: int, texts: list[str]
) -> None:
    made = embedder(server, retries=1)
    server.behave = lambda asked: (status, b"") if "poison" in asked else openai_answer(asked)
    assert [bool(row.any()) for row in made.embed(texts)] == [text != "poison" for text in texts]
    server.behave = lambda _: (status, b"")
    asked = len(server.batches)
    with pytest.raises(EmbeddingError, match=str(status)):
        made.embed(texts)
    assert (
        len(server.batches) - asked <= 4
    )  # what is not the texts' fault is not asked for in halves


def answer_with(vectors: list[object]) -> tuple[int, bytes]:
    items = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return 200, json.dumps({"data": items}).encode()


@pytest.mark.parametrize(
    "bad",
    [
        [float("nan")] * DIMENSIONS,
        [float("inf")] * DIMENSIONS,
        [10**400] * DIMENSIONS,
        [1.0] * (DIMENSIONS + 1),
        [],
        ["1"] * DIMENSIONS,
        [[1.0]] * DIMENSIONS,
        None,
        {"a": 1},
        "text",
    ],
)
def test_a_vector_that_is_none_is_refused_and_the_others_are_taken(
    server: ModelServer, bad: object
) -> None:
    made = embedder(server)
    assert made.dimensions == DIMENSIONS
    server.behave = lambda texts: answer_with(
        [bad if text == "bad" else vector_of(text) for text in texts]
    )
    vectors = made.embed(["tea", "bad", "milk"])
    assert [bool(row.any()) for row in vectors] == [True, False, True]
    assert np.isfinite(vectors).all()
    assert not made.embed(["bad"]).any()  # also where it stands alone


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[" * 100_000, b"null", b"[]", b'{"data": 1}', b'{"data": [1, 2]}',
     b'{"data": [{"embedding": [1]}]}', b'{"data": [{"index": 5}, {"index": 5}]}',
     b'{"data": []}', b"\xff\xfe", b'{"embeddings": [[1.0]]}'],
)  # fmt: skip
def test_an_answer_that_is_none_is_an_error_of_ours(server: ModelServer, body: bytes) -> None:
    server.behave = lambda _: (200, body)
    with pytest.raises(EmbeddingError) as caught:
        embedder(server).embed(["tea", "milk"])
    assert server.url in caught.value.message
    assert caught.value.hint


def test_a_server_that_hangs_up_or_is_not_there_is_an_error_of_ours(server: ModelServer) -> None:
    server.behave = lambda _: None
    with pytest.raises(EmbeddingError):
        embedder(server, retries=1).embed(["tea"])
    assert len(server.batches) == 2
    with pytest.raises(EmbeddingError):
        embedder(server, url="http://127.0.0.1:9", retries=0).embed(["tea"])


def test_a_slow_server_is_given_up_after_the_time_that_was_set(server: ModelServer) -> None:
    gone = threading.Event()

    def never(texts: list[str]) -> None:
        gone.wait(600)

    server.behave = never
    with pytest.raises(EmbeddingError, match=r"no complete answer within 0\.2 s"):
        embedder(server, timeout_seconds=0.2, retries=0).embed(["tea"])
    gone.set()


def test_a_server_whose_headers_drip_is_given_up(server: ModelServer) -> None:
    server.drips = True
    with pytest.raises(EmbeddingError, match=r"no complete answer within 0\.3 s"):
        embedder(server, timeout_seconds=0.3, retries=0).embed(["tea"])
    assert True not in server.dripped  # we hung up before the last drop, each time


def test_an_answer_that_is_too_large_is_not_taken(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_MOST_BYTES", 1_000)
    server.behave = lambda _: (200, b" " * 2_000)
    with pytest.raises(EmbeddingError, match="larger than 1,000 bytes"):
        embedder(server, retries=1).embed(["tea"])
    assert len(server.batches) == 1


def test_a_server_that_failed_is_left_alone_for_a_while(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "_REST_SECONDS", 60.0)
    server.behave = lambda _: (404, b"")
    made = embedder(server)
    for _ in range(3):
        with pytest.raises(EmbeddingError):
            made.embed(["tea"])
    assert len(server.batches) == 1


@pytest.mark.parametrize("missing", ["url", "model"])
def test_half_a_setting_says_what_is_missing(missing: str) -> None:
    values = {"kind": "openai", "url": "https://example.com", "model": "m", missing: ""}
    with pytest.raises(EmbeddingError, match=f"embed.{missing}|embed.url or embed.model"):
        choose_embedder(EmbedConfig(**values))


@pytest.mark.parametrize("text", ["\ud800", "x" * 1_000_000, "\0", "👩‍👩‍👧"])
def test_any_text_can_be_sent(server: ModelServer, text: str) -> None:
    assert embedder(server).embed([text]).shape == (1, DIMENSIONS)
    assert len(server.batches[0][0]) <= 8_000
