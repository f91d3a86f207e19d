"""The part of a memory file that a session start looks at: it never grows with the file.

New records are at the end, so it is read from there, as far as it fills the budget. Of a stretch before it
only the records of protected categories are read, and of the beginning what a person wrote above the records.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice, takewhile

from memolith.files.document import fenced_lines
from memolith.files.folder import Folder, our_errors
from memolith.files.front_matter import is_broken_secret
from memolith.files.layout import template_lines
from memolith.files.ledger import secret_ids
from memolith.files.record_format import (
    BOM,
    claims_to_be_record,
    is_utf16,
    json_part,
    not_utf8,
    readable_record,
)
from memolith.text.wording import HIDDEN
from memolith.types import PROTECTED, Record

_HEAD = 32_768
_HEADER = 16_384  # as long as the front matter of a note may be
_MAX_BYTES = 1_250_000
# For each stretch of this many characters one protected record of the rest is read: more would not fit anyway.
_CHARS_FOR_ONE = 400
_STAND_IN = HIDDEN.encode()
_PROTECTED = re.compile(f'"category":"(?:{"|".join(PROTECTED)})"'.encode())


@dataclass(slots=True)
class Window:
    """What was read of one file, in file order."""

    records: list[Record] = field(default_factory=list)
    secret: set[str] = field(default_factory=set)  # ids of secret records
    prose: list[str] = field(default_factory=list)  # paragraphs
    unread: int = 0  # lines that were not looked at; of a very large file an estimate


def read_window(
    folder: Folder,
    path: str,
    chars: int,
    length: Callable[[Record], int] = lambda one: len(one.text),
) -> Window:
    """The end of a file with this many characters; one that does not exist is empty.

    `length` says how many of them a record has.
    """
    head, data, before = b"", b"", 0
    with our_errors(path), suppress(FileNotFoundError), folder.opened(path, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        before = max(0, size - _MAX_BYTES)
        head = os.pread(fd, _HEAD, 0)
        data = os.pread(fd, size - before, before)
    if is_utf16(head):
        raise not_utf8(path, "it cannot be read")
    if not data or is_broken_secret(head[:_HEADER]):
        return Window()
    # Of a part nobody knows where a code fence begins, and its first line is cut.
    fenced = frozenset[int]() if before else fenced_lines(data)
    lines = data.removesuffix(b"\n").split(b"\n")
    at, most_protected = len(lines), chars // _CHARS_FOR_ONE
    first = 1 if before else _template_lines(data)
    newest, prose = list[Record](), list[bytes]()
    while at > first and chars > 0:
        at -= 1
        record = None if at + 1 in fenced else readable_record(lines[at])
        if record:
            newest.append(record)
        else:
            prose.append(lines[at])
        chars -= length(record) if record else len(lines[at])
    rest = lines[first:at]
    top = head[:before].split(b"\n")[_template_lines(head) : -1] if before else rest
    above = list(takewhile(lambda line: json_part(line) is None, top))
    protected = (line for line in reversed(rest) if _PROTECTED.search(line))
    found = [one for one in map(readable_record, islice(protected, most_protected)) if one]
    unread = len(rest) + before * len(lines) // len(data) - len(above) - len(found)
    return Window(
        records=[*newest, *found][::-1],
        secret=set(secret_ids(data)),
        prose=[*_paragraphs(above), *_paragraphs(prose[::-1])],
        unread=max(0, unread),
    )


def _template_lines(data: bytes) -> int:
    return template_lines(data.removeprefix(BOM))


def _paragraphs(lines: Sequence[bytes]) -> list[str]:
    """What is neither a record nor a broken one: it may have been meant to be secret."""
    shown = (one for one in lines if not claims_to_be_record(one) and one.strip() != _STAND_IN)
    texts = (one.removeprefix(BOM).decode(errors="replace").rstrip() for one in shown)
    text = "\n".join("" if text == "---" else text for text in texts).strip("\n")
    return re.split(r"\n{2,}", text) if text else []
