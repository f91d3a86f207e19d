"""The check that says in one line what the integrity scan would find."""

from __future__ import annotations

from collections import Counter

from memolith.clock import Clock
from memolith.files.folder import Folder
from memolith.jobs.checks.findings import Findings
from memolith.jobs.checks.subject import Subject
from memolith.jobs.integrity import scan
from memolith.jobs.reports import Check
from memolith.text.wording import counted

# A check-up takes seconds: of a larger memory the newest statements are compared.
_MOST_COMPARED = 10_000


def check_integrity(subject: Subject) -> list[Check]:
    """How many contradictions, duplicates, stale records, broken citations and open secrets."""
    found = Findings("integrity", "Integrity")
    with Folder(subject.root) as folder:
        report = scan(folder, Clock(subject.config.profile.timezone).now(), most=_MOST_COMPARED)
    kinds = Counter(finding.kind for finding in report.findings)
    if kinds:
        listed = ", ".join(
            counted(number, "stale record" if kind == "stale" else kind.replace("-", " "))
            for kind, number in sorted(kinds.items())
        )
        grave = kinds.keys() & {"open-secret", "contradiction"}
        found.add("warn" if grave else "info", f"{listed}.", "See: memolith scan")
    for warning in report.warnings:
        if "newest" in warning:  # whatever else was not looked at has its line elsewhere
            found.add("info", warning, "To have all compared: memolith scan")
    return found.checks("No contradictions, duplicates or broken citations.")
