"""What somebody took back or declined: a schedule does not do it again; asked by hand, a job does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping

from memolith.files.document import Document
from memolith.files.ledger import digest
from memolith.files.locks import STATE_FOLDER
from memolith.files.promoted import blocks
from memolith.files.transaction import Transaction
from memolith.jobs import long_memory
from memolith.jobs.changes import split_lines
from memolith.jobs.compact_plan import record_lines, short
from memolith.jobs.reports import Hunk, JobReport

UNDONE = f"{STATE_FOLDER}/undone.json"
_MOST = 200_000  # of each job, the newest


def undone_by(data: bytes | None, job: str) -> frozenset[str]:
    """What this job did and somebody took back: ids of records, of a dream claims."""
    return frozenset(_read(data).get(job, ()))


def is_damaged(data: bytes | None) -> bool:
    """Whether the file cannot be read: then schedules may do again what was undone."""
    return bool(data) and not _read(data) and (data or b"").strip() != b"{}"


def note_undone(transaction: Transaction, report: JobReport) -> None:
    """Remember what a job covered that is undone or declined, as a step of the transaction."""
    data = transaction.folder.read(UNDONE)
    known = _read(data)
    names = list(dict.fromkeys((*known.get(report.job, ()), *covered_names(report))))
    if names:
        if is_damaged(data):  # it may be mended by hand: what we cannot read is not ours to delete
            aside = f"{UNDONE}.damaged"
            transaction.replace(aside, data or b"", transaction.folder.stamp(aside))
        content = {"version": 1, **known, report.job: names[-_MOST:]}
        stamp = transaction.folder.stamp(UNDONE)
        transaction.replace(UNDONE, json.dumps(content).encode() + b"\n", stamp)


def covered_names(report: JobReport) -> Iterator[str]:
    """The names of what a job was about; of others than these three nothing is remembered."""
    named = _NAMED.get(report.job)
    if named is not None:
        for change in report.changes:
            for hunk in change.hunks:
                yield from named(change.path, hunk)


def _compacted(_: str, hunk: Hunk) -> Iterator[str]:
    """The records, and the months of the long memory, that went into summaries."""
    yield from (short(line.record.id) for line in record_lines(hunk.removed))
    yield from map(long_memory.name_of, long_memory.LongMemory.parse(hunk.removed).blocks)


def _taken_in(path: str, hunk: Hunk) -> Iterator[str]:
    """The records of which experiences were made."""
    for _, record in Document.parse(path, hunk.inserted).records():
        source = record.metadata.get("source")
        if isinstance(source, str):
            yield source


def _promoted(_: str, hunk: Hunk) -> Iterator[str]:
    """The claims that a dream wrote into MEMORY.md."""
    for block in blocks(split_lines(hunk.inserted)):
        yield from (fact.claim for fact in block.facts)


def _flushed(path: str, hunk: Hunk) -> Iterator[str]:
    """The digests of the texts that were saved of a chat."""
    yield from (digest(record.text) for _, record in Document.parse(path, hunk.inserted).records())


_NAMED: Mapping[str, Callable[[str, Hunk], Iterator[str]]] = {
    "compact": _compacted,
    "experiences": _taken_in,
    "dream": _promoted,
    "flush": _flushed,
}


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
