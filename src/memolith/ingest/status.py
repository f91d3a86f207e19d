"""How an index stands to the files it was made of; nothing is made or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith.index.choose import has_index, open_index
from memolith.index_reports import IndexStatus

if TYPE_CHECKING:
    from memolith.files.roots import Roots
    from memolith.interfaces import Index


def index_status(roots: Roots, folder: str, opened: Index | None) -> IndexStatus:
    """What the index in a folder holds; `opened` is that index, if it is open already."""
    on_disk, warnings = roots.discover()
    if not has_index(folder):
        return IndexStatus(
            folder=folder, exists=False, changed=len(on_disk), warnings=tuple(warnings)
        )
    index = opened or open_index(folder, None)
    try:
        known = {path: state.stamp for path, state in index.files().items()}
        stats = index.stats()
    finally:
        if index is not opened:
            index.close()
    # Files that were indexed just after they were written have no certain stamp; see `sync`.
    changed = sum(
        known.get(path) not in (stamp, (*stamp[:2], -1)) for path, stamp in on_disk.items()
    )
    return IndexStatus(
        folder=folder,
        exists=True,
        files=stats.files,
        chunks=stats.chunks,
        without_vector=stats.without_vector,
        bytes=stats.bytes,
        model=stats.model,
        changed=changed + sum(path not in on_disk for path in known),
        warnings=tuple(warnings),
    )
