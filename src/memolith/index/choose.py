"""Which index is used: the built-in one, imported only when it is needed."""

from __future__ import annotations

from memolith.interfaces import Embedder, Index


def open_index(folder: str, embedder: Embedder | None) -> Index:
    """Open the index in a folder of its own."""
    from memolith.index.sqlite import SqliteIndex

    return SqliteIndex(folder, (embedder.name, embedder.dimensions) if embedder else None)


def look_at_index(folder: str) -> Index:
    """Open the index in a folder only to look at it: a damaged one is an IndexDamagedError."""
    from memolith.index.sqlite import SqliteIndex

    return SqliteIndex(folder, None, mends=False)


def has_index(folder: str) -> bool:
    """Whether there is an index in a folder, of this version; raises IndexUnavailableError."""
    from memolith.index import generations

    try:
        return generations.newest(folder) > 0
    except OSError as error:
        from memolith.index.unavailable import unavailable

        raise unavailable(error, folder) from error
