"""Apply the changes of a job in one transaction, and take them back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from typing import Any

from memolith.clock import Clock
from memolith.errors import FileChangedError, JobFailedError, WriterBusyError
from memolith.files.backup import prune_backups, save_backup
from memolith.files.folder import Folder
from memolith.files.ledger import note_archive
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.files.transaction import Transaction
from memolith.jobs.changes import (
    TakenBack,
    applied,
    is_addition,
    lines_of,
    lost_additions,
    not_as_planned,
    split_lines,
    undone,
)
from memolith.jobs.history import (
    DECLINED,
    encode_report,
    find_job,
    job_path,
    new_job_id,
    newer_jobs,
    note_undone,
    prune_jobs,
)
from memolith.jobs.job import Job, P, Reader
from memolith.jobs.reports import Change, JobReport
from memolith.store import Store
from memolith.types import Stamp

Contents = Mapping[str, bytes | None]
Kinds = Mapping[str, type[Job[Any]]]  # by their names
_MOST_NAMED = 10
Check = Callable[[Sequence[Change]], None]  # raises if what would be told does not hold any more


def apply_changes(job: Job[P], report: JobReport, require: Check) -> JobReport:
    """Backup, archive, replace, verify, else restore.

    Raises FileChangedError when a file no longer begins with what the plan was made on, when `require` does,
    or when somebody edits a file at the very moment: nothing was changed then.
    """
    store = job.store
    with store.writing() as transaction:
        folder = transaction.folder
        stamps = {change.path: folder.stamp(change.path) for change in report.changes}
        before, after = judged(folder, report.changes, job, require)
        # An archive only grows: a copy of it at each run would fill the disk.
        rewritten = {change.path for change in report.changes if not is_addition(change)}
        done = replace(
            report,
            id=report.id or new_job_id(folder, report.job, report.created),
            status="done",
            backup=_save(
                folder, {path: before[path] for path in rewritten}, report.job, store.clock
            ),
            read={},
        )
        _write(transaction, done, after, stamps)
        if report.status == "proposed":
            transaction.remove(job_path(report), folder.stamp(job_path(report)))
        job.keep_state(transaction, after, is_skipped=False)
        transaction.commit()
        found = {path: folder.read(path) or b"" for path in after}
        edited = next((one.path for one in done.changes if not _is_written(one, found, after)), "")
        problem = _problem(job, folder, before, found)
        prune_backups(folder, store.config.store.backups_kept)
        prune_jobs(folder)
    if edited or problem:
        _put_back_at_once(job, done, problem)
        if edited:
            raise not_as_planned(edited)
        raise JobFailedError(
            f"{problem}; every file was put back.",
            hint=f"What stood there is in backup {done.backup}.",
        )
    return done


def judged(
    folder: Folder, changes: Sequence[Change], job: Job[P], require: Check
) -> tuple[Contents, dict[str, bytes]]:
    """The files as they are, and with the changes made.

    Raises FileChangedError if one does not fit any more, JobFailedError if the job finds the result wrong.
    """
    before = {change.path: folder.read(change.path) for change in changes}
    after = {change.path: _after(change, before[change.path]) for change in changes}
    require(changes)
    if problem := _problem(job, folder, before, after):
        raise JobFailedError(f"{problem}; nothing was changed.")
    return before, after


def _after(change: Change, current: bytes | None) -> bytes:
    """The content to write. Additions to an archive do not depend on what is above them."""
    if not is_addition(change):
        return applied(change, current)
    data = current or b""
    glue = b"" if data.endswith(b"\n") or not data else b"\n"
    return data + glue + _inserted(change)


def _save(folder: Folder, files: Contents, reason: str, clock: Clock) -> str:
    existing = {path: data for path, data in files.items() if data is not None}
    return save_backup(folder, existing, reason=reason, now=clock.now())


def _write(
    transaction: Transaction,
    done: JobReport,
    after: Mapping[str, bytes],
    stamps: Mapping[str, Stamp | None],
) -> None:
    """Archives first, so that no record is ever in neither file; then the report and the other files."""
    for change in filter(is_addition, done.changes):
        note_archive(transaction, change.path)
        transaction.append(change.path, _inserted(change))
    transaction.replace(job_path(done), encode_report(done), None)
    for change in filterfalse(is_addition, done.changes):
        transaction.replace(change.path, after[change.path], stamps[change.path])


def decline_proposal(store: Store, job_id: str, kinds: Kinds) -> JobReport:
    """Put a proposal aside for good."""
    with store.writing() as transaction:
        folder = transaction.folder
        report = find_job(folder, job_id, "proposed")
        note_undone(transaction, f"{report.job}{DECLINED}", _covered(report, kinds))
        transaction.remove(job_path(report), folder.stamp(job_path(report)))
        transaction.commit()
    return replace(report, status="declined")


def undo_job(
    store: Store, job_id: str, check: Callable[[JobReport], None], kinds: Kinds
) -> JobReport:
    """Take back what a job changed, byte for byte; what was written since stays, and is reported.

    `check` raises if the caller may not undo this job.
    The report that is kept has all changes, the one that is returned those whose files it put back.
    """
    with store.existing() as folder, alone(folder), store.writing() as transaction:
        report = find_job(folder, job_id, "done")
        check(report)
        now, stamps = _look(folder, report)
        files = _put_back(transaction, report, now, stamps)
        backup = _save(folder, now, f"undo-{report.job}", store.clock)
        # The warnings of before were about what is taken back.
        kept = (_kept_lines(one, now[one.path], files[one.path]) for one in report.changes)
        undo = replace(report, status="undone", warnings=tuple(filter(None, kept)), backup=backup)
        names = _covered(report, kinds)
        note_undone(transaction, report.job, names)
        if report.job in kinds:
            kinds[report.job].undo_state(transaction, names)
        transaction.replace(job_path(undo), encode_report(undo), folder.stamp(job_path(report)))
        transaction.commit()
        prune_backups(folder, store.config.store.backups_kept)
        changed = (
            replace(one, created=one.created and not files[one.path].data)
            for one in report.changes
            if files[one.path].data != (now[one.path] or b"")
        )
        return replace(undo, changes=tuple(changed))


def _look(folder: Folder, report: JobReport) -> tuple[Contents, Mapping[str, Stamp | None]]:
    """The files of a job as they are, with the stamps they had before."""
    stamps = {path: folder.stamp(path) for path in report.files}
    return {path: folder.read(path) for path in stamps}, stamps


def _put_back(
    transaction: Transaction, report: JobReport, now: Contents, stamps: Mapping[str, Stamp | None]
) -> dict[str, TakenBack]:
    """Take its changes out of the files. MEMORY.md first, the archive last: at no moment is a record in neither."""
    try:
        files = {change.path: undone(change, now[change.path]) for change in report.changes}
    except FileChangedError as error:
        raise FileChangedError(
            error.message,
            path=error.path,
            hint=f"Write there again what the job wrote, the lines with + of: memolith jobs diff {report.id};"
            " then undo it. If a newer job changed them, undo that one first: memolith jobs list",
        ) from error
    _check_newer_jobs(transaction.folder, report, now, files)
    for change in reversed(report.changes):
        path, data = change.path, files[change.path].data
        if change.created and not data:
            transaction.remove(path, stamps[path])
        elif data != now[path]:
            transaction.replace(path, data, stamps[path])
    return files


def _covered(report: JobReport, kinds: Kinds) -> list[str]:
    """What its changes were about, by names; nothing for a job of another version."""
    kind = kinds.get(report.job)
    hunks = [(change.path, hunk) for change in report.changes for hunk in change.hunks]
    return [name for path, hunk in hunks for name in kind.covered(path, hunk)] if kind else []


def alone(folder: Folder) -> OwnerLock:
    """The job lock; raises WriterBusyError while another job runs."""
    try:
        return OwnerLock(folder, JOB_LOCK)
    except BlockingIOError as error:
        raise WriterBusyError(
            "Another job is running in this profile. Nothing was changed.",
            holder="a job",
            waited_seconds=0,
            hint="Try again when it has ended.",
        ) from error


def _check_newer_jobs(
    folder: Folder, report: JobReport, now: Contents, files: Mapping[str, TakenBack]
) -> None:
    """Raise FileChangedError if it was a newer job, not a person, that touched the lines of this one."""
    touched: dict[str, set[bytes]] = {}
    for change in report.changes:
        lines, theirs = split_lines(files[change.path].data), files[change.path].theirs
        touched[change.path] = {lines[number - 1] for number in theirs}
        touched[change.path] |= lost_additions(change, now[change.path] or b"")
    if not any(touched.values()):
        return
    for job in newer_jobs(folder, report):
        for change in job.changes if job.status == "done" else ():
            lines_of_job = [line for hunk in change.hunks for line in lines_of(hunk)]
            if not touched.get(change.path, set()).isdisjoint(lines_of_job):
                raise FileChangedError(
                    f"The newer job {job.id} changed lines of {change.path} that {report.id} wrote."
                    " Nothing was changed.",
                    path=change.path,
                    hint=f"Undo that one first: memolith jobs undo {job.id}",
                )


def _kept_lines(change: Change, now: bytes | None, file: TakenBack) -> str:
    """A sentence if lines were kept, or if nothing of the job was left."""
    numbers = [f"#L{number}" for number in file.theirs]
    if len(numbers) > _MOST_NAMED:
        numbers[_MOST_NAMED:] = [f"and {len(numbers) - _MOST_NAMED:,} more"]
    were, they = ("were", "they were") if len(numbers) > 1 else ("was", "it was")
    if numbers:
        return (
            f"{change.path}{', '.join(numbers)} {were} changed or added since among the lines of this job,"
            f" so {they} kept."
        )
    if file.data == now and lost_additions(change, file.data):
        return (
            f"{change.path} no longer contains any line that the job wrote; it was left as it is."
        )
    return ""


def _inserted(change: Change) -> bytes:
    return b"".join(hunk.inserted for hunk in change.hunks)


def _is_written(change: Change, found: Mapping[str, bytes], after: Mapping[str, bytes]) -> bool:
    """Whether a file is as planned; of an archive, of which a torn last line may have been moved, our lines."""
    data = found[change.path]
    return data == after[change.path] or (is_addition(change) and data.endswith(_inserted(change)))


def _problem(job: Job[P], folder: Folder, before: Contents, after: Contents) -> str:
    """What the job finds wrong with the files after its changes; other files are read from the disk."""

    def reader(files: Contents) -> Reader:
        return lambda path: (files[path] if path in files else folder.read(path)) or b""

    return job.problem(reader(before), reader(after))


def _put_back_at_once(job: Job[P], done: JobReport, problem: str) -> None:
    """Take back what was just written; what somebody wrote at that very moment stays.

    Raises JobFailedError if that is in the place of what the job took out: then the job can be undone later.
    """
    with job.store.writing() as transaction:
        folder = transaction.folder
        now, stamps = _look(folder, done)
        _save(folder, now, f"failed-{done.job}", job.store.clock)
        try:
            _put_back(transaction, done, now, stamps)
        except FileChangedError as error:
            raise JobFailedError(f"{problem} {error.message}".lstrip(), hint=error.hint) from error
        job.undo_state(transaction, _covered(done, {job.name: type(job)}))
        transaction.remove(job_path(done), folder.stamp(job_path(done)))
        transaction.commit()
