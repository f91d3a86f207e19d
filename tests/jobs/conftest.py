"""A memory for `doctor` to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.embed import choose

if TYPE_CHECKING:
    from memolith import Memory
    from memolith.interfaces import Embedder


@pytest.fixture
def files(root: str, memory: Memory) -> Path:
    """The folder of a memory with one record, and nothing wrong with it."""
    memory.init()
    memory.remember("Ana owns the release key")
    return Path(root)


@pytest.fixture(scope="session")
def model() -> Embedder:
    """The model that comes along."""
    return choose.choose_embedder()


@pytest.fixture
def opened_model(model: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open the model once for hundreds of calls of doctor: it takes most of their time."""
    monkeypatch.setattr(choose, "choose_embedder", lambda *_: model)
