"""Changes to files as a person reads them: records by their texts, archives in one line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memolith.files.document import Document
from memolith.files.folder import Folder
from memolith.files.ledger import NO_MARKS, Ledger
from memolith.files.passages import ledger_for, secret_lines
from memolith.files.record_format import readable_record
from memolith.jobs import long_memory
from memolith.jobs.changes import split_lines
from memolith.jobs.reports import Change, Hunk
from memolith.text.wording import HIDDEN, counted
from memolith.types import Record


def diff(
    changes: Iterable[Change], *, include_secret: bool = False, ledger: Ledger = NO_MARKS
) -> Iterator[str]:
    """Lines that begin with `-` where text goes, `+` where it comes, `~` where only its marks change.

    Secret records are placeholder lines, unless asked for. Files that people read come first,
    archives last. `ledger` is that of the files they are in.
    """
    for change in sorted(changes, key=lambda one: one.archive):
        if change.archive:
            yield f"{change.path}: {_archived(change)} added, word for word"
            continue
        yield f"{change.path}:"
        for hunk in change.hunks:
            yield from _hunk(hunk, ledger, include_secret=include_secret)


def diff_of(folder: Folder, changes: Sequence[Change], *, include_secret: bool) -> str:
    """The same, as a text, for files of this folder."""
    hunks = [hunk for change in changes for hunk in change.hunks]
    pieces = (data for hunk in hunks for data in (hunk.removed, hunk.inserted) if data)
    changed = Document.parse("", b"".join(data.removesuffix(b"\n") + b"\n" for data in pieces))
    ledger = ledger_for(folder, changed.lines)
    return "\n".join(diff(changes, include_secret=include_secret, ledger=ledger))


def _archived(change: Change) -> str:
    lines = [line for hunk in change.hunks for line in split_lines(hunk.inserted)]
    records = sum(readable_record(line) is not None for line in lines)
    months = len(long_memory.LongMemory.parse(b"".join(lines)).blocks)
    return counted(months, "month") if months and not records else counted(records, "record")


def _hunk(hunk: Hunk, ledger: Ledger, *, include_secret: bool) -> Iterator[str]:
    old, new = split_lines(hunk.removed), split_lines(hunk.inserted)
    before, after = _by_id(old), _by_id(new)
    marked = {
        name: marks
        for name in before.keys() & after.keys()
        if (marks := _changed_marks(before[name], after[name]))
    }
    for sign, lines in (("-", old), ("+", new)):
        for line in lines:
            record = readable_record(line)
            marks = marked.get(record.id, "") if record else ""
            if marks and sign == "-":
                continue
            rows = list(_rows(line, record, ledger, include_secret=include_secret))
            yield from (f"{'~' if marks else sign} {row}".rstrip() for row in rows)
            if marks and rows != [HIDDEN]:
                yield f"~   {marks}"


def _by_id(lines: Iterable[bytes]) -> dict[str, Record]:
    return {record.id: record for line in lines if (record := readable_record(line)) is not None}


def _changed_marks(old: Record, new: Record) -> str:
    """What differs between two versions of a record with the same text."""
    if old.text != new.text:
        return ""
    before, after = _marks(old), _marks(new)
    return ", ".join(
        f"{name}: {before[name]} → {after[name]}" for name in before if before[name] != after[name]
    )


def _marks(record: Record) -> dict[str, str]:
    marks = {
        **record.provenance.to_dict(),
        "category": record.category,
        "keywords": " ".join(record.keywords),
        "expires": record.expires,
        "supersedes": record.supersedes,
        "metadata": dict(record.metadata) or None,
    }
    return {name: str(value or "none") for name, value in marks.items()}


def _rows(
    line: bytes, record: Record | None, ledger: Ledger, *, include_secret: bool
) -> Iterator[str]:
    """A line as it is read: of a record its day, category and text; of a summary what is not secret."""
    if not include_secret and _is_hidden(line, record, ledger):
        yield HIDDEN
    elif record is None:
        yield line.decode(errors="backslashreplace").rstrip("\r\n")
    else:
        shown = record if include_secret else ledger.without_secrets(record)
        first, *more = shown.text.split("\n")
        yield f"{record.created.date().isoformat()} {record.category}: {first}"
        yield from (f"  {row}" for row in more)


def _is_hidden(line: bytes, record: Record | None, ledger: Ledger) -> bool:
    """Whether a line is a secret record, or repeats one; prose of people is neither."""
    if record is not None and (record.sensitivity == "secret" or record.id in ledger.secret):
        return True
    if record is not None and record.category == "compaction":
        return False  # shown without its secret lines
    document = Document.parse("", line)
    is_ours = any(one.data.startswith(b"- ") or one.looks_like_record for one in document.lines)
    return is_ours and bool(secret_lines(document, ledger))
