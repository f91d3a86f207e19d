"""What of a job's text no longer holds: what it tells was said by records, and those may have changed since.

A proposal waits, or texts are being written, and meanwhile a record is made secret, edited, superseded or
forgotten. Each text that would be written is looked for at its source again; nothing here names a text, for
it may be a secret by now.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from memolith.errors import FileChangedError
from memolith.files import layout
from memolith.files.document import Document
from memolith.files.ledger import digest, source_of
from memolith.files.promoted import blocks
from memolith.interfaces import Statement
from memolith.jobs.changes import split_lines
from memolith.jobs.dreaming.sources import Sources
from memolith.jobs.experiences import candidates
from memolith.jobs.job import Snapshot, Workplace
from memolith.jobs.planned_with import config_planned_with
from memolith.jobs.reports import JobReport
from memolith.jobs.summaries import still_open, still_true
from memolith.jobs.trim import plan_trim
from memolith.text.pieces import claim_key
from memolith.text.promoted_line import TRAILER, read_promoted
from memolith.text.summary_line import read_line
from memolith.types import Record


def check_holds(report: JobReport, snapshot: Snapshot, place: Workplace) -> None:
    """Raise FileChangedError if something that would be told does not hold any more, or must not be told."""
    if gone := outdated(report, snapshot, place):
        what = f"the proposal {report.id}" if report.id else f"the job {report.job}"
        more = f"; and {len(gone) - 1:,} more" if len(gone) > 1 else ""
        raise FileChangedError(
            f"What {what} would write does not hold any more ({gone[0]}{more}). Nothing was changed.",
            path=report.changes[-1].path,
        )


def outdated(report: JobReport, snapshot: Snapshot, place: Workplace) -> list[str]:
    """Where something stood that would be told and does not hold any more, each with the reason."""
    if report.job == "dream":
        return list(_promoted(report, snapshot, place))
    if report.job == "experiences":
        return list(_taken_in(report, snapshot, place))
    if report.job == "compact":
        return list(_summarised(report, snapshot, place))
    return list(_moved(report, snapshot, place)) if report.job == "trim" else []


def _promoted(report: JobReport, snapshot: Snapshot, place: Workplace) -> Iterator[str]:
    sources = Sources(snapshot, place)
    memory = split_lines(snapshot.read(place.config.profile.primary) or b"")
    standing = {fact.claim for block in blocks(memory) for fact in block.facts}
    for _, line in _lines(report, "inserted"):
        text = line.decode(errors="replace")
        fact = read_promoted(text) if TRAILER in text else None
        if fact is not None:
            found = sources.look_up(fact)
            if claim_key(fact.text) in standing:
                yield f"{fact.source}: it is in MEMORY.md already"
            elif isinstance(found, str):
                yield f"{fact.source}: {found}"
            elif found.said_by != fact.said_by:
                yield f"{fact.source}: somebody else said it"


def _taken_in(report: JobReport, snapshot: Snapshot, place: Workplace) -> Iterator[str]:
    path = report.changes[-1].path  # the archive comes before it
    new = [record for file, record in _records(report, "inserted") if file == path]
    sources = {source_of(record) for record in new}
    paths = [*snapshot.files(), layout.CONVERSATIONS]
    external, now = place.config.trust.external, place.clock.now()
    found = (
        {
            (source_of(one), one.text): one
            for one in candidates(snapshot, paths, now, external, sources)
        }
        if new
        else {}
    )
    forgotten = snapshot.forgotten()
    stored = Document.parse(path, snapshot.read(path) or b"")
    known = {source_of(record) for _, record in stored.records()}
    for record in new:
        source = source_of(record)
        one = found.get((source, record.text))
        if source in known:
            yield f"{source}: it was added already"
        elif one is None or one.provenance != record.provenance or digest(record.text) in forgotten:
            yield f"{source}: it does not say this any more, or must not be told"


def _summarised(report: JobReport, snapshot: Snapshot, place: Workplace) -> Iterator[str]:
    told = list(dict.fromkeys(_told(report)))
    now = place.clock.now()
    dated = (record for _, record in _records(report, "removed", b"expires"))
    expired = {record.id for record in dated if record.expires and record.expires <= now}
    gone = {*snapshot.ledger().replaced, *expired}
    held = set(still_true(told, gone))
    shown = set(still_open(held, snapshot.ledger().secret))
    for one in told:
        if one not in held:
            yield f"{', '.join(one.ids)}: a newer record has taken its place, or it has expired"
        elif one not in shown:
            yield f"{', '.join(one.ids)}: it is secret"


def _moved(report: JobReport, snapshot: Snapshot, place: Workplace) -> Iterator[str]:
    """A trim takes the oldest; what was appended since is newer than all that goes."""
    path = place.config.profile.primary
    document = Document.parse(path, snapshot.read(path) or b"")
    going = {line for where, line in _lines(report, "removed") if where == path}
    last = max((line.number for line in document.lines if line.data in going), default=0)
    waited = report.status == "proposed"
    config = config_planned_with(report.settings) if waited else place.config
    anew = plan_trim(document, config.trim).archived
    if any(line.number < last and line.data not in going for line in anew):
        yield f"{path}: other records are the oldest now"


def _told(report: JobReport) -> Iterator[Statement]:
    """What summaries and the long memory would tell that they do not tell yet."""
    before = {line.strip() for _, line in _lines(report, "removed")}
    for path, line in _lines(report, "inserted"):
        if path.startswith(layout.ARCHIVE_FOLDER):
            continue
        if b"compaction" in line:
            for _, record in Document.parse(path, line).records():
                if record.category == "compaction":
                    yield from _statements(record.text)
        if line.strip() not in before:
            yield from _statements(line.decode(errors="replace"))


def _statements(text: str) -> Iterator[Statement]:
    """The lines of a summary. Records that are only counted stay among the ids: they may hold."""
    for line in text.split("\n"):
        if found := read_line(line.strip()):
            yield Statement(day=found.day, text=found.text, ids=found.names)


def _records(
    report: JobReport, side: Literal["removed", "inserted"], word: bytes = b""
) -> Iterator[tuple[str, Record]]:
    """The records that go or come; of many lines, only those with a word are parsed."""
    for path, line in _lines(report, side):
        if word in line:
            yield from ((path, record) for _, record in Document.parse(path, line).records())


def _lines(report: JobReport, side: Literal["removed", "inserted"]) -> Iterator[tuple[str, bytes]]:
    """The lines that go or come, each with its file."""
    for change in report.changes:
        for hunk in change.hunks:
            data = hunk.removed if side == "removed" else hunk.inserted
            yield from ((change.path, line) for line in split_lines(data))
