"""Which model embeds: imported only when it is needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from memolith.errors import EmbeddingError

if TYPE_CHECKING:
    from memolith.interfaces import Embedder, WordVectors


def choose_embedder() -> Embedder:
    """The default model; raises EmbeddingError when its package is missing."""
    if "numpy" not in sys.modules:
        # Starting a pool of threads costs more than our small products gain from it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - NumPy's, not ours
    from memolith.embed.static_model import StaticModel

    return StaticModel()


def choose_word_vectors(embedder: Embedder | None) -> WordVectors | None:
    """What single words mean: the default model knows, whichever one embeds whole texts."""
    if embedder is None:
        return None
    from memolith.embed.static_model import StaticModel

    try:
        return embedder if isinstance(embedder, StaticModel) else StaticModel()
    except EmbeddingError:
        return None  # passages are not looked at then; nothing else depends on it
