"""The part of a memory file that a session start looks at: it never grows with the file.

New records stand at the end, so the end is read whole. Of a much larger stretch before it only the
lines of protected categories are read, and of the beginning what a person wrote above the records.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import takewhile

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
_FAR, _MAX_BYTES = 2_097_152, 1_048_576
# Bytes of the far part from which one protected record is taken: more would not fit anyway.
_BYTES_FOR_ONE = 1024
_CATEGORY = b'"category":"'
_STAND_IN = HIDDEN.encode()
_PROTECTED = frozenset(name.encode() for name in PROTECTED)


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
    head, data, begin = b"", b"", 0
    with our_errors(path), suppress(FileNotFoundError), folder.opened(path, os.O_RDONLY) as fd:
        size = os.fstat(fd).st_size
        begin = max(0, size - max_bytes - _FAR)
        head = os.pread(fd, _HEAD, 0)
        data = os.pread(fd, size - begin, begin)
    if is_utf16(head):
        raise not_utf8(path, "it cannot be read")
    if not data or is_broken_secret(head[:_HEADER]):
        return Window()
    window = _look(path, head, data, begin, max_bytes)
    while window.unread and not is_enough(window) and max_bytes <= _MAX_BYTES:
        max_bytes *= 2
        window = _look(path, head, data, begin, max_bytes)
    return window


def _look(path: str, head: bytes, data: bytes, begin: int, max_bytes: int) -> Window:
    """What is in the head of a file and in its data from some place on, of which the end is read whole."""
    window = Window()
    start = max(0, len(data) - max_bytes)
    if not begin + start:
        _read_lines(_without_template(data), window, whole=True)
        return window
    # A line that is cut might be anything, also a secret: of one longer than this, nothing.
    end = data.find(b"\n", start) + 1 or len(data)
    head = head[: _read_head(head[: begin + end], path, window)]
    _read_far(data[max(0, len(head) - begin) : end], begin - len(head), window, max_bytes)
    _read_lines(data[end:], window, whole=False)
    return window


def _without_template(data: bytes) -> bytes:
    """Without the lines at the top that are ours and not the user's."""
    data = data.removeprefix(BOM)
    return data.split(b"\n", template_lines(data))[-1]


def _read_head(data: bytes, path: str, window: Window) -> int:
    """Read what stands above the records; returns how many bytes that are."""
    own = _without_template(data)
    lines = Document.parse(path, own[: own.rfind(b"\n") + 1]).lines
    above = takewhile(lambda line: not line.looks_like_record, lines)
    end = sum(len(line.data) for line in above)
    _read_lines(own[:end], window, whole=True)
    return len(data) - len(own) + end


def _read_far(far: bytes, before: int, window: Window, max_bytes: int) -> None:
    """The newest records of protected categories, without parsing others but secrets.

    Lines in the bytes before it are taken to be as long as those in it.
    """
    if before > 0:
        far = far.partition(b"\n")[2]
    window.secret.update(secret_ids(far))
    lines = far.split(b"\n")
    protected = [line for line in lines if _is_protected(line)]
    for line in protected[-(max_bytes // _BYTES_FOR_ONE) :]:
        _read_record(line, window)
    count = sum(map(bool, lines))
    unread = count + max(0, before) * count // max(1, len(far))
    window.unread = max(0, unread - len(window.records))


def _is_protected(line: bytes) -> bool:
    at = line.find(_CATEGORY) + len(_CATEGORY)
    return at >= len(_CATEGORY) and line[at : line.find(b'"', at)] in _PROTECTED


def _read_lines(data: bytes, window: Window, *, whole: bool) -> None:
    """Read records and prose; in the middle of a file nobody knows where a code fence begins."""
    prose = list[bytes]()
    for line in Document.parse("", data).lines:
        is_record = not (whole and line.fenced) and _read_record(line.data, window)
        # A record that is broken may have been meant to be secret.
        if not is_record and not claims_to_be_record(line.data):
            prose.append(line.data)
    shown = [line for line in prose if line.strip() != _STAND_IN]
    window.prose += _paragraphs(shown)
    if hidden := len(prose) - len(shown):  # somebody pasted what was shown: one line tells it
        window.prose.append(f"({hidden} secret records stand here)" if hidden > 1 else HIDDEN)


def _read_record(line: bytes, window: Window) -> bool:
    """Add the record of a line, if it is one."""
    record = readable_record(line)
    if record is None:
        return False
    if record.sensitivity == "secret":
        window.secret.add(record.id)
    window.records.append(record)
    return True


def _paragraphs(lines: list[bytes]) -> list[str]:
    texts = (line.decode(errors="replace").rstrip() for line in lines)
    text = "\n".join("" if text == "---" else text for text in texts)
    return re.split(r"\n{2,}", text.strip("\n")) if text.strip("\n") else []
