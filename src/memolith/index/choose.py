"""Which index is used: the built-in one, made anew if what is there cannot be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memolith.interfaces import Embedder, Index

# Without a model, words alone are indexed under this name; a later model embeds what is there.
_NO_MODEL = ("none", 256)


def open_index(folder: str, embedder: Embedder | None) -> Index:
    """Open the index in a folder of its own."""
    from memolith.index.sqlite import SqliteIndex

    name, dimensions = (embedder.name, embedder.dimensions) if embedder else _NO_MODEL
    return SqliteIndex(folder, model=name, dimensions=dimensions)
