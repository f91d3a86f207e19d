"""Hot reload: a running server obeys changed settings without being started again."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from memolith.files.watch import DEBOUNCE_SECONDS, Watch, watch
from memolith.memory import Memory
from memolith.reports import Reconfiguration


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
