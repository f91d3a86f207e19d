"""Which index is used: the built-in one, imported only when it is needed."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING

from memolith.errors import IndexUnavailableError

if TYPE_CHECKING:
    from memolith.interfaces import Embedder, Index


def open_index(folder: str, embedder: Embedder | None) -> Index:
    """Open the index in a folder of its own."""
    from memolith.index.sqlite import SqliteIndex

    return SqliteIndex(folder, (embedder.name, embedder.dimensions) if embedder else None)


def has_index(folder: str) -> bool:
    """Whether there is an index in a folder, of this version; raises IndexUnavailableError."""
    from memolith.index import generations

    try:
        return generations.newest(folder) > 0
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexUnavailableError(
            f"The search index cannot be used: {reason[:1].lower()}{reason[1:]}.",
            path=folder,
            hint=f"Check who owns it: ls -ld {quote(folder)}. It may be deleted at any time.",
        ) from error
