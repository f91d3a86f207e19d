"""Which model embeds: imported only when it is needed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memolith.interfaces import Embedder


def choose_embedder() -> Embedder:
    """The default model; raises EmbeddingError when its package is missing."""
    if "numpy" not in sys.modules:
        # Starting a pool of threads costs more than our small products gain from it.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - NumPy's, not ours
    from memolith.embed.static_model import StaticModel

    return StaticModel()
