"""Routes for jobs: run one, see what it did or proposes, apply, decline, undo."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from memolith.jobs.api import Jobs
from memolith.jobs.reports import JobReport
from memolith.jobs.worker import run_in_process
from memolith.mcp_server.json_shapes import (
    dream_explanation_json,
    dream_status_json,
    job_json,
    jobs_json,
    scan_json,
)
from memolith.mcp_server.tool import allows_secrets
from memolith.rest.answers import V1, Answer
from memolith.rest.asking import TheMemory, secrets
from memolith.rest.job_schemas import (
    DiffAnswer,
    DreamExplanationAnswer,
    DreamStatusAnswer,
    FlushAnswer,
    JobAnswer,
    JobsAnswer,
    ScanAnswer,
)
from memolith.rest.requests import DiffQuery, ExplainQuery, FlushRequest, JobRequest
from memolith.text.commands import leading_to

routes = APIRouter(prefix=V1, tags=["jobs"])
_WORK = {
    "trim": Jobs.trim,
    "compact": Jobs.compact,
    "dream": Jobs.dream,
    "experiences": Jobs.extract_experiences,
}


@routes.get("/jobs", response_model=JobsAnswer)
def jobs(memory: TheMemory) -> Answer:
    """Every job that changed something, failed or waits as a proposal, oldest first."""
    if not memory.profile.exists:
        return Answer(jobs_json((), ()))
    return Answer(jobs_json(memory.jobs.list(), memory.jobs.scheduled(), memory.jobs.damaged()))


@routes.post("/jobs", response_model=JobAnswer)
def run_job(body: JobRequest, memory: TheMemory) -> Answer:
    """Run a job now: `trim`, `compact`, `dream` or `experiences`; a dry run only says what it would do."""
    return _done(run_in_process(memory.jobs, _WORK[body.job], dry_run=body.dry_run))


@routes.get("/jobs/{job_id}", response_model=JobAnswer)
def show_job(job_id: str, memory: TheMemory) -> Answer:
    """One job; the id may be shortened, and `last` is the newest."""
    return _done(memory.jobs.show(job_id))


@routes.get("/jobs/{job_id}/diff", response_model=DiffAnswer)
def diff_job(job_id: str, memory: TheMemory, query: Annotated[DiffQuery, Query()]) -> Answer:
    """What a job changed, or a proposal would change; a line stands for each secret record."""
    include_secret = secrets(memory, query.include_secret)
    return Answer({"diff": memory.jobs.diff(job_id, include_secret=include_secret)})


@routes.post("/jobs/{job_id}/apply", response_model=JobAnswer)
def apply_job(job_id: str, memory: TheMemory) -> Answer:
    """Do what a proposal says."""
    return _done(memory.jobs.apply(job_id))


@routes.post("/jobs/{job_id}/decline", response_model=JobAnswer)
def decline_job(job_id: str, memory: TheMemory) -> Answer:
    """Delete a proposal."""
    return _done(memory.jobs.decline(job_id))


@routes.post("/jobs/{job_id}/undo", response_model=JobAnswer)
def undo_job(job_id: str, memory: TheMemory) -> Answer:
    """Take back what a job changed, byte for byte; what was written since stays."""
    return _done(memory.jobs.undo(job_id))


@routes.post("/flush", response_model=FlushAnswer)
def flush(body: FlushRequest, memory: TheMemory) -> Answer:
    """Save what matters of a chat that is about to be shortened or ended, never twice: messages or text."""
    report = memory.via(kind=body.kind).jobs.flush(
        body.turns,
        session=body.session,
        dry_run=body.dry_run,
        include_secret=allows_secrets(memory),
    )
    return Answer(report.to_dict())


@routes.get("/scan", response_model=ScanAnswer)
def scan(memory: TheMemory) -> Answer:
    """Contradictions, stale and double records, broken citations, open secrets; nothing is changed."""
    report = run_in_process(memory.jobs, Jobs.scan)
    found = [replace(one, hint=leading_to(memory.root, one.hint)) for one in report.findings]
    return Answer(scan_json(report, found))


@routes.get("/dream", response_model=DreamStatusAnswer)
def dream_status(memory: TheMemory) -> Answer:
    """What dreaming knows, and what it would promote now."""
    return Answer(dream_status_json(run_in_process(memory.jobs, Jobs.dream_status)))


@routes.get("/dream/explain", response_model=DreamExplanationAnswer)
def explain(memory: TheMemory, query: Annotated[ExplainQuery, Query()]) -> Answer:
    """Why a statement is promoted or not."""
    return Answer(dream_explanation_json(run_in_process(memory.jobs, Jobs.explain, key=query.key)))


def _done(report: JobReport) -> Answer:
    return Answer(job_json(report))
