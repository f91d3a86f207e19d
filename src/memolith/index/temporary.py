"""An index for one process alone, where a memory may be read but not written, or the disk is full."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from memolith.index.choose import has_index

if TYPE_CHECKING:
    from tempfile import TemporaryDirectory

    TemporaryFolder = TemporaryDirectory[str]


def folder_instead(folder: str) -> TemporaryFolder | None:
    """A folder instead of `folder`; None if there is an index already, or one can be made there."""
    place = folder
    while not os.path.exists(place) and os.path.dirname(place) != place:
        place = os.path.dirname(place)
    if os.access(place, os.W_OK) or not os.path.isdir(place) or has_index(folder):
        return None
    return temporary_folder()


def temporary_folder() -> TemporaryFolder:
    """A folder that goes when it is let go of; raises OSError."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="memolith-index-", ignore_cleanup_errors=True)
