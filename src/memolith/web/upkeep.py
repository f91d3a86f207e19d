"""Proposals and jobs, and forgetting: what changes the memory as a whole, shown before it is done."""

from __future__ import annotations

from starlette.responses import Response

from memolith.errors import NotFoundError
from memolith.jobs.api import Jobs
from memolith.jobs.worker import run_in_process
from memolith.types import Record
from memolith.web.call import Call

_JOBS = {
    "compact": Jobs.compact,
    "dream": Jobs.dream,
    "experiences": Jobs.extract_experiences,
    "trim": Jobs.trim,
}
_DECISIONS = {"apply": Jobs.apply, "decline": Jobs.decline, "undo": Jobs.undo}
_DONE = {"apply": "Applied.", "decline": "Rejected; the proposal is gone.", "undo": "Taken back."}
_LISTED = 50


def proposals(call: Call, notice: str = "", warnings: tuple[str, ...] = ()) -> Response:
    """What waits, with what it would change, and what was done."""
    listed = call.memory.jobs.list()
    jobs = listed[::-1]
    waiting = [job for job in jobs if job.status == "proposed"]
    return call.html(
        "proposals.html",
        waiting=[(job, call.memory.jobs.diff(job).splitlines()) for job in waiting[:20]],
        history=[job for job in jobs if job.status != "proposed"][:_LISTED],
        names=list(_JOBS),
        notice=notice,
        warnings=(*warnings, *listed.warnings),
    )


def diff(call: Call) -> Response:
    """What a job changed."""
    found = call.memory.jobs.diff(call.query.get("job", ""))
    return call.html("diff.html", diff=found.splitlines())


def explain(call: Call) -> Response:
    """What dreaming would promote and what waits, with the signals of each."""
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
    if name not in _JOBS:
        raise NotFoundError("There is no such job.", name=name[:40])
    report = run_in_process(call.memory.jobs, _JOBS[name], dry_run=dry_run)
    if dry_run:
        lines = call.memory.jobs.diff(report).splitlines()
        return call.html("dry_run.html", job=report, diff=lines)
    reason = f": {report.reason}" if report.reason else ""
    return proposals(call, f"{name.capitalize()} is {report.status}{reason}", report.warnings)


def choose(call: Call, notice: str = "", warnings: tuple[str, ...] = ()) -> Response:
    """Records to choose from: the newest, or those that answer a question."""
    question = call.query.get("q", "").strip()
    if question:
        hits = call.memory.search(question, 50).hits
        ids = dict.fromkeys(hit.record_id for hit in hits if hit.record_id)
        records = [call.memory.get_record(record_id) for record_id in ids]
    else:
        records = list(call.memory.records(limit=50, include_past=True))[::-1]
    return call.html(
        "forget.html",
        q=question,
        records=records,
        chosen=call.ids,
        notice=notice,
        warnings=warnings,
    )


def preview(call: Call) -> Response:
    """Everything that would go."""
    records = [call.memory.get_record(record_id) for record_id in call.ids[:50]]
    files = [call.memory.forget(record.id, dry_run=True).files for record in records]
    return call.html(
        "forget_preview.html", chosen=list(zip(records, map(_kinds, files), strict=True))
    )


def _kinds(files: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each file, and in a word what it is."""
    kinds = {
        "/archive/": "archive",
        "/backup/": "backup",
        "/jobs/": "report",
        "/proposals/": "proposal",
    }
    found = []
    for path in files:
        kind = next((kind for part, kind in kinds.items() if part in path), "file")
        found.append(("experiences" if path.endswith("experiences.md") else kind, path))
    return found


def forget(call: Call) -> Response:
    """Forget what was chosen, one record after the other."""
    gone: list[Record] = []
    warnings: list[str] = []
    for record_id in call.ids[:50]:
        record = call.memory.get_record(record_id)
        warnings += call.memory.forget(record.id).warnings
        gone.append(record)
    number = f"{len(gone)} record{'s' if len(gone) != 1 else ''}"
    return choose(
        call, f"Forgotten: {number}. This cannot be undone.", tuple(dict.fromkeys(warnings))
    )
