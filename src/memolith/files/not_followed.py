"""Links and pipes among the files of a memory: nothing reads them, so whoever syncs by hand is told.

Searches do not tell it: a folder full of links would be named in every answer.
"""

from __future__ import annotations

from memolith.files import layout
from memolith.files.folder import DEEPEST
from memolith.text.cleaning import shown_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.files.folder import Folder

_MOST_NAMED = 5


def not_followed(folder: Folder) -> tuple[str, ...]:
    """A sentence for each of the first few, and how many there are beyond."""
    found = [*_in(folder, ""), *_in(folder, layout.DAILY_FOLDER)]
    more = len(found) - _MOST_NAMED
    return (*found[:_MOST_NAMED], *([f"And {more:,} more like these."] if more > 0 else ()))


def _in(folder: Folder, top: str) -> Iterator[str]:
    waiting = [top]
    while waiting:
        path = waiting.pop()
        prefix = f"{path}/" if path else ""
        try:
            with folder.scan(path) as entries:
                names = sorted((entry for entry in entries), key=lambda entry: entry.name)
        except OSError:
            continue  # whoever indexes it says why
        for entry in names:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                if path and path.count("/") < DEEPEST:
                    waiting.append(prefix + entry.name)
            elif entry.is_symlink() and (path or entry.name.endswith(".md")):
                yield _sentence(prefix + entry.name, "is a symbolic link, which is not followed")
            elif entry.name.endswith(".md") and not entry.is_file(follow_symlinks=False):
                yield _sentence(prefix + entry.name, "is neither file nor folder")


def _sentence(path: str, words: str) -> str:
    return f"{shown_path(path)} {words}. It is left out of search."
