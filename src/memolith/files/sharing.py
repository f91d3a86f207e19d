"""Folders that this machine does not have alone: who else has a say when one is read, locked or written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memolith.files.folder import Folder


class Sharing:
    """What a folder of this machine is a copy of, or who else keeps its schedule."""

    def refresh(self, folder: Folder) -> None:
        """Before files are read: bring them up to date."""

    def take(self, folder: Folder, path: str, seconds: float) -> None:
        """Take a lock everywhere, as on this machine; raises BlockingIOError if it is not free in time."""

    def holds(self, path: str) -> bool:
        """Whether a lock that was taken is still ours."""
        return True

    def give_back(self, path: str) -> None:
        """Release a lock."""

    def publish(self, folder: Folder) -> None:
        """Keep what was written, under the writer lock; nothing is acknowledged before."""


shared: dict[str, Sharing] = {}  # by root
