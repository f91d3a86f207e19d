"""The part of a memory file that a session start looks at: it never grows with the file.

New records stand at the end, so the end is read whole. Of a much larger stretch before it only the
lines of protected categories are read, and of the beginning what a person wrote above the records.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, takewhile

from memolith.files.document import Document
from memolith.files.folder import Folder, our_errors
from memolith.files.front_matter import is_broken_secret
from memolith.files.layout import template_lines
from memolith.files.ledger import secret_ids
from memolith.files.record_format import (
    BOM,
    claims_to_be_record,
    is_utf16,
    not_utf8,
    readable_record,
)
from memolith.text.wording import HIDDEN
from memolith.types import PROTECTED, Record

_HEAD = 32_768
_HEADER = 16_384  # as long as the front matter of a note may be
_FAR = _MAX_BYTES = 1_048_576
# Bytes of the far part from which one protected record is taken: more would not fit anyway.
_BYTES_FOR_ONE = 1024
_PROTECTED = re.compile(f'"category":"(?:{"|".join(PROTECTED)})"'.encode())


@dataclass(slots=True)
class Window:
    """What was read of one file, in file order."""

    records: list[Record] = field(default_factory=list)
    secret: set[str] = field(default_factory=set)  # ids of secret records
    prose: list[str] = field(default_factory=list)  # paragraphs
    unread: int = 0  # lines that were not looked at; of a very large file an estimate


def read_window(
    folder: Folder, path: str, max_bytes: int, is_enough: Callable[[Window], bool] = lambda _: True
) -> Window:
    """Look at the end of a file, at more of it while that is not enough; one that does not exist is empty."""
    head, data, before = b"", b"", 0
    with our_errors(path), suppress(FileNotFoundError), folder.opened(path, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        before = max(0, size - max_bytes - _FAR)
        head = os.pread(fd, _HEAD, 0)
        data = os.pread(fd, size - before, before)
    if is_utf16(head):
        raise not_utf8(path, "it cannot be read")
    if not data or is_broken_secret(head[:_HEADER]):
        return Window()
    window = _look(head, data, before, max_bytes)
    while window.unread and not is_enough(window) and max_bytes <= _MAX_BYTES:
        max_bytes *= 2
        window = _look(head, data, before, max_bytes)
    return window


def _look(head: bytes, data: bytes, before: int, max_bytes: int) -> Window:
    """What is in the head of a file and in the data behind so many bytes, of which the end is read whole."""
    window = Window()
    start = max(0, len(data) - max_bytes)
    if before + start:
        # A line that is cut might be anything, also a secret: of one longer than this, nothing.
        end = data.find(b"\n", start) + 1 or len(data)
        above = _above_records(head[: before + end])
        _read_lines(_without_template(above), window, whole=True)
        far = data[max(0, len(above) - before) : end]
        _read_far(far, max(0, before - len(above)), window, max_bytes)
        _read_lines(data[end:], window, whole=False)
    else:
        _read_lines(_without_template(data), window, whole=True)
    window.secret.update(one.id for one in window.records if one.sensitivity == "secret")
    return window


def _without_template(data: bytes) -> bytes:
    """Without the lines at the top that are ours and not the user's."""
    data = data.removeprefix(BOM)
    return data.split(b"\n", template_lines(data))[-1]


def _above_records(head: bytes) -> bytes:
    lines = Document.parse("", head[: head.rfind(b"\n") + 1]).lines
    above = takewhile(lambda line: not line.looks_like_record, lines)
    return b"".join(line.data for line in above)


def _read_far(far: bytes, before: int, window: Window, max_bytes: int) -> None:
    """The newest records of protected categories, without parsing others but secrets.

    Lines in the bytes before it are taken to be as long as those in it.
    """
    window.secret.update(secret_ids(far))
    protected = (line for line in reversed(far.split(b"\n")) if _PROTECTED.search(line))
    newest = map(readable_record, islice(protected, max_bytes // _BYTES_FOR_ONE))
    window.records += reversed([record for record in newest if record])
    lines = far.count(b"\n")
    window.unread = max(0, lines + before * lines // max(1, len(far)) - len(window.records))


def _read_lines(data: bytes, window: Window, *, whole: bool) -> None:
    """Read records and prose; in the middle of a file nobody knows where a code fence begins."""
    prose = list[bytes]()
    for line in Document.parse("", data).lines:
        record = None if whole and line.fenced else readable_record(line.data)
        if record:
            window.records.append(record)
        # A record that is broken may have been meant to be secret.
        elif not claims_to_be_record(line.data) and line.data.strip() != HIDDEN.encode():
            prose.append(line.data)
    window.prose += _paragraphs(prose)


def _paragraphs(lines: Sequence[bytes]) -> list[str]:
    texts = (line.decode(errors="replace").rstrip() for line in lines)
    text = "\n".join("" if text == "---" else text for text in texts).strip("\n")
    return re.split(r"\n{2,}", text) if text else []
