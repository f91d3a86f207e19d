"""How every job runs: plan, draft, apply, report.

The job lock is held for the whole run, so that there is one job at a time. The writer lock is held
for `apply` only, never while texts are written: what was appended meanwhile stays behind the change.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial

from memolith import clock as clocks
from memolith.config.sections import SETTINGS, value_of, with_values
from memolith.errors import FileChangedError, JobNotFoundError, MemolithError
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.jobs.apply import Check, Kinds, alone, apply_changes, judged
from memolith.jobs.changes import is_addition
from memolith.jobs.history import encode_report, find_job, job_path, new_job_id, waiting_proposal
from memolith.jobs.job import Job, P, Snapshot, require_unchanged
from memolith.jobs.reports import JobReport
from memolith.jobs.trim import TrimJob
from memolith.store import Store

# How often a job plans because somebody edited a file while its texts were written. One that asks no
# model goes on: its lines may be forgotten and corrected by many.
_ATTEMPTS, _ATTEMPTS_BY_RULES = 3, 50
_ORIGIN = "the proposal"  # of settings that it was planned with
ANOTHER_JOB = "another job is running"


def run_job(job: Job[P], *, dry_run: bool = False) -> JobReport:
    """Run a job to its end. A dry run writes nothing at all; `jobs.review = "ask"` leaves a proposal.

    An error leaves every file as it was, and is raised.
    """
    report = JobReport(id=None, job=job.name, status="planned", created=job.store.clock.now())
    with job.store.existing() as folder:
        if dry_run:
            return _drafted(job, Snapshot(folder), report, preview=True)
        try:
            with OwnerLock(folder, JOB_LOCK):
                return _run_alone(job, folder, report)
        except BlockingIOError:
            skipped = job.plan(Snapshot(folder)).skipped or ANOTHER_JOB
            return replace(report, status="skipped", reason=skipped)


def trim(store: Store, *, dry_run: bool = False) -> JobReport:
    """Bring MEMORY.md under the limits of `trim.max_records` and `trim.max_chars`."""
    return run_job(TrimJob(store), dry_run=dry_run)


def run_unattended(store: Store, name: str, work: Callable[[], JobReport]) -> JobReport:
    """Do what runs a job when nobody is there to see an error: it becomes a report, which is kept."""
    report = JobReport(id=None, job=name, status="failed", created=store.clock.now())
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - a job runs unattended: it must report, not die
        reason = error.message if isinstance(error, MemolithError) else repr(error)
        report = replace(report, reason=reason)
    with suppress(MemolithError), store.writing() as transaction:  # else the caller still has it
        folder = transaction.folder
        kept = replace(report, id=new_job_id(folder, name, report.created))
        transaction.replace(job_path(kept), encode_report(kept), None)
        transaction.commit()
        return kept
    return report


def unforeseen(step: Callable[[], object]) -> Exception | None:
    """Do a step of what runs unattended; an error is returned, to be reported, and ends nothing."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 - a schedule that nobody watches must go on, and say so
        return error
    return None


def _run_alone(job: Job[P], folder: Folder, report: JobReport) -> JobReport:
    """Run it, unless a proposal of the same kind waits and still fits the files."""
    asks = job.may_wait and job.store.config.jobs.review == "ask"
    waiting, withdrawn = waiting_proposal(folder, job.name), list[str]()
    if waiting is not None:
        try:
            require_unchanged(folder, waiting.read, waiting.changes)
        except FileChangedError as error:
            withdrawn.append(_withdraw(job.store, waiting, error.message))
            waiting = None

    def attempt() -> JobReport:
        if not asks or waiting is None:
            return _attempt(job, folder, report, asks=asks)
        job.plan(Snapshot(folder))
        told = replace(waiting, reason="this proposal waits for your answer")
        return _kept_state(job, told)

    done = _until_unchanged(attempt, _ATTEMPTS_BY_RULES if job.by_rules else _ATTEMPTS)
    if waiting is not None and done.status == "done":
        withdrawn.append(_withdraw(job.store, waiting, "Another run has done it."))
    return replace(done, warnings=(*done.warnings, *withdrawn))


def _until_unchanged(attempt: Callable[[], JobReport], most: int) -> JobReport:
    """Try again, a few times, if somebody edited the files meanwhile."""
    for _ in range(most - 1):
        with suppress(FileChangedError):
            return attempt()
    try:
        return attempt()
    except FileChangedError as error:
        raise FileChangedError(
            f"Each of {most} times somebody changed, while the job ran, what it is about."
            f" {error.message}",
            path=error.path,
            hint="Nothing was changed. Run it again when nobody edits that file.",
        ) from error


