"""The index: whether it can be used, and how it stands to the files."""

from __future__ import annotations

from collections.abc import Callable

from memolith.jobs.checks.findings import Findings, shown
from memolith.jobs.checks.subject import Subject
from memolith.jobs.reports import Check
from memolith.reports import IndexStatus
from memolith.text.wording import counted, refused_chunks


def check_index(look: Callable[[], IndexStatus]) -> Callable[[Subject], list[Check]]:
    """A check whether the index can be read, and what the next search will do to it."""

    def check_index(subject: Subject) -> list[Check]:
        return _findings(look())

    return check_index


def _findings(status: IndexStatus) -> list[Check]:
    found = Findings("index", "Index")
    for warning in status.warnings:
        found.add("warn", shown(warning))
    if not status.exists:
        return found.checks("none yet; the first search makes it", "off")
    if status.damaged:
        found.add(
            "warn",
            "The index is damaged. Your files are not concerned.",
            "The next search makes it again, or now: memolith sync --rebuild",
        )
        return found.checks("")
    if status.without_vector:
        found.add(
            "info",
            f"{counted(status.without_vector, 'chunk')} found by words only until embedded.",
            "The next search embeds them, or now: memolith sync",
        )
    if status.refused:
        found.add("info", f"{refused_chunks(status.refused)}.")
    if status.changed:
        found.add(
            "info",
            f"{counted(status.changed, 'file')} changed since the last look.",
            "The next search looks at them, or now: memolith sync",
        )
    return found.checks(f"{counted(status.chunks, 'chunk')}, in line with the files")
