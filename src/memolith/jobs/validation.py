"""After a compaction: does anything lead nowhere, or stand in the open, that did not before?

Nothing is mended and nothing taken back for that; the report names it, and keeps the names.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from memolith.errors import FileChangedError
from memolith.files.folder import Folder
from memolith.jobs.changes import undone
from memolith.jobs.history import decode_report, encode_report, job_path
from memolith.jobs.integrity import scan_places
from memolith.jobs.job import Workplace
from memolith.jobs.reports import IntegrityFinding, JobReport


def validated(place: Workplace, report: JobReport) -> JobReport:
    """The report of a job that was done, with the number of new findings, and a warning of them."""
    with place.reading() as folder:
        new = _new_findings(folder, report, place)
    with place.writing() as transaction:
        folder, path = transaction.folder, job_path(report)
        stamp = folder.stamp(path)
        kept = decode_report(folder.read(path) or b"")
        if kept is None:  # somebody has undone and pruned it meanwhile
            return _told(report, new)
        if kept.status != "done":  # undone: what was found is gone
            return kept
        # Of what is kept now, not of what was: a record of it may have been forgotten.
        transaction.replace(path, encode_report(_told(kept, new)), stamp)
        transaction.commit()
    return _told(report, new)


def _told(report: JobReport, new: Counter[str]) -> JobReport:
    told = replace(report, counts={**report.counts, "findings": sum(new.values())})
    if not new:
        return told
    named = ", ".join(f"{number} × {kind}" for kind, number in sorted(new.items()))
    warning = f"The integrity scan finds what it did not find before: {named}. See: memolith scan"
    return replace(told, warnings=(*report.warnings, warning))


def _new_findings(folder: Folder, report: JobReport, place: Workplace) -> Counter[str]:
    before = {}
    for change in report.changes:
        try:
            before[change.path] = undone(change, folder.read(change.path)).data
        except FileChangedError:
            return Counter()  # edited since: what is new cannot be told from what the edit brought
    now = place.clock.now()
    known = scan_places(
        folder, now, lambda path: before[path] if path in before else folder.read(path)
    )
    names = {_name(finding) for finding in known}
    found = {_name(finding): finding.kind for finding in scan_places(folder, now, folder.read)}
    return Counter(kind for name, kind in found.items() if name not in names)


def _name(finding: IntegrityFinding) -> str:
    """By what is missing, if anything is: a summary that cites what its records cite brings no news."""
    return finding.missing or finding.id