def _attempt(job: Job[P], folder: Folder, report: JobReport, *, asks: bool) -> JobReport:
    """Plan, draft, and apply or propose; raises FileChangedError if somebody edits the files meanwhile."""
    started, snapshot = clocks.monotonic(), Snapshot(folder)
    drafted = _drafted(job, snapshot, report)
    if drafted.status == "skipped":
        return _kept_state(job, drafted)
    # What is kept of it cannot tell how long it takes to be written.
    drafted = replace(drafted, seconds=clocks.monotonic() - started)
    if not asks:
        return apply_changes(job, drafted, snapshot.require_unchanged)
    settings = {name: value_of(job.store.config, name) for name in job.settings()}
    drafted = replace(drafted, read=snapshot.digests(), settings=settings)
    return _propose(job, drafted, snapshot.require_unchanged)


def _withdraw(store: Store, proposal: JobReport, why: str) -> str:
    with store.writing() as transaction:
        path = job_path(proposal)
        transaction.remove(path, transaction.folder.stamp(path))
        transaction.commit()
    return f"{why} The proposal {proposal.id} was withdrawn."


def _kept_state(job: Job[P], report: JobReport) -> JobReport:
    """The report of a job that changes nothing, once it has written its machine state."""
    if job.keeps_state:
        with job.store.writing() as transaction:
            job.keep_state(transaction, {}, is_skipped=report.status == "skipped")
            transaction.commit()
    return report


def _drafted(
    job: Job[P], snapshot: Snapshot, report: JobReport, *, preview: bool = False
) -> JobReport:
    """What the job is going to do; nothing is written."""
    plan = job.plan(snapshot)
    warnings = tuple(snapshot.closed.values())
    if plan.skipped:
        warnings = (*warnings, *plan.warnings)
        return replace(
            report, status="skipped", reason=plan.skipped, counts=plan.counts, warnings=warnings
        )
    plan = job.draft(plan, preview=preview)
    if not plan.changes and not preview:
        return replace(report, status="skipped", reason="nothing would change", warnings=warnings)
    return replace(
        report,
        lines=plan.lines,
        counts=plan.counts,
        changes=tuple(sorted(plan.changes, key=lambda change: not is_addition(change))),
        warnings=(*warnings, *plan.warnings),
    )


def apply_proposal(store: Store, job_id: str, kinds: Kinds) -> JobReport:
    """Apply a proposal; if its files or its sources have changed, plan it again instead.

    Raises FileChangedError then, which names the new proposal.
    """
    with store.existing() as folder, alone(folder):
        report = find_job(folder, job_id, "proposed")
        if report.job not in kinds or not kinds[report.job].may_wait:
            raise JobNotFoundError(
                f"No job of this version that can wait is called {report.job}.",
                name=job_id,
                hint="Use the Memolith that planned it, or decline it: memolith jobs decline ID",
            )
        settings = {
            name: SETTINGS[name].check(report.settings.get(name, SETTINGS[name].default), _ORIGIN)
            for name in kinds[report.job].settings()
        }
        planned_in = copy(store)
        planned_in.config = with_values({**settings, "jobs.review": "ask"}, store.config)
        job = kinds[report.job](planned_in)
        try:
            return apply_changes(job, report, partial(require_unchanged, folder, report.read))
        except FileChangedError as error:
            changed = error
    planned = run_job(job)
    outcome, hint = "Nothing is left of it, so it was withdrawn.", ""
    if planned.status == "proposed":
        outcome = f"It was planned again: {planned.id}"
        hint = f"Read it: memolith jobs diff {planned.id}; then: memolith jobs apply {planned.id}"
    raise FileChangedError(
        f"{changed.message} {outcome}", path=changed.path, hint=hint
    ) from changed


def _propose(job: Job[P], report: JobReport, require: Check) -> JobReport:
    """Keep the changes as a proposal."""
    with job.store.writing() as transaction:
        folder = transaction.folder
        judged(folder, report.changes, job, require)
        report = replace(
            report,
            id=new_job_id(folder, report.job, report.created),
            status="proposed",
        )
        transaction.replace(job_path(report), encode_report(report), None)
        job.keep_state(transaction, {}, is_skipped=False)
        transaction.commit()
    return report
