"""Proposals and jobs, and forgetting: what changes the memory as a whole, shown before it is done."""

from __future__ import annotations

from starlette.responses import Response

from memolith.errors import NotFoundError
from memolith.jobs.api import BY_NAME, Jobs
from memolith.jobs.worker import run_in_process
from memolith.text.wording import counted
from memolith.web.call import Call

_DECISIONS = {"apply": Jobs.apply, "decline": Jobs.decline, "undo": Jobs.undo}
_DONE = {"apply": "Applied.", "decline": "Rejected; the proposal is gone.", "undo": "Taken back."}
_LISTED = 50
# What a file is, by a part of its path.
_KINDS = {
    "/archive/": "archive", "/backup/": "backup", "/jobs/": "report", "/proposals/": "proposal",
    "experiences.md": "experiences",
}  # fmt: skip


def proposals(call: Call, notice: str = "", warnings: tuple[str, ...] = ()) -> Response:
    """What is waiting, with what it would change, and what was done."""
    listed = call.memory.jobs.list()
    jobs = listed[::-1]
    waiting = [job for job in jobs if job.status == "proposed"]
    return call.html(
        "proposals.html",
        waiting=[(job, call.memory.jobs.diff(job).splitlines()) for job in waiting[:20]],
        history=[job for job in jobs if job.status != "proposed"][:_LISTED],
        names=list(BY_NAME),
        notice=notice,
        warnings=(*warnings, *listed.warnings),
    )


def diff(call: Call) -> Response:
    """What a job changed."""
    found = call.memory.jobs.diff(call.query.get("job", ""))
    return call.html("diff.html", diff=found.splitlines())


def explain(call: Call) -> Response:
    """What dreaming would promote and what is waiting, with the signals of each."""
    return call.html("explain.html", found=run_in_process(call.memory.jobs, Jobs.dream_status))


def decide(call: Call) -> Response:
    """Apply, reject or take back."""
    name = call.form.get("decision", "")
    if name not in _DECISIONS:
        raise NotFoundError("There is no such decision.", name=name[:40])
    report = _DECISIONS[name](call.memory.jobs, call.form.get("job", ""))
    return proposals(call, _DONE[name], report.warnings)


def run(call: Call) -> Response:
    """Run a job, or show what it would do."""
    name, dry_run = call.form.get("name", ""), "dry_run" in call.form
    if name not in BY_NAME:
        raise NotFoundError("There is no such job.", name=name[:40])
    report = run_in_process(call.memory.jobs, BY_NAME[name], dry_run=dry_run)
    if dry_run:
        lines = call.memory.jobs.diff(report).splitlines()
        return call.html("dry_run.html", job=report, diff=lines)
    reason = f": {report.reason}" if report.reason else ""
    return proposals(call, f"{name.capitalize()} is {report.status}{reason}", report.warnings)


def choose(call: Call, notice: str = "", warnings: tuple[str, ...] = ()) -> Response:
    """Records to choose from: the newest, or those that answer a question."""
    question = call.query.get("q", "").strip()
    if question:
        found = call.memory.search(question, _LISTED)
        warnings += found.warnings
        ids = dict.fromkeys(hit.record_id for hit in found if hit.record_id)
        records = [call.memory.get_record(record_id) for record_id in ids]
    else:
        records = list(call.memory.records(limit=_LISTED, include_past=True))[::-1]
    return call.html(
        "forget.html",
        q=question,
        records=records,
        chosen=call.ids,
        notice=notice,
        warnings=warnings,
    )


def preview(call: Call) -> Response:
    """Everything that would be removed."""
    records = [call.memory.get_record(record_id) for record_id in call.ids[:_LISTED]]
    files = [call.memory.forget(record.id, dry_run=True).files for record in records]
    return call.html(
        "forget_preview.html", chosen=list(zip(records, files, strict=True)), kind=_kind
    )


def _kind(path: str) -> str:
    return next((kind for part, kind in _KINDS.items() if part in path), "file")


def forget(call: Call) -> Response:
    """Forget what was chosen, one record after the other."""
    reports = [call.memory.forget(record_id) for record_id in call.ids[:_LISTED]]
    warnings = dict.fromkeys(warning for report in reports for warning in report.warnings)
    notice = f"Forgotten: {counted(len(reports), 'record')}. This cannot be undone."
    return choose(call, notice, tuple(warnings))
