"""The jobs that ran: reports with their changes, proposals that wait, and what the user rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any, get_args

from memolith.errors import JobNotFoundError, MemolithError
from memolith.files import atomic_write, layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction
from memolith.jobs.changes import split_lines
from memolith.jobs.reports import Change, Hunk, JobReport, JobStatus, Snapped

LineCleaner = Callable[[str, bytes], bytes]  # path, lines

UNDONE = f"{STATE_FOLDER}/undone.json"
DECLINED = " declined"  # behind the name of a job whose proposals it lists
_MOST_UNDONE = 200_000  # of each job, the newest

FOLDERS = (layout.JOBS_FOLDER, layout.PROPOSALS_FOLDER)
_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
MAX_REPORTS = 200  # of jobs; older jobs cannot be undone
_NO_LAST: dict[JobStatus | None, str] = {
    "done": "Nothing to undo: no job has changed anything, or each was undone already.",
    "proposed": "No proposal waits for your answer.",
}
_TIME = len("20261115T030000.000Z")  # an id begins with it
_BYTES = ("utf-8", "surrogateescape")  # any byte survives, and ordinary text stays readable


def new_job_id(folder: Folder, job: str, now: datetime) -> str:
    """The time and the job's name; no two jobs have the same time, so ids are in the order of jobs."""
    names = {_name(path) for path in _paths(folder)}
    while any(name.startswith(f"{_moment(now)}-") for name in names):
        now += timedelta(milliseconds=1)
    return f"{_moment(now)}-{job}"


def _moment(time: datetime) -> str:
    return f"{time:%Y%m%dT%H%M%S}.{time.microsecond // 1000:03d}Z"


def job_path(report: JobReport) -> str:
    """Where the report is kept: proposals have a folder of their own."""
    waits = report.status == "proposed"
    return f"{layout.PROPOSALS_FOLDER if waits else layout.JOBS_FOLDER}/{report.id}.json"


def kept_jobs(folder: Folder) -> list[JobReport]:
    """Every report and proposal that can be read, oldest first."""
    return [report for path in _paths(folder) if (report := _read(folder, path))]


def newer_jobs(folder: Folder, report: JobReport) -> list[JobReport]:
    """Those that ran after this one."""
    jobs = kept_jobs(folder)
    return jobs[1 + [one.id for one in jobs].index(report.id) :]


def damage_messages(folder: Folder) -> tuple[str, ...]:
    """A sentence for each file of the history that cannot be read: a job that vanishes cannot be undone."""
    found = [
        f"{path} is damaged: the job cannot be shown, applied or undone."
        " Put a copy of it back, or delete it."
        for path in _paths(folder)
        if not _read(folder, path)
    ]
    data = (folder.read(UNDONE) or b"").strip()
    if data not in (b"", b"{}") and not _read_undone(data):
        found.append(
            f"{UNDONE} is damaged: schedules may do again what you undid or declined."
            " Repair or delete it."
        )
    return tuple(found)


def find_job(folder: Folder, job_id: str, status: JobStatus | None = None) -> JobReport:
    """The job with this id, or with the only id that starts like this.

    "last" is the newest; with a status, the newest that has it: never an older one because that is damaged.
    Raises JobNotFoundError for one that has another status.
    """
    if job_id == "last":
        places = {"done": FOLDERS[:1], "proposed": FOLDERS[1:]}.get(status or "", FOLDERS)
        for path in reversed(_paths(folder, *places)):
            report = _intact(folder, path)
            if status in (None, report.status):
                return report
        message = _NO_LAST.get(status, "No job has changed anything yet.")
    else:
        paths = {_name(path): path for path in _paths(folder)}
        matches = (
            [job_id] if job_id in paths else [name for name in paths if name.startswith(job_id)]
        )
        if job_id and len(matches) == 1:
            report = _intact(folder, paths[matches[0]])
            if status in (None, report.status):
                return report
            raise JobNotFoundError(
                f"The job {report.id} is {report.status}, not {status}.", name=job_id
            )
        what = f"{len(matches)} jobs have ids that start with" if matches else "No job has the id"
        message = f"{what} {job_id!r}."
    raise JobNotFoundError(message, name=job_id, hint="List them with: memolith jobs list")


def _intact(folder: Folder, path: str) -> JobReport:
    report = _read(folder, path)
    if report is None:
        raise JobNotFoundError(
            f"{path} is damaged, so the job {_name(path)} can be neither shown nor undone.",
            name=_name(path),
            hint="Put a copy of it back, or delete it; other jobs can be named by their ids: memolith"
            " jobs list. The backups have the files as they were: memolith restore",
        )
    return report


