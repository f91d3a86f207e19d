"""Changes to files, shown as a unified diff."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from memolith.files import layout
from memolith.files.document import Document
from memolith.files.ledger import NO_MARKS, Ledger
from memolith.files.passages import secret_lines
from memolith.jobs.changes import split_lines
from memolith.jobs.reports import Change
from memolith.text.wording import HIDDEN


def diff(
    changes: Iterable[Change], *, include_secret: bool = False, ledger: Ledger = NO_MARKS
) -> str:
    """The changes as a unified diff without context; a line stands for each secret record.

    What people read comes first, archives last. `ledger` is that of the files they are in.
    """
    return "".join(
        f"{line[0]}{HIDDEN}\n" if not include_secret and _is_secret_row(line, ledger) else line
        for change in sorted(changes, key=lambda one: one.path.startswith(layout.ARCHIVE_FOLDER))
        for line in _diff_lines(change)
    )


def changed_lines(changes: Iterable[Change]) -> Document:
    """All lines that come or go."""
    hunks = [hunk for change in changes for hunk in change.hunks]
    pieces = (data for hunk in hunks for data in (hunk.removed, hunk.inserted) if data)
    return Document.parse("", b"".join(data.removesuffix(b"\n") + b"\n" for data in pieces))


def _is_secret_row(row: str, ledger: Ledger) -> bool:
    return is_secret_line(row[1:].encode(errors="surrogateescape"), ledger)


def is_secret_line(line: bytes, ledger: Ledger) -> bool:
    """Whether a line is a secret record, or tells one of these again; prose of people is neither."""
    document = Document.parse("", line)
    is_ours = any(one.data.startswith(b"- ") or one.looks_like_record for one in document.lines)
    return is_ours and bool(secret_lines(document, ledger))


def _diff_lines(change: Change) -> Iterator[str]:
    yield f"--- {'/dev/null' if change.created else change.path}\n+++ {change.path}\n"
    shift = 0
    for hunk in change.hunks:
        old, new = split_lines(hunk.removed), split_lines(hunk.inserted)
        left = f"{hunk.line + bool(old)},{len(old)}"
        right = f"{hunk.line + shift + bool(new)},{len(new)}"
        yield f"@@ -{left} +{right} @@\n"
        shift += len(new) - len(old)
        for mark, lines in (("-", old), ("+", new)):
            for line in lines:
                yield mark + line.decode(errors="backslashreplace").removesuffix("\n") + "\n"
                if not line.endswith(b"\n"):
                    yield "\\ No newline at end of file\n"
