"""The jobs that ran: reports with their changes, proposals that wait, and what the user rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
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
# What of a report is kept as it is.
_PLAIN = ("id", "job", "status", "reason", "lines", "counts", "warnings", "backup", "settings")
MAX_REPORTS = 200  # of jobs; older jobs cannot be undone
_NO_LAST: dict[JobStatus | None, str] = {
    "done": "There is no job to undo: none has changed anything, or each was undone already.",
    "proposed": "No proposal waits for your answer.",
}
_UNREADABLE = (
    "the job cannot be shown or undone. Put a copy of it back, or delete it.",
    "the proposal cannot be shown or applied. Delete it; the next run plans it again.",
)
_TIME = len("20261115T030000.000Z")  # an id begins with it
# Any byte survives, and ordinary text stays readable.
_BYTES = ("utf-8", "surrogateescape")


def new_job_id(folder: Folder, job: str, now: datetime) -> str:
    """An id that no job or proposal has: the time and the job's name."""
    name = base = f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03d}Z-{job}"
    number = 1
    while any(folder.stamp(f"{place}/{name}.json") is not None for place in FOLDERS):
        number += 1
        name = f"{base}-{number}"
    return name


def job_path(report: JobReport) -> str:
    """Where the report is kept: proposals have a folder of their own."""
    waits = report.status == "proposed"
    return f"{layout.PROPOSALS_FOLDER if waits else layout.JOBS_FOLDER}/{report.id}.json"


def kept_jobs(folder: Folder) -> list[JobReport]:
    """Every report and proposal, oldest first; files that are neither are left alone."""
    return [report for path in _paths(folder).values() for report in _read(folder, path)]


def newer_jobs(folder: Folder, report: JobReport) -> list[JobReport]:
    """Those that ran after this one."""
    jobs = kept_jobs(folder)
    return jobs[1 + [one.id for one in jobs].index(report.id) :]


def damage_messages(folder: Folder) -> tuple[str, ...]:
    """A sentence for each file of the history that cannot be read: a job that vanishes cannot be undone."""
    found = [
        f"{path} is damaged: {_UNREADABLE[path.startswith(layout.PROPOSALS_FOLDER)]}"
        for path in _paths(folder).values()
        if not _read(folder, path)
    ]
    if _is_damaged(folder.read(UNDONE)):
        found.append(
            f"{UNDONE} is damaged: schedules may do again what you undid or declined."
            " Repair or delete it."
        )
    return tuple(found)


def find_job(folder: Folder, job_id: str, status: JobStatus | None = None) -> JobReport:
    """The job with this id, or with the only id that starts like this.

    "last" is the newest; with a status, the newest that has it. Raises JobNotFoundError also when
    the one that is meant, or may be, is damaged.
    """
    paths = _paths(folder)
    if job_id == "last":
        return _last(folder, paths, status)
    matches = [job_id] if job_id in paths else [name for name in paths if name.startswith(job_id)]
    jobs = [report for name in matches if job_id for report in _read(folder, paths[name])]
    if len(jobs) == 1:
        return jobs[0]
    if len(matches) == 1 and job_id and not jobs:
        hint = "Put a copy of it back; the backups have the files as they were: memolith restore"
        raise _damaged(paths[matches[0]], matches[0], hint)
    what = f"{len(jobs)} jobs have ids that start with" if jobs else "No job has the id"
    raise JobNotFoundError(
        f"{what} {job_id!r}.", name=job_id, hint="List them with: memolith jobs list"
    )


def _last(folder: Folder, paths: dict[str, str], status: JobStatus | None) -> JobReport:
    """The newest with this status; an older one is never taken for one that is damaged."""
    place = layout.PROPOSALS_FOLDER if status == "proposed" else layout.JOBS_FOLDER
    for name, path in reversed(paths.items()):
        found = _read(folder, path)
        if found and status in (None, found[0].status):
            return found[0]
        is_meant = status is None or path.startswith(f"{place}/")
        if is_meant and not found and name[:1].isdigit():
            hint = (
                "It may be the last one: name the job you mean by its id, of: memolith jobs list;"
                " or put a copy of the file back, or delete it."
            )
            raise _damaged(path, name, hint)
    message = _NO_LAST.get(status, "No job has changed anything yet.")
    raise JobNotFoundError(message, name="last", hint="List them with: memolith jobs list")


