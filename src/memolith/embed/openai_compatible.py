"""Any server that speaks OpenAI's form of embeddings: OpenAI itself, vLLM, LM Studio, llama.cpp …"""

from __future__ import annotations

from collections.abc import Sequence

from memolith.embed.endpoint import EndpointEmbedder


class OpenAiEmbedder(EndpointEmbedder):
    """Asks `/embeddings` below the configured address."""

    kind = "openai"

    def _request(self, texts: Sequence[str]) -> tuple[str, dict[str, object]]:
        model = self._config.model
        return "/embeddings", {"model": model, "input": list(texts), "encoding_format": "float"}

    def _vectors(self, answer: object) -> list[object]:
        match answer:
            case {"data": list(items)}:
                numbered = [(item.get("index", at), item.get("embedding")) for at, item in
                            enumerate(items) if isinstance(item, dict)]  # fmt: skip
            case _:
                return []
        if sorted(str(index) for index, _ in numbered) != sorted(map(str, range(len(numbered)))):
            return []
        return [vector for _, vector in sorted(numbered, key=lambda pair: int(pair[0]))]
