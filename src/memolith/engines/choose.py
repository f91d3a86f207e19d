"""Which engine is used, as `index.backend` says; each is imported only when it is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import TYPE_CHECKING

from memolith.config.sections import Config, IndexConfig
from memolith.errors import IndexUnavailableError
from memolith.files.folder import Folder
from memolith.files.sharing import shared

if TYPE_CHECKING:  # who only writes needs no engine
    from memolith.interfaces import Embedder, Index

# How each of `shared` was asked for: with files? where? how patient?
_asked: dict[str, tuple[bool, str, float]] = {}


def open_engine(config: IndexConfig, folder: str, root: str, embedder: Embedder | None) -> Index:
    """Open the index of the memory in `root`; `folder` is for what is kept on this machine."""
    model = (embedder.name, embedder.dimensions) if embedder else None
    seconds = config.timeout_seconds
    match config.backend:
        case "chroma":
            from memolith.engines.chroma import ChromaIndex

            return ChromaIndex(folder, model, url=config.url, timeout_seconds=seconds)
        case "qmd":
            from memolith.engines.qmd import QmdIndex

            return QmdIndex(folder, model, root, config.command, timeout_seconds=seconds)
        case "postgres":
            with _installed():
                from memolith.engines.postgres import PostgresIndex
            return PostgresIndex(config.url, profile_name(root), model, timeout_seconds=seconds)
    from memolith.index.place import open_index

    return open_index(folder, embedder)


def share(config: Config, root: str) -> None:
    """Let other servers have a say in the folder `root`, because its files or its index are in PostgreSQL."""
    url, seconds = config.files.url or config.index.url, config.index.timeout_seconds
    asked = (config.files.backend == "postgres", url, seconds)
    if _asked.get(root) == asked and os.path.isdir(root):
        return
    with _installed():
        from memolith.engines.postgres_files import SharedSchedule, StoredFiles
    _asked[root] = asked
    if not asked[0]:
        shared[root] = SharedSchedule(url, profile_name(root), seconds)
        return
    Folder(root, create=True).close()  # the copy
    shared[root] = StoredFiles(url, profile_name(root), seconds)


def unshare(root: str) -> None:
    """Nobody else has a say in the folder any more."""
    _asked.pop(root, None)
    shared.pop(root, None)


@contextmanager
def _installed() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        raise IndexUnavailableError(
            f"PostgreSQL cannot be used: {error.name} is not installed.",
            path="psycopg",
            hint="pip install 'memolith[postgres]'",
        ) from error


def is_elsewhere(config: IndexConfig) -> bool:
    """Whether the index is not a folder of this machine."""
    return config.backend == "postgres"


def profile_name(root: str) -> str:
    """What a memory is called in a database: by its name if the files are there, too; else by its place."""
    real = os.path.realpath(root)
    name = os.path.basename(real)
    if _asked.get(root, (False,))[0]:
        return name
    return f"{name}-{blake2b(os.fsencode(real), digest_size=8).hexdigest()}"
