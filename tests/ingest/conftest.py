"""What tests of taking in share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memolith.embed import endpoint
from memolith.ingest import embedding
from tests.embed.model_server import model_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.embed.model_server import ModelServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A real endpoint for embeddings, and a client that does not wait before it asks again."""
    monkeypatch.setattr(endpoint, "_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(endpoint, "_REST_SECONDS", 0.0)
    monkeypatch.setattr(embedding, "_AGAIN_SECONDS", 0.0)
    with model_server() as made:
        yield made
