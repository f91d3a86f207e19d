"""A running server follows its files and its settings: a thread polls their stamps.

Watching is a hint, never the truth: every search still looks at the disk for itself.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from memolith import clock
from memolith.config.sections import SETTINGS, value_of
from memolith.files import layout
from memolith.files.disk_view import extra_folders
from memolith.files.folder import change_stamp_of
from memolith.memory import Memory
from memolith.reports import Reconfiguration
from memolith.types import Stamp

Changed = frozenset[str]
Report = Callable[[str], object]

POLL_SECONDS = 0.3
# Each change costs a sync, so files are polled less often than settings; the page shows it within a second.
POLL_FILES_SECONDS = 0.6
_MAX_LOAD = 0.02  # the share of time spent polling: many files are polled less often


class Watch:
    """A thread that polls folders, and trees with everything below them, until it is closed.

    `callback` gets the paths that changed since the constructor returned; `first` are paths to report at
    once. Folders may not exist yet. `on_problem` gets the reason when the callback fails; watching goes on.
    """

    def __init__(
        self,
        callback: Callable[[Changed], object],
        *,
        folders: Iterable[str] = (),
        trees: Iterable[str] = (),
        interval: float = POLL_SECONDS,
        first: Iterable[str] = (),
        on_problem: Report = lambda _: None,
    ) -> None:
        self._callback = callback
        self._folders = [
            *((folder, False) for folder in folders),
            *((tree, True) for tree in trees),
        ]
        self._interval = interval
        self._on_problem = on_problem
        self._stopped = threading.Event()
        about = frozenset(first), self._stamps()
        self._thread = threading.Thread(
            target=self._run, args=about, name="memolith-watch", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop; the callback is not called after this."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(1.0)

    def _run(self, changed: Changed, known: dict[str, Stamp]) -> None:
        took = 0.0
        while True:
            if changed:
                self._call(changed)
            if self._stopped.wait(max(self._interval, took / _MAX_LOAD)):
                return
            begun = clock.monotonic()
            found = self._stamps()
            took = clock.monotonic() - begun
            changed = frozenset(path for path, _ in known.items() ^ found.items())
            known = found

    def _call(self, changed: Changed) -> None:
        try:
            self._callback(changed)
        except Exception as error:  # noqa: BLE001 - a failing callback must not end the thread
            self._on_problem(f"A change was not handled: {type(error).__name__}: {error}")

    def _stamps(self) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        for top, is_tree in self._folders:
            with suppress(OSError):  # it does not exist yet
                found[top] = (os.stat(top).st_ino, 0, 0)
            for folder, below, names in os.walk(top):
                below[:] = [name for name in below if is_tree and not name.startswith(".")]
                for name in names:
                    path = os.path.join(folder, name)
                    with suppress(OSError):  # it is gone again
                        found[path] = change_stamp_of(os.lstat(path))
        return found


def follow_files(
    memory: Memory,
    interval: float = POLL_FILES_SECONDS,
    on_problem: Report = lambda _: None,
    on_change: Callable[[Changed], object] = lambda _: None,
) -> Watch:
    """Index changed files, once something was searched: a memory nobody searches costs nothing.

    `on_change` is called with the paths, whether or not they are indexed.
    """

    def look(changed: Changed) -> None:
        on_change(changed)
        if any(map(_may_be_searched, changed)):
            memory.index.keep_up()

    trees = [os.path.join(memory.root, layout.DAILY_FOLDER)]
    trees += extra_folders(memory.config.index.extra_paths)[0]
    return Watch(look, folders=[memory.root], trees=trees, interval=interval, on_problem=on_problem)


def _may_be_searched(path: str) -> bool:
    name = os.path.basename(path)
    # A name without an ending may be a folder that appeared or went with everything in it.
    return name.endswith((".md", ".jsonl")) or "." not in name


def follow_settings(
    memory: Memory,
    on_reload: Callable[[Reconfiguration], object],
    interval: float = POLL_SECONDS,
    on_problem: Report = lambda _: None,
) -> Watch:
    """Reconfigure `memory` when one of its settings files changes, and report what changed.

    A reload that changed nothing is not reported, nor the same problem twice. Close the watch to stop.
    """
    files = (memory.profile.settings_file, memory.profile.user_settings_file)
    last, seen = Reconfiguration(), memory.config

    def look(paths: Changed) -> None:
        nonlocal last, seen
        if not paths.intersection(files):
            return
        report = memory.reconfigure()
        # Compared with what this watch saw last: another one may have reloaded the same memory.
        now = memory.config
        changed = tuple(name for name in SETTINGS if value_of(now, name) != value_of(seen, name))
        before, last, seen = last, report, now
        # Settings that need a restart are reported once, not again with every later change.
        restart = tuple(name for name in report.restart if name not in before.restart)
        if changed or restart or report.problem != before.problem:
            on_reload(replace(report, changed=changed, restart=restart))

    folders = dict.fromkeys(os.path.dirname(file) for file in files)
    return Watch(look, folders=folders, interval=interval, first=files, on_problem=on_problem)


def log_reload(log: logging.Logger, report: Reconfiguration) -> None:
    """Log what a reload of the settings changed."""
    if report.problem:
        sentences = ". ".join(line.removesuffix(".") for line in report.problem.splitlines())
        log.error("Settings kept as they were: %s.", sentences)
    if report.restart:
        log.warning("In effect after a restart: %s", ", ".join(report.restart))
    if report.changed:
        log.info("Settings changed: %s", ", ".join(report.changed))
    if not (report.problem or report.changed or report.restart):
        log.info("Settings read: as before")  # a mistake was corrected
