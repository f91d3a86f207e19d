"""Jobs that ran while nobody looked: whether one failed, and whether what is kept of them can be read."""

from __future__ import annotations

from memolith.files.folder import Folder
from memolith.jobs.checks.findings import Findings, shown
from memolith.jobs.checks.subject import Subject
from memolith.jobs.history import damage_messages, kept_jobs
from memolith.jobs.reports import Check
from memolith.jobs.scheduler import last_runs


def check_jobs(subject: Subject) -> list[Check]:
    """Whether a job failed when it was run last."""
    found = Findings("jobs", "Jobs")
    with Folder(subject.root) as folder:
        reports, runs = kept_jobs(folder), last_runs(folder)
        for told in damage_messages(folder):
            message, _, hint = told.partition(". ")
            found.add("warn", shown(f"{message}."), hint)
    newest = {report.job: report for report in reports}
    for report in newest.values():
        # A later run that found nothing to do has no report; the time of a run is noted before it.
        run = runs.get(report.job)
        if report.status == "failed" and (run is None or run.at <= report.created):
            found.add(
                "warn",
                f"{shown(report.job)} failed on {report.created:%Y-%m-%d}.",
                f"See why: memolith jobs show {shown(report.id or 'last')}",
            )
    return found.checks("the last run of every job succeeded" if reports else "none yet")
