"""Which engine is used, as `index.backend` says; each is imported only when it is needed."""

from __future__ import annotations

import os
from hashlib import blake2b

from memolith.config.sections import IndexConfig
from memolith.errors import IndexUnavailableError
from memolith.index.place import open_index
from memolith.interfaces import Embedder, Index


def open_engine(config: IndexConfig, folder: str, root: str, embedder: Embedder | None) -> Index:
    """Open the index of the memory in `root`; `folder` is for what is kept on this machine."""
    model = (embedder.name, embedder.dimensions) if embedder else None
    match config.backend:
        case "chroma":
            from memolith.engines.chroma import ChromaIndex

            return ChromaIndex(
                folder, model, url=config.url, timeout_seconds=config.timeout_seconds
            )
        case "qmd":
            from memolith.engines.qmd import QmdIndex

            return QmdIndex(
                folder, model, root, config.command, timeout_seconds=config.timeout_seconds
            )
        case "postgres":
            try:
                from memolith.engines.postgres import PostgresIndex
            except ImportError as error:
                raise IndexUnavailableError(
                    f"PostgreSQL cannot be used: {error.name} is not installed.",
                    path="psycopg",
                    hint="pip install 'memolith[postgres]'",
                ) from error
            return PostgresIndex(
                config.url, profile_name(root), model, timeout_seconds=config.timeout_seconds
            )
    return open_index(folder, embedder)


def is_elsewhere(config: IndexConfig) -> bool:
    """Whether the index is not a folder of this machine."""
    return config.backend == "postgres"


def profile_name(root: str) -> str:
    """What a memory is called in a database that many share."""
    real = os.path.realpath(root)
    return f"{os.path.basename(real)}-{blake2b(os.fsencode(real), digest_size=8).hexdigest()}"
