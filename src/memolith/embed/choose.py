"""Which model embeds: the one that comes along, unless an endpoint is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.embed.threads import multiply_in_one_thread
from memolith.errors import EmbeddingError

if TYPE_CHECKING:
    from memolith.config_index import EmbedConfig
    from memolith.interfaces import Embedder, WordVectors


def choose_embedder(config: EmbedConfig | None = None, key: str = "") -> Embedder:
    """The configured model, or the default one; raises EmbeddingError when it cannot be used."""
    multiply_in_one_thread()
    if config is None or config.kind == "default":
        from memolith.embed.static_model import StaticModel

        return StaticModel()
    if not config.url or not config.model:
        raise EmbeddingError(
            f"embed.kind is {config.kind}, but embed.url or embed.model is empty.",
            hint="Set both, or embed.kind to default.",
        )
    if config.kind == "ollama":
        from memolith.embed.ollama import OllamaEmbedder

        return OllamaEmbedder(config, key)
    from memolith.embed.openai_compatible import OpenAiEmbedder

    return OpenAiEmbedder(config, key)


def choose_word_vectors(embedder: Embedder | None) -> WordVectors | None:
    """What single words mean: the default model knows, whichever one embeds whole texts."""
    if embedder is None:
        return None
    from memolith.embed.static_model import StaticModel

    try:
        return embedder if isinstance(embedder, StaticModel) else StaticModel()
    except EmbeddingError:
        return None  # passages are not looked at then; nothing else depends on it
