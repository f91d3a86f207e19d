"""What somebody took back or declined: a schedule does not do it again; asked by hand, a job does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memolith.files import long_memory
from memolith.files.document import Document
from memolith.files.locks import STATE_FOLDER
from memolith.files.promoted import blocks
from memolith.jobs.changes import split_lines
from memolith.jobs.covered import short
from memolith.jobs.heads import heads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.files.transaction import Transaction
    from memolith.reports import JobReport

UNDONE = f"{STATE_FOLDER}/undone.json"
_MOST = 200_000  # of each job, the newest


def undone_by(data: bytes | None, job: str) -> frozenset[str]:
    """What this job did and somebody took back: ids of records, of a dream claims."""
    return frozenset(_read(data).get(job, ()))


def note_undone(transaction: Transaction, report: JobReport) -> None:
    """Remember what a job covered that is undone or declined, as a step of the transaction."""
    data = transaction.folder.read(UNDONE)
    known = _read(data)
    names = list(dict.fromkeys((*known.get(report.job, ()), *_covered(report))))
    if names:
        content = {"version": 1, **known, report.job: names[-_MOST:]}
        stamp = transaction.folder.stamp(UNDONE)
        transaction.replace(UNDONE, json.dumps(content).encode() + b"\n", stamp)


def _covered(report: JobReport) -> Iterator[str]:
    for change in report.changes:
        for hunk in change.hunks:
            if report.job == "compact":
                yield from (short(head.id) for head in heads(hunk.removed))
                yield from _months(change.path, hunk.removed)
            elif report.job == "experiences":
                yield from _sources(change.path, hunk.inserted)
            elif report.job == "dream":
                found = blocks(split_lines(hunk.inserted))
                yield from (fact.claim for block in found for fact in block.facts)


def _months(path: str, lines: bytes) -> Iterator[str]:
    if path == long_memory.PATH:
        yield from map(long_memory.name_of, long_memory.LongMemory.parse(lines).blocks)


def _sources(path: str, lines: bytes) -> Iterator[str]:
    for _, record in Document.parse(path, lines).records():
        source = record.metadata.get("source")
        if isinstance(source, str):
            yield source


def _read(data: bytes | None) -> dict[str, list[str]]:
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
