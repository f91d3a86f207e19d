"""Changes as a person reads the files: records by their texts, archives in one line.

`diffs.diff` is exact to the byte; this is what one wants to see before saying yes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memolith.files import layout
from memolith.files.ledger import NO_MARKS, Ledger
from memolith.files.record_format import readable_record
from memolith.jobs import long_memory
from memolith.jobs.changes import split_lines
from memolith.jobs.diffs import is_secret_line
from memolith.jobs.reports import Change
from memolith.text.wording import HIDDEN, counted

_MOST_LINES = 12  # of one stretch that goes; of what comes, every line is shown
_LONGEST = 110


def readable_diff(changes: Iterable[Change], ledger: Ledger = NO_MARKS) -> Iterator[str]:
    """The lines to print; what people read comes first, archives last.

    `ledger` is that of the files they are in.
    """
    for change in sorted(changes, key=_is_archive):
        if _is_archive(change):
            lines = [line for hunk in change.hunks for line in split_lines(hunk.inserted)]
            known = sum(readable_record(line) is not None for line in lines)
            months = len(long_memory.LongMemory.parse(b"".join(lines)).blocks)
            what = counted(months, "month") if months and not known else counted(known, "record")
            yield f"{change.path}: {what} added, word for word"
            continue
        yield f"{change.path}:"
        for hunk in change.hunks:
            gone = [row for line in split_lines(hunk.removed) for row in _rows(line, ledger)]
            yield from (f"- {row}" for row in gone[:_MOST_LINES])
            if len(gone) > _MOST_LINES:
                yield f"- … and {counted(len(gone) - _MOST_LINES, 'line')} more"
            for line in split_lines(hunk.inserted):
                yield from (f"+ {row}" for row in _rows(line, ledger))


def _is_archive(change: Change) -> bool:
    return change.path.startswith(f"{layout.ARCHIVE_FOLDER}/")


def _rows(line: bytes, ledger: Ledger) -> Iterator[str]:
    """A line as it is read: of a record its day, category and text; of a summary what is not secret by now."""
    record = readable_record(line)
    is_summary = record is not None and record.category == "compaction"
    is_hidden = record is not None and (
        record.sensitivity == "secret" or record.id in ledger.secret
    )
    if is_hidden or (not is_summary and is_secret_line(line, ledger)):
        yield HIDDEN
    elif record is None:
        yield line.decode(errors="backslashreplace").rstrip("\r\n")
    else:
        first, *more = ledger.without_secrets(record).text.split("\n")
        yield _cut(f"{record.created.date().isoformat()} {record.category}: {first}")
        yield from (_cut(f"  {row}") for row in more)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST].rstrip()} …"
