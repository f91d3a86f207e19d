"""Files that were written a moment ago: whether they are still as the index holds them.

A file that is so fresh that another change may get the same stamp is held under a stamp that nothing
has, and read again until it has settled. While somebody writes all the time, each process remembers that
for itself: to write it into the index would have all the others read the index again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith import clock
from memolith.errors import MemolithError
from memolith.interfaces import FileState
from memolith.text.digests import blake2b

if TYPE_CHECKING:
    from memolith.ingest.sources import Sources
    from memolith.types import Stamp

UNCERTAIN = -1  # the time of a stamp that nothing has
_CALM = 2_000_000_000  # who has not been written for so long is not written all the time
_MOST = 1_000


def settled(stamp: Stamp) -> Stamp:
    """A stamp to know the file by, unless it is so fresh that a change may still get the same one.

    File systems stamp files by a clock that ticks some hundred times a second.
    """
    return stamp if stamp[2] < clock.file_time() - clock.FILE_TICK else (*stamp[:2], UNCERTAIN)


class Settling:
    """What one process knows of files that are held under no stamp."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._known: dict[str, FileState] = {}

    def is_as_held(self, sources: Sources, path: str, stamp: Stamp, held: FileState | None) -> bool:
        """Whether a fresh file is as the index holds it; for others the index itself has to say."""
        if held is None or held.stamp != (*stamp[:2], UNCERTAIN) or not sources.days.tell(held):
            return False
        now = FileState(stamp, held.digest)
        if self._known.get(path) == now:
            return True
        if stamp[2] < clock.file_time() - _CALM:
            return False
        fixed = settled(stamp)  # before it is read
        try:
            data = sources.roots.read(path)
        except MemolithError:
            return False
        if data is None or sources.days.mark(blake2b(data, digest_size=16)) != held.digest:
            return False
        if fixed == stamp:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[path] = now
        return True
