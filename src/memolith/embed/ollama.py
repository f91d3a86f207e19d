"""Models that Ollama serves on this machine or another."""

from __future__ import annotations

from collections.abc import Sequence

from memolith.embed.endpoint import EndpointEmbedder


class OllamaEmbedder(EndpointEmbedder):
    """Asks `/api/embed` below the configured address."""

    kind = "ollama"

    def _request(self, texts: Sequence[str]) -> tuple[str, dict[str, object]]:
        return "/api/embed", {"model": self._config.model, "input": list(texts), "truncate": True}

    def _vectors(self, answer: object) -> list[object]:
        match answer:
            case {"embeddings": list(vectors)}:
                return vectors
        return []