def waiting_proposal(folder: Folder, job: str) -> JobReport | None:
    """The proposal of this kind of job that waits for approval: there is one at most."""
    waiting = (_read(folder, path) for path in _paths(folder, layout.PROPOSALS_FOLDER))
    return next((report for report in waiting if report and report.job == job), None)


def prune_jobs(folder: Folder) -> None:
    """Delete the oldest reports beyond the limit; proposals stay. Housekeeping, so it may fail."""
    with suppress(OSError, MemolithError):
        for path in _paths(folder, layout.JOBS_FOLDER)[:-MAX_REPORTS]:
            if _read(folder, path):
                atomic_write.remove(folder, path)


def _paths(folder: Folder, *places: str) -> list[str]:
    """The files of reports and proposals, oldest first: their names begin with the time."""
    paths = (path for place in places or FOLDERS for path in folder.walk(place, suffix=".json"))
    ours = (path for path in paths if _name(path)[:1].isdigit())
    return sorted(ours, key=lambda path: (_name(path)[:_TIME], len(_name(path)), _name(path)))


def _name(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _read(folder: Folder, path: str) -> JobReport | None:
    return decode_report(folder.read(path) or b"")


def encode_report(report: JobReport) -> bytes:
    """The file of a report."""
    return json.dumps(report, indent=1, default=_encoded).encode() + b"\n"


def _encoded(value: object) -> object:
    match value:
        case bytes():
            return value.decode(*_BYTES)
        case datetime():
            return encode_time(value)
        case JobReport() | Change() | Hunk() | Snapped():
            return {one.name: getattr(value, one.name) for one in fields(value)}
    return dict(value)  # type: ignore[call-overload]


def decode_report(data: bytes) -> JobReport | None:
    """The report a file holds; None when it is not one of ours."""
    try:
        content = json.loads(data)
        decoded = {
            "created": parse_time(content["created"], "created"),
            "lines": tuple(content["lines"]),
            "warnings": tuple(content["warnings"]),
            "changes": tuple(map(_decoded_change, content["changes"])),
            "read": {path: Snapped(**seen) for path, seen in content["read"].items()},
        }
        report = JobReport(**{**content, **decoded})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordFormatError):
        return None
    is_ours = report.status in _STATUSES and isinstance(report.id, str)
    return report if is_ours and isinstance(report.job, str) else None


def _decoded_change(content: Mapping[str, Any]) -> Change:
    hunks = tuple(
        Hunk(
            line=hunk["line"],
            removed=hunk["removed"].encode(*_BYTES),
            inserted=hunk["inserted"].encode(*_BYTES),
        )
        for hunk in content["hunks"]
    )
    decoded = {name: Snapped(**content[name]) for name in ("before", "after")}
    return Change(**{**content, **decoded, "hunks": hunks, "kept": tuple(content["kept"])})


def scrubbed(report: JobReport, clean: LineCleaner) -> JobReport:
    """The report with every line of its changes cleaned of a forgotten record."""
    return replace(
        report, changes=tuple(_scrubbed_change(change, clean) for change in report.changes)
    )


def _scrubbed_change(change: Change, cleaner: LineCleaner) -> Change:
    """As if the record had never stood in the file: what stood below it stood so much higher."""
    hunks: list[Hunk] = []
    gone = 0
    for hunk in change.hunks:
        removed = cleaner(change.path, hunk.removed)
        inserted = cleaner(change.path, hunk.inserted)
        hunks.append(Hunk(line=hunk.line - gone, removed=removed, inserted=inserted))
        gone += len(split_lines(hunk.removed)) - len(split_lines(removed))
    return replace(change, hunks=tuple(hunks))


def undone_by(data: bytes | None, job: str, *, or_declined: bool = True) -> frozenset[str]:
    """What this job did, or proposed, and somebody took back: ids of records, of a dream claims."""
    known = _read_undone(data)
    declined = known.get(f"{job}{DECLINED}", ()) if or_declined else ()
    return frozenset((*known.get(job, ()), *declined))


def note_undone(transaction: Transaction, job: str, names: Iterable[str]) -> None:
    """Remember what a job covered that is undone or declined, as a step of the transaction."""
    known = _read_undone(transaction.folder.read(UNDONE))
    if covered := list(dict.fromkeys((*known.get(job, ()), *names))):
        content = {"version": 1, **known, job: covered[-_MOST_UNDONE:]}
        stamp = transaction.folder.stamp(UNDONE)
        transaction.replace(UNDONE, json.dumps(content).encode() + b"\n", stamp)


def _read_undone(data: bytes | None) -> dict[str, list[str]]:
    """What a file says; what cannot be read counts as nothing."""
    try:
        found = json.loads(data or b"{}").items()
    except (ValueError, RecursionError, AttributeError):
        return {}
    return {
        job: [name for name in names if isinstance(name, str)]
        for job, names in found
        if isinstance(names, list)
    }
