"""A running server follows its files and its settings.

Watching is a hint, never the truth: every search still looks at the disk for itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import watchfiles

from memolith.files import layout
from memolith.files.discovery import extra_folders
from memolith.files.folder import change_stamp_of
from memolith.memory import Memory
from memolith.reports import Reconfiguration

Changed = frozenset[str]

DEBOUNCE_SECONDS = 0.3
# Somebody who writes a lot is not followed line by line: each look costs a walk over all files.
FILES_DEBOUNCE_SECONDS = 1.0
_LATER_SECONDS = 0.5
# How often we look whether a folder has appeared, gone, or been replaced by another.
_LOOK_SECONDS = 0.5
_STEP_MS = 50
_LOOKS = 120  # before the kernel is asked again


class Watch:
    """A thread that watches until it is closed."""

    def __init__(
        self,
        folders: Sequence[str],
        callback: Callable[[Changed], object],
        debounce: float,
        *,
        recursive: bool,
        on_problem: Callable[[str], object],
        polls: bool,
    ) -> None:
        """Start watching."""
        self._folders = tuple(folders)
        self._callback = callback
        self._debounce = debounce
        self._recursive = recursive
        self._on_problem = on_problem
        self._polls = polls
        self._problem = ""
        self._known: dict[str, int] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memolith-watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; nobody is told anything after this."""
        self._stopped.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(2 * _LOOK_SECONDS)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._watch_what_is_there()
            except Exception as error:  # noqa: BLE001 — a watcher that dies tells nobody anything any more
                before, self._problem = self._problem, f"{type(error).__name__}: {error}"
                if self._problem != before:
                    self._on_problem(f"Watching failed: {self._problem}")
                if not self._polls:
                    return
                # The kernel's watches may be used up: looking now and then still works.
                self._poll()

    def _watch_what_is_there(self) -> None:
        there = self._present()
        if not there:
            self._stopped.wait(_LOOK_SECONDS)
            return
        # What changed before we watched was not seen: whoever is told of a folder looks into it.
        unseen = frozenset(path for path in there if self._known.get(path) != there[path])
        self._known = there
        for changes in watchfiles.watch(
            *there,
            watch_filter=None,
            debounce=max(_STEP_MS, int(self._debounce * 1000)),
            step=_STEP_MS,
            stop_event=self._stopped,
            rust_timeout=int(_LOOK_SECONDS * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=self._recursive,
            force_polling=False,
            ignore_permission_denied=True,
        ):
            if self._stopped.is_set():
                return
            changed = unseen.union(path for _, path in changes)
            unseen = frozenset()
            if changed:
                self._tell(changed)
            if self._present() != there:
                return

    def _poll(self) -> None:
        """Look for ourselves for a while. (`watchfiles` could, but misses a second change within a second.)"""
        seen = self._stamps()
        self._tell(frozenset(self._present()))  # for whatever changed before
        for _ in range(_LOOKS):
            if self._stopped.wait(_LOOK_SECONDS):
                return
            now = self._stamps()
            changed = frozenset(path for path, _ in seen.items() ^ now.items())
            seen = now
            if changed:
                self._tell(changed)

    def _stamps(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {}
        for watched, inode in self._present().items():
            found[watched] = (inode,)
            for folder, _, names in os.walk(watched):
                for name in names:
                    path = os.path.join(folder, name)
                    with suppress(OSError):  # it is gone again
                        found[path] = change_stamp_of(os.lstat(path))
                if not self._recursive:
                    break
        return found

    def _tell(self, changed: Changed) -> None:
        try:
            self._callback(changed)
        except Exception as error:  # noqa: BLE001 — what the callback does must not end the watch
            self._on_problem(f"A change was not dealt with: {type(error).__name__}: {error}")

    def _present(self) -> dict[str, int]:
        """The folders that exist, each with its inode: one that was replaced is watched anew."""
        found = {}
        for folder in self._folders:
            try:
                found[folder] = os.stat(folder).st_ino
            except OSError:
                continue
        return found


def watch(
    folders: Sequence[str],
    callback: Callable[[Changed], object],
    debounce: float = DEBOUNCE_SECONDS,
    *,
    recursive: bool = False,
    on_problem: Callable[[str], object] = lambda _: None,
    polls: bool = True,
) -> Watch:
    """Call back, in a thread of its own, with the paths that changed in these folders.

    Changes within `debounce` seconds come together. Folders may not exist yet; one that appears is
    itself what changed, and so is every folder in the first call, for whatever happened before.
    `on_problem` is told why watching failed; it goes on all the same, by looking at the files now and
    then unless `polls` is off, and so it does when the callback fails.
    """
    return Watch(
        folders, callback, debounce, recursive=recursive, on_problem=on_problem, polls=polls
    )


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
        below = [daily, *extra_folders(memory.config.index.extra_paths)[0]]
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
        if any(map(_may_be_searched, changed)):
            while not self._memory.index.keep_up() and not self._stopped.wait(_LATER_SECONDS):
                pass


def follow_files(
    memory: Memory,
    debounce: float = FILES_DEBOUNCE_SECONDS,
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


def follow_settings(
    memory: Memory,
    tell: Callable[[Reconfiguration], object],
    debounce: float = DEBOUNCE_SECONDS,
    on_problem: Callable[[str], object] = lambda _: None,
) -> Watch:
    """Reconfigure `memory` whenever one of its settings files changes, and tell what came of it.

    The folders are watched, not the files: an editor that saves puts a new file in the old one's
    place. Nobody is told of a change that changed nothing, nor of a problem twice. `on_problem` is
    told why watching failed. Close the answer to stop.
    """
    files = (memory.profile.settings_file, memory.profile.user_settings_file)
    folders = list(dict.fromkeys(os.path.dirname(file) for file in files))
    names = {os.path.basename(file) for file in files}
    last = Reconfiguration()

    def look(changed: frozenset[str]) -> None:
        nonlocal last
        if not any(os.path.basename(path) in names or path in folders for path in changed):
            return
        report = memory.reconfigure()
        before, last = last, report
        # What waits for a restart is said once, not again with every later change.
        waiting = tuple(name for name in report.restart if name not in before.restart)
        if report.changed or waiting or report.problem != before.problem:
            tell(replace(report, restart=waiting))

    return watch(folders, look, debounce, on_problem=on_problem)
