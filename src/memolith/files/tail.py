"""The end of a file we are about to append to: a missing newline, or a line torn by a crash."""

from __future__ import annotations

import errno
import os
from binascii import crc32

from memolith.files import atomic_write
from memolith.files.byte_marks import is_utf16, not_utf8
from memolith.files.folder import Folder
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import RecordFormatError, claims_to_be_record, parse_json

QUARANTINE = f"{STATE_FOLDER}/quarantine"


def mend_tail(folder: Folder, fd: int, path: str, size: int) -> tuple[int, bytes]:
    """Where to append, and what to put before: b"" after a whole line, b"\\n" after a hand-written
    one without line ending. A torn record is moved to quarantine: it was never acknowledged.
    """
    if not size:
        return 0, b""
    head = os.pread(fd, 4, 0)
    if is_utf16(head) or b"\0" in head:
        raise not_utf8(path, "nothing was appended to it")
    if os.pread(fd, 1, size - 1) == b"\n":
        return size, b""
    start = _start_of_last_line(fd, size)
    line = os.pread(fd, size - start, start)
    if not _is_torn(line):
        return size, b"\n"
    _quarantine(folder, path, line)
    atomic_write.cut(fd, start)
    return start, b""


def _start_of_last_line(fd: int, size: int) -> int:
    end = size
    while end:
        start = max(0, end - (1 << 16))
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _is_torn(line: bytes) -> bool:
    """A record that stops in the middle, or the zeros that a power cut left in its place."""
    written = line.rstrip(b"\0")
    if not written:
        return True
    if not claims_to_be_record(written):
        return False
    if written != line:
        return True
    try:
        parse_json(line.strip(b" \t\r")[2:])  # a person may have indented it
    except RecordFormatError:
        return True
    return False


def _quarantine(folder: Folder, path: str, line: bytes) -> None:
    # Named by content: moving the same line twice after a second crash leaves one copy.
    name = f"{path.replace('/', '-')}-{crc32(line):08x}.txt"
    try:
        atomic_write.write_private_file(folder, f"{QUARANTINE}/{name}", line)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, "cannot quarantine a torn line") from error
