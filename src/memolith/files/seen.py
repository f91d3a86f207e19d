"""The files that are searched, as one process has seen them: after a change, only what was touched is
looked at again.

A walk over all folders takes as long as a search in them. The kernel names the files that were touched
since (`change_hint.py`); where it is in doubt, and every now and then in any case, there is a walk.
"""

from __future__ import annotations

import os

from memolith import clock
from memolith.files.change_hint import ChangeHint
from memolith.files.discovery import have_second_names, look_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from memolith.files.roots import Roots
    from memolith.types import Stamp

# The kernel is believed for at most so long.
BELIEVED_SECONDS = 2.0
_NEVER = float("-inf")


class SeenFiles:
    """What is on the disk; whoever asks gets it as it is now."""

    def __init__(self) -> None:
        """Nothing has been looked at yet."""
        self.hint = ChangeHint()
        self._found: dict[str, Stamp] = {}
        self._warnings: list[str] = []
        self._second_names: list[
            str
        ] = []  # files that are left out for another name that they have
        self._walked = _NEVER

    def now(self, roots: Roots) -> tuple[Mapping[str, Stamp], list[str]]:
        """Every file that is searched, with its stamp; and warnings."""
        touched, began = self.hint.take(), clock.monotonic()
        root = os.path.realpath(roots.own.root)
        if (
            touched is not None
            and began - self._walked <= BELIEVED_SECONDS
            and not (touched and self._warnings)  # what was warned of may have been put right
            and have_second_names(roots.own, self._second_names)
            and look_again(roots.own, self._found, (path[len(root) + 1 :] for path in touched))
        ):
            return self._found, list(self._warnings)
        self.look_everywhere()  # also if the walk fails
        self._second_names = []
        self._found, self._warnings = roots.discover(
            lambda path: self.hint.watch(os.path.join(root, path)), self._second_names
        )
        if not roots.has_others:
            self._walked = began
        return self._found, list(self._warnings)

    def look_everywhere(self) -> None:
        """Walk through all folders next time, whatever the kernel says."""
        self._walked = _NEVER

    def close(self) -> None:
        """Take no more notice of anything."""
        self.hint.close()
        self.look_everywhere()
