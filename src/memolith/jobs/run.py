"""How every job runs: plan, draft, apply, report.

The job lock is held for the whole run, so that there is one job at a time. The writer lock is held
for `apply` only, never while texts are written: what was appended meanwhile stays behind the change.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from memolith import clock as clocks
from memolith.config.sections import SETTINGS, value_of, with_values
from memolith.config.setting import ARGUMENT, toml_value
from memolith.errors import FileChangedError, JobNotFoundError, MemolithError
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.jobs.apply import Check, Kinds, alone, apply_changes, judged, require_status
from memolith.jobs.changes import only_appends
from memolith.jobs.history import encode_report, find_job, job_path, new_job_id, waiting_proposal
from memolith.jobs.job import Job, P, Snapshot, Workplace, require_unchanged
from memolith.jobs.reports import JobReport
from memolith.jobs.trim import TrimJob
from memolith.store import Store

# How often a job plans because somebody edited a file while its texts were written.
_ATTEMPTS = 3
# A job that asks nobody goes on for so long: its lines may be forgotten and corrected by many.
_PATIENCE_SECONDS = 60.0
ANOTHER_JOB = "another job is running"


def run_job(place: Workplace, job: Job[P], *, dry_run: bool = False) -> JobReport:
    """Run a job to its end. A dry run writes nothing at all; `jobs.review = "ask"` leaves a proposal.

    An error leaves every file as it was, and is raised.
    """
    report = JobReport(id=None, job=job.name, status="planned", created=place.clock.now())
    with place.reading() as folder:
        if dry_run:
            return _drafted(job, Snapshot(folder), report, preview=True)
        try:
            with OwnerLock(folder, JOB_LOCK):
                return _run_alone(place, job, folder, report)
        except BlockingIOError:
            skipped = job.plan(Snapshot(folder)).skipped or ANOTHER_JOB
            return replace(report, status="skipped", reason=skipped)


def trim(store: Store, *, dry_run: bool = False) -> JobReport:
    """Bring MEMORY.md under the limits of `trim.max_records` and `trim.max_chars`."""
    place = Workplace.of(store)
    return run_job(place, TrimJob(place), dry_run=dry_run)


def run_unattended(place: Workplace, name: str, work: Callable[[], JobReport]) -> JobReport:
    """Do what runs a job when nobody is there to see an error: it becomes a report, which is kept."""
    report = JobReport(id=None, job=name, status="failed", created=place.clock.now())
    try:
        return work()
    except Exception as error:  # noqa: BLE001 - a job runs unattended: it must report, not die
        reason = error.message if isinstance(error, MemolithError) else repr(error)
        report = replace(report, reason=reason)
    with suppress(MemolithError), place.writing() as transaction:  # else the caller still has it
        folder = transaction.folder
        kept = replace(report, id=new_job_id(folder, name, report.created))
        transaction.replace(job_path(kept), encode_report(kept), None)
        transaction.commit()
        return kept
    return report


def unforeseen(step: Callable[[], object]) -> Exception | None:
    """Do a step of what runs unattended; an error is returned, to be told, and ends nothing."""
    try:
        step()
    except Exception as error:  # noqa: BLE001 - a schedule that nobody watches must go on, and say so
        return error
    return None


def _run_alone(place: Workplace, job: Job[P], folder: Folder, report: JobReport) -> JobReport:
    """Run it, unless a proposal of the same kind waits and still fits the files."""
    started = clocks.monotonic()
    asks = job.may_wait and place.config.jobs.review == "ask"
    waiting, withdrawn = waiting_proposal(folder, job.name), ""
    if waiting is not None:
        try:
            require_unchanged(folder, waiting.read, waiting.changes)
        except FileChangedError as error:
            withdrawn, waiting = _withdraw(place, waiting, error.message), None

    def attempt() -> JobReport:
        snapshot = Snapshot(folder)
        if waiting is not None and asks:
            if job.keeps_state:
                job.plan(snapshot)
            told = replace(waiting, reason="this proposal waits for your answer")
            return _kept_state(place, job, told)
        drafted = _drafted(job, snapshot, report)
        if drafted.status == "skipped":
            return _kept_state(place, job, drafted)
        # What is kept of it cannot tell how long it takes to be written.
        read = snapshot.digests() if asks else {}
        drafted = replace(drafted, read=read, seconds=clocks.monotonic() - started)
        done = (_propose if asks else apply_changes)(
            place, drafted, job, snapshot.require_unchanged
        )
        return replace(done, seconds=clocks.monotonic() - started)

    patience = started + _PATIENCE_SECONDS if job.by_rules else started
    done = _until_unchanged(attempt, patience)
    if waiting is not None and done.status == "done":
        withdrawn = _withdraw(place, waiting, "Another run has done it.")
    return replace(done, warnings=(*done.warnings, *filter(None, [withdrawn])))


def _withdraw(place: Workplace, proposal: JobReport, why: str) -> str:
    with place.writing() as transaction:
        path = job_path(proposal)
        transaction.remove(path, transaction.folder.stamp(path))
        transaction.commit()
    return f"{why} The proposal {proposal.id} was withdrawn."


def _until_unchanged(attempt: Callable[[], JobReport], patience: float) -> JobReport:
    """Try again if somebody edited the files meanwhile: a few times, and until our patience ends."""
    attempts = 0
    while True:
        attempts += 1
        try:
            return attempt()
        except FileChangedError as error:
            if attempts >= _ATTEMPTS and clocks.monotonic() >= patience:
                raise FileChangedError(
                    f"Each of {attempts} times somebody changed, while the job ran, what it is about."
                    f" {error.message}",
                    path=error.path,
                    hint="Nothing was changed. Run it again when nobody edits that file.",
                ) from error


def _kept_state(place: Workplace, job: Job[P], report: JobReport) -> JobReport:
    """The report of a job that changes nothing, once it has written its machine state."""
    if job.keeps_state:
        with place.writing() as transaction:
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
        changes=tuple(sorted(plan.changes, key=lambda change: not only_appends(change))),
        warnings=(*warnings, *plan.warnings),
    )


def apply_proposal(place: Workplace, job_id: str, kinds: Kinds) -> JobReport:
    """Apply a proposal; if its files or its sources have changed, plan it again instead.

    Raises FileChangedError then, which names the new proposal.
    """
    with place.reading() as folder, alone(folder):
        report = require_status(find_job(folder, job_id, "proposed"), "applied")
        if report.job not in kinds or not kinds[report.job].may_wait:
            raise JobNotFoundError(
                f"No job of this version that can wait is called {report.job}.",
                name=job_id,
                hint="Use the Memolith that planned it, or decline it: memolith jobs decline ID",
            )
        place = _planned_in(place, report, kinds[report.job])
        job = kinds[report.job](place)
        try:
            return apply_changes(
                place, report, job, partial(require_unchanged, folder, report.read)
            )
        except FileChangedError as error:
            changed = error
    planned = run_job(place, job)
    told, hint = "Nothing is left of it, so it was withdrawn.", ""
    if planned.status == "proposed":
        told = f"It was planned again: {planned.id}"
        hint = f"Read it: memolith jobs diff {planned.id}; then: memolith jobs apply {planned.id}"
    raise FileChangedError(f"{changed.message} {told}", path=changed.path, hint=hint) from changed


def _propose(place: Workplace, report: JobReport, job: Job[P], require: Check) -> JobReport:
    """Keep the changes as a proposal."""
    with place.writing() as transaction:
        folder = transaction.folder
        judged(folder, report.changes, job, require)
        report = replace(
            report,
            id=new_job_id(folder, report.job, report.created),
            status="proposed",
            settings={
                name: value if isinstance(value, str) else toml_value(value)
                for name in _settings_of(type(job))
                if (value := value_of(place.config, name)) != SETTINGS[name].default
            },
        )
        transaction.replace(job_path(report), encode_report(report), None)
        job.keep_state(transaction, {}, is_skipped=False)
        transaction.commit()
    return report


def _settings_of(kind: type[Job[P]]) -> list[str]:
    return [name for name in SETTINGS if name.partition(".")[0] in kind.sections]


def _planned_in(place: Workplace, report: JobReport, kind: type[Job[P]]) -> Workplace:
    """The memory, with the settings that a proposal was planned with."""
    planned = {
        name: SETTINGS[name].check(report.settings[name], ARGUMENT)
        if name in report.settings
        else SETTINGS[name].default
        for name in _settings_of(kind)
    }
    return replace(place, config=with_values({**planned, "jobs.review": "ask"}, place.config))
