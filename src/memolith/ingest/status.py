"""The state of an index compared with its files; nothing is made or changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import replace

from memolith.files.discovery import Roots
from memolith.index.choose import has_index, look_at_index
from memolith.ingest.sources import RACY
from memolith.interfaces import Index, IndexDamagedError
from memolith.reports import IndexStatus
from memolith.types import Stamp


def index_status(roots: Roots, folder: str, elsewhere: Index | None = None) -> IndexStatus:
    """What the index in a folder holds, or one elsewhere, which is open.

    That in a folder is opened again, read-only: an open index repairs itself.
    """
    on_disk, warnings = roots.discover()
    if elsewhere is not None:
        known = {path: state.stamp for path, state in elsewhere.files().items()}
        return _compared(elsewhere.stats(), known, on_disk, warnings)
    if not has_index(folder):
        return IndexStatus(
            folder=folder, exists=False, changed=len(on_disk), warnings=tuple(warnings)
        )
    try:
        with closing(look_at_index(folder)) as index:
            known = {path: state.stamp for path, state in index.files().items()}
            stats = index.stats()
    except IndexDamagedError:
        return IndexStatus(
            folder=folder,
            exists=True,
            damaged=True,
            changed=len(on_disk),
            warnings=tuple(warnings),
        )
    return _compared(stats, known, on_disk, warnings)


def _compared(
    stats: IndexStatus,
    known: Mapping[str, Stamp],
    on_disk: Mapping[str, Stamp],
    warnings: Iterable[str],
) -> IndexStatus:
    changed = sum(
        known.get(path) not in (stamp, (*stamp[:2], RACY)) for path, stamp in on_disk.items()
    )
    removed = sum(path not in on_disk for path in known)
    return replace(stats, changed=changed + removed, warnings=tuple(warnings))
