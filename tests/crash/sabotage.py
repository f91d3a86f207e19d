"""Faults to plant into the store of a worker, so that a rig can show that it would notice.

Each changes the product inside of that one process. A name that no longer exists is an error here:
the fault must then be planted in another way.
"""

from __future__ import annotations

import fcntl
from typing import TYPE_CHECKING

from memolith.files import atomic_write, steps, transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.files.folder import Folder


def _replace(module: object, name: str, value: object) -> None:
    if not hasattr(module, name):
        raise AssertionError(f"the store has no {name} any more: plant this fault anew")
    setattr(module, name, value)


def _nothing(*_: object, **__: object) -> None:
    return None


def _no_lock() -> None:
    _replace(fcntl, "flock", _nothing)


def _no_intent() -> None:
    _replace(steps.LockState, "with_intent", lambda state, _steps: state.after())


def _no_sync_of_folders() -> None:
    _replace(atomic_write, "sync_parent", _nothing)


def _no_sync_of_appends() -> None:
    _replace(steps.Append, "sync", _nothing)


def _no_sync_of_new_files() -> None:
    """Renamed into place before their content is on the disk."""
    real = atomic_write.stage

    def stage(folder: Folder, data: bytes, **mode: int) -> str:
        syncs = atomic_write.syncs
        _replace(atomic_write, "syncs", lambda: False)
        try:
            return real(folder, data, **mode)
        finally:
            _replace(atomic_write, "syncs", syncs)

    _replace(atomic_write, "stage", stage)


def _no_tail_rule() -> None:
    _replace(transaction, "mend", lambda *_: b"")


FAULTS: dict[str, Callable[[], None]] = {
    "no lock": _no_lock,
    "no intent": _no_intent,
    "no sync of folders": _no_sync_of_folders,
    "no sync of appends": _no_sync_of_appends,
    "no sync of new files": _no_sync_of_new_files,
    "no tail rule": _no_tail_rule,
}


def plant(name: str) -> None:
    """Break the store of this process in one way."""
    FAULTS[name]()
