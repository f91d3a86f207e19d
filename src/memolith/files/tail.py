"""A file we are about to append to, after a crash: a torn line, zeros, a missing newline.

Whatever follows a place that a power cut left empty was not on the disk either, because a sync puts a
whole file there: so nothing that is taken out here was ever acknowledged.
"""

from __future__ import annotations

import errno
import os
import re
from binascii import crc32

from memolith.files import atomic_write
from memolith.files.byte_marks import is_utf16, not_utf8
from memolith.files.folder import Folder, stamp_of
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import RecordFormatError, claims_to_be_record, parse_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

QUARANTINE = f"{STATE_FOLDER}/quarantine"
_PIECE = 1 << 20
_BLOCK = 512  # the smallest that a disk writes
_ZEROS = re.compile(rb"\0+")


def mend_tail(folder: Folder, fd: int, path: str, size: int) -> tuple[int, bytes]:
    """Where to append, and what to put before: b"" after a whole line, b"\\n" after a hand-written
    one without line ending. A torn record is moved to quarantine: it was never acknowledged.
    """
    if not size:
        return 0, b""
    is_whole = os.pread(fd, 1, size - 1) == b"\n"
    start = size if is_whole else _start_of_last_line(fd, size)
    line = os.pread(fd, size - start, start)
    is_torn = _is_torn(line, start) if line else False
    head = os.pread(fd, 4, 0)
    if is_utf16(head) or (b"\0" in head and (start or not is_torn)):
        raise not_utf8(path, "nothing was appended to it")
    if not is_torn:
        return size, b"" if is_whole else b"\n"
    _quarantine(folder, path, line)
    atomic_write.cut(fd, start)
    return start, b""


def mend_holes(folder: Folder, fd: int, path: str, found: os.stat_result) -> bool:
    """Move lines that end, but in which a power cut left zeros, to quarantine.

    True if the file was replaced by one without them. What nobody of us wrote stays as it is.
    """
    pieces = range(0, found.st_size, _PIECE)
    if all(b"\0" not in os.pread(fd, _PIECE, at) for at in pieces):
        return False
    data = b"".join(os.pread(fd, _PIECE, at) for at in pieces)
    torn = [] if is_utf16(data) else list(_lines_with_holes(data))
    if not torn:
        return False
    _quarantine(folder, path, b"".join(data[start:end] for start, end in torn))
    ends = [0, *(end for _, end in torn)]
    starts = [*(start for start, _ in torn), len(data)]
    kept = b"".join(data[end:start] for end, start in zip(ends, starts, strict=True))
    staged = atomic_write.stage(folder, kept, mode=found.st_mode & 0o777)
    if folder.stamp(path) != stamp_of(found):  # edited meanwhile: the next append looks again
        atomic_write.remove(folder, staged)
        return False
    atomic_write.move(folder, staged, path)
    return True


def _lines_with_holes(data: bytes) -> Iterator[tuple[int, int]]:
    at = data.find(b"\0")
    while at >= 0:
        start, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at) + 1
        if not end:
            return  # the last line, which does not end: see `mend_tail`
        if _has_hole(data[start : end - 1], start, b"}"):
            yield start, end
        at = data.find(b"\0", end)


def _start_of_last_line(fd: int, size: int) -> int:
    end = size
    while end:
        start = max(0, end - (1 << 16))
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end = start
    return 0


def _has_hole(line: bytes, start: int, ending: bytes = b"") -> bool:
    """Whether a line is what a power cut left of records: zeros up to the end of a block of the disk.

    Text in UTF-16 has zeros too, and so may have anything that somebody else has put there.
    """
    before, after = line[: line.index(0)], line[line.rindex(0) + 1 :].rstrip(b"\r")
    ours = (not before or claims_to_be_record(before)) and (not after or after.endswith(ending))
    return ours and all((start + zeros.end()) % _BLOCK == 0 for zeros in _ZEROS.finditer(line))


def _is_torn(line: bytes, start: int) -> bool:
    """A record that stops in the middle, or the zeros that a power cut left in its place."""
    written = line.rstrip(b"\0")
    if not written or (b"\0" in written and _has_hole(written, start)):
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
