"""A file we are about to append to, after a crash: a torn line, zeros, a missing newline.

Whatever follows a place that a power cut left empty was not on the disk either, because a sync puts a
whole file there: so no record that is taken out here was ever acknowledged.
"""

from __future__ import annotations

import errno
import os
from binascii import crc32
from collections.abc import Iterator

from memolith.files import atomic_write
from memolith.files.byte_marks import is_utf16, not_utf8
from memolith.files.folder import Folder, stamp_of
from memolith.files.locks import STATE_FOLDER
from memolith.files.torn import is_torn, whole_lines

QUARANTINE = f"{STATE_FOLDER}/quarantine"
_PIECE = 1 << 20


def mend_tail(folder: Folder, fd: int, path: str, size: int) -> tuple[int, bytes]:
    """Where to append, and what to put before: b"" after a whole line, b"\\n" after one without
    line ending. A torn record is moved to quarantine: it was never acknowledged.
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
    if not is_torn(line):
        return size, b"\n"
    _quarantine(folder, path, line)
    if os.fstat(fd).st_size != size:
        return size, b""  # somebody has added to it: who called looks again
    atomic_write.cut(fd, start)
    return start, b""


def mend_holes(folder: Folder, fd: int, path: str, found: os.stat_result) -> bool:
    """Move what a power cut left of records, and the zeros in it, to quarantine.

    True if the file is not what it was: then it must be looked at again. What nobody of us wrote stays.
    """
    pieces = range(0, found.st_size, _PIECE)
    if all(b"\0" not in os.pread(fd, _PIECE, at) for at in pieces):
        return False
    data = b"".join(os.pread(fd, _PIECE, at) for at in pieces)
    damaged = [] if is_utf16(data) else list(_damaged_lines(data))
    if not damaged:
        return False
    _quarantine(folder, path, b"".join(data[start:end] for start, end, _ in damaged))
    mended, done = [], 0
    for start, end, whole in damaged:
        mended += [data[done:start], *(line + b"\n" for line in whole)]
        done = end
    mended.append(data[done:])
    staged = atomic_write.stage(folder, b"".join(mended), mode=found.st_mode & 0o777)
    if folder.stamp(path) == stamp_of(found):
        atomic_write.move(folder, staged, path)
    else:
        atomic_write.remove(folder, staged)
    return True


def _damaged_lines(data: bytes) -> Iterator[tuple[int, int, list[bytes]]]:
    """Where each begins and ends, and what is whole in it."""
    at = data.find(b"\0")
    while at >= 0:
        start, newline = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        ends = newline >= 0
        end = newline + 1 if ends else len(data)
        whole = whole_lines(data[start : newline if ends else end], start, ends=ends)
        if whole is not None:
            yield start, end, whole
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


def _quarantine(folder: Folder, path: str, line: bytes) -> None:
    # Named by content: moving the same line twice after a second crash leaves one copy.
    name = f"{path.replace('/', '-')}-{crc32(line):08x}.txt"
    try:
        atomic_write.write_private_file(folder, f"{QUARANTINE}/{name}", line)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, "cannot quarantine a torn line") from error
