"""Notice that files of a folder change. A hint, never the truth: whoever is told looks for himself."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress

import watchfiles

from memolith.files.folder import change_stamp_of

Changed = frozenset[str]

DEBOUNCE_SECONDS = 0.3
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
