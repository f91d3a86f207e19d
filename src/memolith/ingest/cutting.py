"""Cut a file that may have changed: if only its end is new, as after every write, only that is cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

from memolith import clock
from memolith.files.chunking import chunk_appended, chunk_file
from memolith.ingest.flaws import Flaws, without_noise
from memolith.ingest.sources import RACY, Days
from memolith.interfaces import FileState
from memolith.results import Chunk
from memolith.text.digests import blake2b
from memolith.types import Stamp


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
    days: Days,
) -> Cut:
    """Compare a file with what is known of it, and cut what is new."""
    if known is not None and not days.tell(known):
        known = None
    before = known.stamp[1] if known else 0
    view = memoryview(data)  # a memory may have many megabytes: no copies of them
    digest = blake2b(view[:before], digest_size=16)
    grew = known is not None and len(data) > before and days.mark(digest) == known.digest
    digest.update(view[before:])
    state = FileState(_lasting_stamp(stamp), days.mark(digest))
    if known is not None and known.digest == state.digest:
        return Cut(replace(state, flaws=known.flaws), None)
    appended = chunk_appended(path, data, before, days.of, days.size) if grew else None
    chunks = chunk_file(path, data, days.of, days.size) if appended is None else appended
    readable, flaws = without_noise(path, data, chunks)
    if known is not None and appended is not None:
        flaws = flaws.behind(Flaws.spelled(known.flaws))
    state = replace(state, flaws=str(flaws))
    return Cut(state, readable, is_appended=appended is not None)


def _lasting_stamp(stamp: Stamp) -> Stamp:
    """The stamp to compare with later; a racy one equals no other, so that the file is read again.

    Racy as git calls it: a change within the same tick of the file system's clock would get the same stamp.
    """
    return stamp if stamp[2] < clock.file_time() - clock.FILE_TICK else (*stamp[:2], RACY)
