"""The jobs that ran: reports with their changes, proposals that wait, and what the user rejected."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import get_args

from memolith.errors import JobNotFoundError, MemolithError
from memolith.files import atomic_write, layout
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import RecordFormatError, encode_time, parse_time
from memolith.files.transaction import Transaction
from memolith.jobs.changes import split_lines
from memolith.jobs.reports import Change, Hunk, JobReport, JobStatus, Snapped

LineCleaner = Callable[[str, bytes], bytes]  # path, lines
Covered = Callable[[str, Hunk], Iterable[str]]  # what a change to a path was about, by names

UNDONE = f"{STATE_FOLDER}/undone.json"
_MOST_UNDONE = 200_000  # of each job, the newest

FOLDERS = (layout.JOBS_FOLDER, layout.PROPOSALS_FOLDER)
_STATUSES: tuple[JobStatus, ...] = get_args(JobStatus)
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
    paths = _kept_names(folder).values()
    return sorted((report for path in paths for report in _read(folder, path)), key=_by_age)


def newer_jobs(folder: Folder, report: JobReport) -> list[JobReport]:
    """Those that ran after this one."""
    return [one for one in kept_jobs(folder) if _by_age(one) > _by_age(report)]


def damage_messages(folder: Folder) -> tuple[str, ...]:
    """A sentence for each file of the history that cannot be read: a job that vanishes cannot be undone."""
    found = [
        f"{path} is damaged: {_UNREADABLE[path.startswith(layout.PROPOSALS_FOLDER)]}"
        for path in sorted(_kept_names(folder).values())
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
    names = _kept_names(folder)
    matches = [job_id] if job_id in names else [name for name in names if name.startswith(job_id)]
    jobs = [report for name in matches if job_id for report in _read(folder, names[name])]
    if job_id == "last":
        jobs = _last(folder, names, status)
    if len(jobs) == 1:
        return jobs[0]
    if len(matches) == 1 and job_id and not jobs:
        raise _damaged(
            names[matches[0]],
            matches[0],
            "Put a copy of it back; files as they stood are among: memolith restore --list",
        )
    what = f"{len(jobs)} jobs have ids that start with" if jobs else "No job has the id"
    reason = f"{what} {job_id!r}."
    if job_id == "last":
        reason = _NO_LAST.get(status, "No job has changed anything yet.")
    raise JobNotFoundError(reason, name=job_id, hint="List them with: memolith jobs list")


def _last(folder: Folder, names: dict[str, str], status: JobStatus | None) -> list[JobReport]:
    """The newest with this status, if any; an older one is never taken for one that is damaged."""
    read = {name: _read(folder, path) for name, path in names.items()}
    reports = (report for found in read.values() for report in found)
    jobs = sorted((one for one in reports if status in (None, one.status)), key=_by_age)[-1:]
    newest = (jobs[0].id or "")[:_TIME] if jobs else ""
    place = layout.PROPOSALS_FOLDER if status == "proposed" else layout.JOBS_FOLDER
    for name, path in sorted(names.items(), reverse=True):
        meant = status is None or path.startswith(f"{place}/")
        if meant and not read[name] and name[:1].isdigit() and name[:_TIME] >= newest:
            raise _damaged(
                path,
                name,
                "It may be the last one: name the job you mean by its id, of: memolith jobs list;"
                " or put a copy of the file back, or delete it.",
            )
    return jobs


def _damaged(path: str, name: str, hint: str) -> JobNotFoundError:
    told = f"{path} is damaged, so the job {name} can be neither shown nor undone."
    return JobNotFoundError(told, name=name, hint=hint)


def waiting_proposal(folder: Folder, job: str) -> JobReport | None:
    """The proposal of this kind of job that waits for approval: there is one at most."""
    paths = folder.walk(layout.PROPOSALS_FOLDER, suffix=".json")
    waiting = (report for path in paths for report in _read(folder, path))
    return next((report for report in waiting if report.job == job), None)


def prune_jobs(folder: Folder) -> None:
    """Delete the oldest reports beyond the limit; proposals stay. Housekeeping, so it may fail."""
    with suppress(OSError, MemolithError):
        paths = list(folder.walk(layout.JOBS_FOLDER, suffix=".json"))
        if len(paths) > MAX_REPORTS:
            reports = sorted(
                (report for path in paths for report in _read(folder, path)), key=_by_age
            )
            for report in reports[:-MAX_REPORTS]:
                atomic_write.remove(folder, job_path(report))


def _kept_names(folder: Folder) -> dict[str, str]:
    paths = (path for place in FOLDERS for path in folder.walk(place, suffix=".json"))
    return {path.rpartition("/")[2].removesuffix(".json"): path for path in paths}


def _read(folder: Folder, path: str) -> list[JobReport]:
    report = decode_report(folder.read(path) or b"")
    return [report] if report else []


def _by_age(report: JobReport) -> tuple[datetime, int, str]:
    name = report.id or ""
    return report.created, len(name), name


def encode_report(report: JobReport) -> bytes:
    """The file of a report."""
    content = {
        "version": 1,
        "id": report.id,
        "job": report.job,
        "status": report.status,
        "created": encode_time(report.created),
        "reason": report.reason,
        "lines": list(report.lines),
        "counts": dict(report.counts),
        "warnings": list(report.warnings),
        "backup": report.backup,
        "seconds": round(report.seconds, 4),
        "settings": dict(report.settings),
        "changes": [_encode_change(change) for change in report.changes],
    }
    return json.dumps(content, indent=1).encode() + b"\n"


def decode_report(data: bytes) -> JobReport | None:
    """The report a file holds; None when it is not one of ours."""
    try:
        content = json.loads(data.decode())
        match content:
            case {
                "id": str(job_id),
                "job": str(job),
                "status": str(status),
                "created": str(created),
                "reason": str() | None as reason,
                "changes": list(changes),
            } if status in _STATUSES:
                return JobReport(
                    id=job_id,
                    job=job,
                    status=next(known for known in _STATUSES if known == status),
                    created=parse_time(created, "created"),
                    reason=reason,
                    lines=tuple(str(line) for line in content.get("lines", ())),
                    counts={str(key): int(n) for key, n in content.get("counts", {}).items()},
                    warnings=tuple(str(line) for line in content.get("warnings", ())),
                    backup=content.get("backup") or None,
                    seconds=float(content.get("seconds", 0)),
                    settings={str(key): str(v) for key, v in content.get("settings", {}).items()},
                    changes=tuple(_decode_change(change) for change in changes),
                )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, RecordFormatError):
        pass
    return None


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


def _decode_change(content: dict[str, object]) -> Change:
    match content:
        case {
            "path": str(path),
            "created": bool(created),
            "before": [int(size_before), str(digest_before)],
            "after": [int(size_after), str(digest_after)],
            "hunks": list(hunks),
        }:
            return Change(
                path=path,
                created=created,
                before=Snapped(size_before, digest_before),
                after=Snapped(size_after, digest_after),
                hunks=tuple(_decode_hunk(hunk) for hunk in hunks),
                kept=_decode_kept(content.get("kept")),
            )
    raise ValueError("not a change")


def _decode_kept(content: object) -> tuple[bytes, ...]:
    """None in a report of before they were kept: such a job is undone while its files are as it left them."""
    return tuple(bytes.fromhex(marks) for marks in content) if isinstance(content, list) else ()


def _decode_hunk(content: list[object]) -> Hunk:
    match content:
        case [int(line), str(removed), str(inserted), *_]:
            return Hunk(
                line=line,
                removed=removed.encode(*_BYTES),
                inserted=inserted.encode(*_BYTES),
            )
    raise ValueError("not a hunk")


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


def undone_by(data: bytes | None, job: str) -> frozenset[str]:
    """What this job did and somebody took back: ids of records, of a dream claims."""
    return frozenset(_read_undone(data).get(job, ()))


def _is_damaged(data: bytes | None) -> bool:
    return bool(data) and not _read_undone(data) and (data or b"").strip() != b"{}"


def note_undone(
    transaction: Transaction, report: JobReport, covered: Mapping[str, Covered]
) -> None:
    """Remember what a job covered that is undone or declined, as a step of the transaction."""
    data = transaction.folder.read(UNDONE)
    known = _read_undone(data)
    names = dict.fromkeys(known.get(report.job, ()))
    if named := covered.get(report.job):
        for change in report.changes:
            for hunk in change.hunks:
                names.update(dict.fromkeys(named(change.path, hunk)))
    if names:
        if _is_damaged(data):  # it may be mended by hand: what we cannot read is not ours to delete
            aside = f"{UNDONE}.damaged"
            transaction.replace(aside, data or b"", transaction.folder.stamp(aside))
        content = {"version": 1, **known, report.job: list(names)[-_MOST_UNDONE:]}
        stamp = transaction.folder.stamp(UNDONE)
        transaction.replace(UNDONE, json.dumps(content).encode() + b"\n", stamp)


def _read_undone(data: bytes | None) -> dict[str, list[str]]:
    """What a file says; what cannot be read counts as nothing."""
    try:
        content = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    return {
        job: [name for name in names if isinstance(name, str)]
        for job, names in content.items()
        if isinstance(names, list)
    }
