"""Cut a file that may have changed: if only its end is new, as after every write, only that is cut."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING

from memolith import clock
from memolith.files.chunking import chunk_appended, chunk_file
from memolith.interfaces import FileState

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date

    from memolith.retrieval import Chunk, Turn
    from memolith.types import Record, Stamp

_TICK = 50_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class Cut:
    """What a file says now; `chunks` is None if that is what it said before."""

    state: FileState
    chunks: list[Chunk] | None
    is_appended: bool = False  # the chunks come behind those that were there


def cut_file(
    path: str,
    data: bytes,
    stamp: Stamp,
    known: FileState | None,
    day_of: Callable[[Record | Turn], date],
) -> Cut:
    """Compare a file with what is known of it, and cut what is new."""
    before = known.stamp[1] if known else 0
    view = memoryview(data)  # a memory may have many megabytes: no copies of them
    digest = blake2b(view[:before], digest_size=16)
    grew = known is not None and len(data) > before and digest.hexdigest() == known.digest
    digest.update(view[before:])
    state = FileState(_settled(stamp), digest.hexdigest())
    if known is not None and known.digest == state.digest:
        return Cut(state, None)
    appended = chunk_appended(path, data, before, day_of) if grew else None
    if appended is not None:
        return Cut(state, appended, is_appended=True)
    return Cut(state, chunk_file(path, data, day_of))


def _settled(stamp: Stamp) -> Stamp:
    """A stamp to know the file by, unless it is so fresh that a change may still get the same one.

    File systems stamp files by a clock that ticks some hundred times a second.
    """
    inode, size, modified = stamp
    return stamp if modified < clock.file_time() - _TICK else (inode, size, -1)
