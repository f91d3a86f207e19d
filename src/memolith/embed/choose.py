"""Which model embeds: the one that comes along, unless an endpoint is configured."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING, TypeGuard
from weakref import WeakValueDictionary

from memolith.config.sections import EmbedConfig
from memolith.errors import EmbeddingError
from memolith.interfaces import Embedder, Reranker, WordVectors

if TYPE_CHECKING:
    from memolith.embed.static_model import StaticModel

# The default model of this process: every memory uses the same object, and the last user frees it.
_shared: WeakValueDictionary[str, StaticModel] = WeakValueDictionary()
_guard = threading.Lock()


def choose_embedder(config: EmbedConfig | None = None, key: str = "") -> Embedder:
    """The configured model, or the default one; raises EmbeddingError when it cannot be used."""
    multiply_in_one_thread()
    if is_local(config):
        from memolith.embed.quality import FastEmbedder

        return FastEmbedder(config.model)
    if config is None or config.kind == "default":
        return _default_model()
    if not config.url or not config.model:
        raise EmbeddingError(
            f"embed.kind is {config.kind}, but embed.url or embed.model is empty.",
            hint="Set both, or embed.kind to default.",
        )
    from memolith.embed.endpoint import EndpointEmbedder

    return EndpointEmbedder(config, key)


def multiply_in_one_thread() -> None:
    """Have NumPy start no pool of threads, if nobody has asked for one; to be called before it is loaded.

    Our products are small: waking a second thread for each takes twice the CPU time and saves none. On
    a machine where several servers search, their threads wait for each other.
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - NumPy's, not ours


def is_local(config: EmbedConfig | None) -> TypeGuard[EmbedConfig]:
    """Whether a stronger model on this machine is configured."""
    return config is not None and config.model.startswith("fastembed:")


def choose_reranker(named: str) -> Reranker | None:
    """The model of the setting `search.rerank`; raises EmbeddingError when it cannot be used."""
    if not named:
        return None
    from memolith.embed.quality import CrossEncoder

    return CrossEncoder(named)


def try_embedder(config: EmbedConfig, key: str = "") -> str:
    """The name of the configured model, which has answered just now; raises EmbeddingError.

    A server is asked once, for one word, and nothing is kept.
    """
    embedder = choose_embedder(config.replace(retries=0), key)
    check_dimensions(embedder)
    return embedder.name


def check_dimensions(embedder: Embedder) -> None:
    """Raise EmbeddingError unless the model gives vectors."""
    if not embedder.dimensions:
        raise EmbeddingError(
            f"The vectors of the model {embedder.name} have no numbers.",
            hint="Check the settings of [embed]; embed.kind = default needs none.",
        )


def choose_word_vectors(embedder: Embedder | None) -> WordVectors | None:
    """What single words mean: the default model knows, whichever one embeds whole texts."""
    if embedder is None:
        return None
    try:
        return _default_model()
    except EmbeddingError:
        return None  # passages are not scored then; nothing else depends on it


def _default_model() -> StaticModel:
    from memolith.embed.static_model import StaticModel

    with _guard:
        model = _shared.get("default") or StaticModel()
        _shared["default"] = model
        return model
