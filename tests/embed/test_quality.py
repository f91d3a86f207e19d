"""Stronger models, with real weights: they are used if they are here, and never fetched by a search."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from memolith import Memory
from memolith.cli.main import main
from memolith.config.sections import SETTINGS
from memolith.embed import quality
from memolith.interfaces import Vectors

MODELS = Path(__file__).resolve().parents[2] / ".venv" / "test-models"
EMBEDDER = f"fastembed:{MODELS}/snowflake-arctic-embed-s"
RERANKER = f"fastembed:{MODELS}/ms-marco-MiniLM-L-12-v2"
ABSENT = "fastembed:snowflake/snowflake-arctic-embed-s"

with_weights = pytest.mark.skipif(
    not (MODELS / "complete").exists(), reason="scripts/install_test_tools.sh fetches the weights"
)
with_library = pytest.mark.skipif(
    __import__("importlib.util").util.find_spec("fastembed") is None, reason="needs fastembed"
)
RECORDS = [
    "The puppy rests in the kitchen at night",
    "Dogs are not allowed in the office kitchen",
    "The invoice of the plumber is due on the fifth",
    "Ines keeps the spare key of the flat in Faro",
    "The cat eats nothing but tuna",
]


@pytest.fixture(autouse=True)
def _nobody_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def memory_with(tmp_path: Path, **settings: object) -> Memory:
    memory = Memory(tmp_path / "m", settings={k.replace("__", "."): v for k, v in settings.items()})
    memory.remember_many(RECORDS)
    return memory


@with_library
@with_weights
def test_a_question_is_near_what_answers_it() -> None:
    model = quality.FastEmbedder(EMBEDDER)
    texts = model.embed([*RECORDS, " "])
    assert texts.shape == (len(RECORDS) + 1, model.dimensions)
    assert np.allclose(np.linalg.norm(texts, axis=1), [1.0] * len(RECORDS) + [0.0], atol=1e-5)
    found = texts @ model.embed_question("where does the dog sleep?")[0]
    assert int(found.argmax()) == 0
    assert not np.allclose(model.embed_question("tuna"), model.embed(["tuna"]))  # it has a prefix


@with_library
@with_weights
def test_a_model_in_a_folder_searches_by_meaning(tmp_path: Path) -> None:
    with memory_with(tmp_path, embed__model=EMBEDDER) as memory:
        memory.index.sync()
        found = memory.search("who pays the bill for the pipes?")
        assert found.warnings == ()
        assert found.hits[0].text == RECORDS[2]
        assert memory.index.status().model == EMBEDDER


@with_library
@with_weights
def test_the_best_hits_are_ranked_again(tmp_path: Path) -> None:
    question = "where does our dog sleep?"
    with memory_with(tmp_path) as memory:
        before = [hit.text for hit in memory.search(question).hits]
    with memory_with(tmp_path, search__rerank=RERANKER, search__rerank_seconds=60) as memory:
        found = memory.search(question, explain=True)
        assert found.hits[0].text == RECORDS[0]
        assert sorted(before) == sorted({hit.text for hit in found.hits})
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
        assert "rerank" in [stage.stage for stage in found.trace]


@with_library
@with_weights
def test_a_context_is_never_ranked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a hook would wait for this")

    monkeypatch.setattr(quality.CrossEncoder, "scores", refuse)
    with memory_with(tmp_path, search__rerank=RERANKER) as memory:
        assert RECORDS[0] in memory.context("where does the puppy rest at night?").text
        with pytest.raises(AssertionError):
            memory.search("where does the puppy rest?")


@with_library
@pytest.mark.parametrize("absent", [ABSENT, "fastembed:/no/such/folder", "fastembed:no/such"])
def test_without_its_model_a_search_says_so_and_answers(tmp_path: Path, absent: str) -> None:
    with memory_with(tmp_path, embed__model=absent, search__rerank=absent) as memory:
        found = memory.search("where does the puppy sleep?")
        assert found.hits[0].text == RECORDS[0]
        assert found.hits[0].ranks["meaning"] == 1
        said = " ".join(found.warnings)
        assert "The default model is used instead." in said
        assert "The hits are not ranked again." in said


def test_no_file_in_a_project_folder_names_a_model() -> None:
    # What that means is tested for every such setting in tests/config/test_load.py.
    assert SETTINGS["embed.model"].trusted_only
    assert SETTINGS["search.rerank"].trusted_only


class SlowReader:
    """A re-ranker that takes longer than anybody wants to wait, and likes short texts."""

    name = "slow"
    waited = 0.0

    def scores(self, question: str, texts: Sequence[str]) -> Vectors:
        """The shorter the better; half a minute passes."""
        self.waited += 31
        return np.array([-len(text) for text in texts], np.float32)


@contextmanager
def slow_reader() -> Iterator[None]:
    """Searches with that model, by a clock that it moves on."""
    slow = SlowReader()
    with (
        patch("memolith.finder.choose_reranker", lambda _: slow),
        patch("memolith.clock.monotonic", lambda: time.monotonic() + slow.waited),
    ):
        yield


def test_when_time_is_up_the_rest_keeps_its_order_and_that_is_said(tmp_path: Path) -> None:
    texts = [f"The tea in tin {number} is green{'!' * number}" for number in range(40)]
    with Memory(tmp_path, settings={"search.rerank_seconds": 60}) as memory:
        memory.remember_many(texts)
        with slow_reader():
            found = memory.search("green tea", 40)
        assert any("16 hits were ranked again within 60 s" in one for one in found.warnings)
        lengths = [len(hit.text) for hit in found.hits]
        assert len(lengths) == 40
        assert lengths[:8] != sorted(lengths)[:8]


@with_library
def test_a_model_is_fetched_by_its_command_alone_which_says_what_it_does(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[quality.KnownModel] = []
    monkeypatch.setattr(quality, "get_model", fetched.append)
    assert main(["model", "get", "snowflake/snowflake-arctic-embed-s"]) == 0
    told = "".join(capsys.readouterr())
    assert all(part in told for part in ("huggingface.co", "0.13 GB", "apache-2.0", "~/.cache"))
    assert "config set embed.model fastembed:" in told
    assert [one.setting for one in fetched] == ["embed.model"]
    assert main(["model", "get", "no/such"]) != 0
    assert not os.path.exists(os.path.expanduser("~/.cache/memolith"))
