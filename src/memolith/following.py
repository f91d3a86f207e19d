"""A running server follows its files: what changes is indexed before anybody asks for it.

A hint, as all watching is: every search still looks at the disk for itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from memolith.files import layout
from memolith.files.roots import is_too_wide, split_paths
from memolith.files.watch import Changed, Watch, watch
from memolith.memory import Memory

# Somebody who writes a lot is not followed line by line: each look costs a walk over all files.
DEBOUNCE_SECONDS = 1.0
_LATER_SECONDS = 0.5


class Following:
    """Watches the files of a memory until it is closed."""

    def __init__(
        self,
        memory: Memory,
        debounce: float,
        on_problem: Callable[[str], object],
        on_change: Callable[[Changed], object],
    ) -> None:
        """Begin to watch."""
        self._memory = memory
        self._on_change = on_change
        self._stopped = threading.Event()
        self._watches: list[Watch] = []
        daily = os.path.join(memory.root, layout.DAILY_FOLDER)
        elsewhere = split_paths(memory.config.index.extra_paths)
        led = [os.path.realpath(os.path.expanduser(path)) for path in elsewhere]
        below = [daily, *(path for path in led if not is_too_wide(path))]
        for folders, deep in (([memory.root], False), (below, True)):
            self._watches.append(
                watch(
                    folders, self._look, debounce,
                    recursive=deep, on_problem=on_problem, polls=False,
                )
            )  # fmt: skip

    def close(self) -> None:
        """Stop watching."""
        self._stopped.set()
        while self._watches:
            self._watches.pop().close()

    def _look(self, changed: Changed) -> None:
        self._on_change(changed)
        if self._memory.config.index.watch and any(map(_may_be_searched, changed)):
            while not self._memory.keep_up() and not self._stopped.wait(_LATER_SECONDS):
                pass


def follow_files(
    memory: Memory,
    debounce: float = DEBOUNCE_SECONDS,
    on_problem: Callable[[str], object] = lambda _: None,
    on_change: Callable[[Changed], object] = lambda _: None,
) -> Following:
    """Index what changes on the disk, from the first search on: a memory nobody searches costs nothing.

    `on_change` is called with the paths, whether or not they are indexed.
    """
    return Following(memory, debounce, on_problem, on_change)


def _may_be_searched(path: str) -> bool:
    name = os.path.basename(path)
    # A name without an ending may be a folder that came or went with all that is in it.
    return name.endswith((".md", ".jsonl")) or ("." not in name)