def _damaged(path: str, name: str, hint: str) -> JobNotFoundError:
    message = f"{path} is damaged, so the job {name} can be neither shown nor undone."
    return JobNotFoundError(message, name=name, hint=hint)


def waiting_proposal(folder: Folder, job: str) -> JobReport | None:
    """The proposal of this kind of job that waits for approval: there is one at most."""
    paths = _paths(folder, layout.PROPOSALS_FOLDER).values()
    waiting = (report for path in paths for report in _read(folder, path))
    return next((report for report in waiting if report.job == job), None)


def prune_jobs(folder: Folder) -> None:
    """Delete the oldest reports beyond the limit; proposals stay. Housekeeping, so it may fail."""
    with suppress(OSError, MemolithError):
        paths = list(_paths(folder, layout.JOBS_FOLDER).values())
        for path in paths[:-MAX_REPORTS]:
            if _read(folder, path):
                atomic_write.remove(folder, path)


def _paths(folder: Folder, *places: str) -> dict[str, str]:
    """The files of reports and proposals by their names, which begin with the time: oldest first."""
    paths = (path for place in places or FOLDERS for path in folder.walk(place, suffix=".json"))
    names = {path.rpartition("/")[2].removesuffix(".json"): path for path in paths}
    return dict(sorted(names.items(), key=lambda one: (one[0][:_TIME], len(one[0]), one[0])))


def _read(folder: Folder, path: str) -> list[JobReport]:
    report = decode_report(folder.read(path) or b"")
    return [report] if report else []


def encode_report(report: JobReport) -> bytes:
    """The file of a report."""
    content = {
        "version": 1,
        **{name: getattr(report, name) for name in _PLAIN},
        "created": encode_time(report.created),
        "seconds": round(report.seconds, 4),
        "changes": [_encode_change(change) for change in report.changes],
        "read": {path: [seen.size, seen.digest] for path, seen in report.read.items()},
    }
    return json.dumps(content, indent=1, default=dict).encode() + b"\n"


def decode_report(data: bytes) -> JobReport | None:
    """The report a file holds; None when it is not one of ours."""
    try:
        content = json.loads(data.decode())
        report = JobReport(
            **{name: _as_kept(content[name]) for name in _PLAIN},
            created=parse_time(content["created"], "created"),
            seconds=float(content["seconds"]),
            changes=tuple(_decode_change(change) for change in content["changes"]),
            read={path: Snapped(*seen) for path, seen in content.get("read", {}).items()},
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordFormatError):
        return None
    is_ours = report.status in _STATUSES and isinstance(report.id, str)
    return report if is_ours and isinstance(report.job, str) else None


def _as_kept(value: object) -> Any:
    return tuple(map(str, value)) if isinstance(value, list) else value


def _encode_change(change: Change) -> dict[str, object]:
    return {
        "path": change.path,
        "created": change.created,
        "before": [change.before.size, change.before.digest],
        "after": [change.after.size, change.after.digest],
        "hunks": [
            [hunk.line, hunk.removed.decode(*_BYTES), hunk.inserted.decode(*_BYTES)]
            for hunk in change.hunks
        ],
        "kept": [marks.hex() for marks in change.kept],
    }


def _decode_change(content: Mapping[str, Any]) -> Change:
    return Change(
        path=str(content["path"]),
        created=bool(content["created"]),
        before=Snapped(*content["before"]),
        after=Snapped(*content["after"]),
        hunks=tuple(
            Hunk(line=int(line), removed=old.encode(*_BYTES), inserted=new.encode(*_BYTES))
            for line, old, new in content["hunks"]
        ),
        kept=tuple(map(bytes.fromhex, content["kept"])),
    )


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


def _is_damaged(data: bytes | None) -> bool:
    return bool(data) and not _read_undone(data) and (data or b"").strip() != b"{}"


def note_undone(transaction: Transaction, job: str, names: Iterable[str]) -> None:
    """Remember what a job covered that is undone or declined, as a step of the transaction."""
    data = transaction.folder.read(UNDONE)
    known = _read_undone(data)
    if covered := list(dict.fromkeys((*known.get(job, ()), *names))):
        if _is_damaged(data):  # it may be mended by hand: what we cannot read is not ours to delete
            aside = f"{UNDONE}.damaged"
            transaction.replace(aside, data or b"", transaction.folder.stamp(aside))
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
