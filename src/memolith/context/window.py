"""The part of a memory file that a session start looks at: it never grows with the file.

New records stand at the end, so the end is read whole. Of a much larger stretch before it only the
lines of protected categories are read, and of the beginning what a person wrote above the records.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from itertools import islice, takewhile

from memolith.files.document import Document
from memolith.files.folder import Folder, close_quietly, storage_error
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
_FAR = 2_097_152
_PIECE = 131_072  # of that, read at once: small enough to stay in the processor's cache
# Bytes of the far part from which one protected record is taken: more would not fit anyway.
_BYTES_FOR_ONE = 1024
_ID = b'{"id":"'
_CATEGORY = b'"category":"'
_SECRET = b'"secret"'
_STAND_IN = HIDDEN.encode()
_PROTECTED = frozenset(name.encode() for name in PROTECTED)


class Window:
    """What was read of one file, in file order."""

    __slots__ = ("known", "met", "prose", "records", "secret", "unread")

    def __init__(self, known: Collection[str] = ()) -> None:
        """Nothing read yet."""
        self.known = known
        self.met = 0  # known records at the end of the file
        self.records: list[Record] = []
        self.secret: set[str] = set()  # ids of secret records, known ones too
        self.prose: list[str] = []  # paragraphs
        self.unread = 0  # lines that were not looked at; of a very large file an estimate


def read_window(folder: Folder, path: str, most_bytes: int, known: Collection[str] = ()) -> Window:
    """Look at a file; one that does not exist is empty. Records with `known` ids are left out."""
    window = Window(known)
    try:
        fd, found = folder.open(path)
    except FileNotFoundError:
        return window
    except OSError as error:
        raise storage_error(error, path) from error
    try:
        header = os.pread(fd, _HEADER, 0)
        if is_utf16(header):
            raise not_utf8(path, "it cannot be read")
        if _is_marked_secret(header):
            return window
        start = max(0, found.st_size - most_bytes)
        tail = os.pread(fd, found.st_size - start, start)
        if start:
            # A line that is cut might be anything, also a secret: of one longer than this, nothing.
            _, end_of_line, whole = tail.partition(b"\n")
            start += len(tail) - len(whole)
            tail = whole if end_of_line else b""
            head = os.pread(fd, min(_HEAD, start), 0)
            head = head[: _read_head(head, path, window)]
            far = _read_far(fd, start, window, most_bytes // _BYTES_FOR_ONE)
            window.unread = max(0, _lines_between(head, start, far) - len(window.records))
        window.met = 0
        _read_lines(_without_template(tail) if not start else tail, window, whole=not start)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        close_quietly(fd)
    return window


def _is_marked_secret(head: bytes) -> bool:
    """Whether the file as a whole begins like one that was marked secret."""
    if not head.removeprefix(BOM).startswith(b"---"):
        return False
    from memolith.files.front_matter import is_broken_secret

    return is_broken_secret(head)


def _lines_between(head: bytes, end: int, far: int) -> int:
    """How many lines stand between the head and a line, of which the far part has `far`.

    Those before it are taken to be as long.
    """
    begin = max(0, end - _FAR)
    if begin < len(head):
        return far - _count_lines(head[begin:])
    return far + (begin - len(head)) * far // _FAR


def _count_lines(data: bytes) -> int:
    """How many lines are not blank."""
    return data.count(b"\n") - data.count(b"\n\n")


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


def _read_far(fd: int, end: int, window: Window, most: int) -> int:
    """The newest records of protected categories before a line, without parsing others but secrets.

    Returns how many lines there were.
    """
    begin = max(0, end - _FAR)
    found = list[bytes]()
    lines = 0
    cut = b""  # the end of a line that begins in the piece before it
    while end > begin:
        start = max(begin, end - _PIECE)
        data = os.pread(fd, end - start, start)
        lines += _count_lines(data)
        data += cut
        if start:
            cut, _, data = data.partition(b"\n")
        window.secret.update(secret_ids(data))
        if len(found) < most:
            found += islice(_protected(data), most - len(found))
        end = start
    for line in reversed(found):
        _read_record(line, window)
    return lines


def _protected(data: bytes) -> Iterator[bytes]:
    """The lines of protected categories, the last first."""
    for line in reversed(data.split(b"\n")):
        at = line.find(_CATEGORY) + len(_CATEGORY)
        if at >= len(_CATEGORY) and line[at : line.find(b'"', at)] in _PROTECTED:
            yield line


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
    content = json_part(line) or b""
    is_known = content.startswith(_ID) and content[7:43].decode(errors="replace") in window.known
    window.met += is_known
    if is_known and _SECRET not in content:
        return True
    record = readable_record(line)
    if record is None:
        return False
    if record.sensitivity == "secret":
        window.secret.add(record.id)
    if record.id not in window.known:
        window.records.append(record)
    return True


def _paragraphs(lines: list[bytes]) -> Iterator[str]:
    paragraph = list[str]()
    for line in [*lines, b""]:
        text = line.decode(errors="replace").rstrip()
        if text and text != "---":
            paragraph.append(text)
        elif paragraph:
            yield "\n".join(paragraph)
            paragraph = []
