"""When the disk has to be looked at again: each search wants to know, and a look at many files takes long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memolith import clock
from memolith.files.seen import BELIEVED_SECONDS, SeenFiles

if TYPE_CHECKING:
    from memolith.index_reports import SyncReport

# So few files take a millisecond to look at: where the kernel cannot tell, every search does.
_FEW_FILES = 300
# Where the kernel cannot tell, of many files a second search right after the first does not look
# again; an edit is still found long before a person has typed a question about it.
_LOOKED_SECONDS = 0.02
_NEVER = float("-inf")


class Looking:
    """What one process has seen of the disk, and when."""

    def __init__(self) -> None:
        """Nothing has been looked at yet."""
        self.seen = SeenFiles()
        self._looked = _NEVER

    def is_due(self) -> bool:
        """Whether anything may have changed since the last look."""
        since = clock.monotonic() - self._looked
        if since > BELIEVED_SECONDS:
            return True
        return not self.is_quiet() and (self.seen.hint.works or since > _LOOKED_SECONDS)

    def is_quiet(self) -> bool:
        """Whether the kernel says that nothing was touched since."""
        return self.seen.hint.is_quiet()

    def note(self, report: SyncReport) -> None:
        """A look has come to its end; one that could not do everything does not count."""
        if not report.warnings and (self.seen.hint.works or report.files > _FEW_FILES):
            self._looked = clock.monotonic()

    def forget(self) -> None:
        """What was seen a moment ago counts no more."""
        self._looked = _NEVER

    def forget_everything(self) -> None:
        """Nor does what the kernel has told us: the next look is at all folders."""
        self.forget()
        self.seen.look_everywhere()

    def close(self) -> None:
        """Take no more notice of anything."""
        self.forget()
        self.seen.close()
