"""The end of a file after a crash: a torn line, zeros in place of lost blocks, a missing newline.

A record line begins with `- {"id":"`. A crash may stop it before its last brace; a power cut may leave
zeros in it, up to the end of a disk block. Nothing behind a lost block was synced either, because a
sync covers the whole file: so no record that is removed here was ever acknowledged. Every other line
belongs to somebody else and stays as it is.
"""

from __future__ import annotations

import errno
import os
import re
from binascii import crc32
from collections.abc import Iterator

from memolith.files import atomic_write
from memolith.files.folder import Folder, stamp_of
from memolith.files.locks import STATE_FOLDER
from memolith.files.record_format import PREFIX, begins_as_record, is_utf16, not_utf8, readable_json

QUARANTINE = f"{STATE_FOLDER}/quarantine"
_BLOCK = 512  # the smallest unit a disk writes
_ZEROS = re.compile(rb"\0+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_INSIDE_A_CHARACTER = bytes(range(0x80, 0xC0))
# What can precede the rest of a record: the objects and lists open at the cut, then half a value.
_OPEN = [b"", b"{", b'{"":{', b'{"":[']
_CUT = [b"", b'"', b'""', b'"":', b'"":"', b'"":"\\', b'"":0']


def mend(folder: Folder, fd: int, path: str, data: bytes) -> bytes | None:
    """What to write between the content of a file and the next line: nothing, or a newline.

    None if the file is not what was read any more, because torn records were moved to quarantine or
    somebody changed it: the caller reads it again.
    """
    damaged = [] if is_utf16(data) else list(_damaged_lines(data))
    if damaged:
        _remove_lines(folder, fd, path, data, damaged)
        return None
    if is_utf16(data) or b"\0" in data[:4]:
        raise not_utf8(path, "nothing was appended to it")
    return b"" if not data or data.endswith(b"\n") else b"\n"


def is_torn(line: bytes) -> bool:
    """Whether a line is the beginning of a record and stops in the middle."""
    if not begins_as_record(line):
        return False
    outside = _STRING.sub(b"", line)
    return b'"' in outside or outside.count(b"{") > outside.count(b"}")


def whole_lines(line: bytes, start: int, *, ends: bool) -> list[bytes] | None:
    """The whole records in a line with zeros; None if the zeros are not from a power cut.

    `start` is the offset of the line in its file. `ends` is False for a last line without newline.
    """
    words = line if ends else line.rstrip(b"\0")
    if b"\0" in words:
        return _around_holes(words, start, ends=ends)
    if _is_record(words):
        return [words]
    return [] if is_torn(words) or PREFIX.startswith(words) else None


def _around_holes(words: bytes, start: int, *, ends: bool) -> list[bytes] | None:
    # UTF-16 text has zeros too, and so may a line of somebody else; a lost block ends at a boundary.
    if any((start + zeros.end()) % _BLOCK for zeros in _ZEROS.finditer(words)):
        return None
    before, after = words[: words.index(0)], words[words.rindex(0) + 1 :].rstrip(b"\r")
    whole = [part for part in (before, after) if _is_record(part)]
    is_ours = before in whole or is_torn(before) or PREFIX.startswith(before)
    if is_ours and (not ends or after in whole or _may_end_a_record(after)):
        return whole
    return None


def _is_record(line: bytes) -> bool:
    return begins_as_record(line) and line.rstrip().endswith(b"}") and not is_torn(line)


def _may_end_a_record(rest: bytes) -> bool:
    rest = rest.lstrip(_INSIDE_A_CHARACTER)
    starts = (opened + cut for opened in _OPEN for cut in _CUT)
    return not rest or any(readable_json(start + rest) is not None for start in starts)


def _damaged_lines(data: bytes) -> Iterator[tuple[int, int, list[bytes]]]:
    """Start and end of each line that a power cut damaged, and the whole records in it."""
    at = data.find(b"\0")
    while at >= 0:
        start, newline = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        end = newline + 1 or len(data)
        line = data[start:end].removesuffix(b"\n")
        whole = whole_lines(line, start, ends=newline >= 0)
        if whole is not None:
            yield start, end, whole
        at = data.find(b"\0", end)
    last = data.rfind(b"\n") + 1
    if b"\0" not in data[last:] and is_torn(data[last:]):
        yield last, len(data), []


def _remove_lines(
    folder: Folder, fd: int, path: str, data: bytes, damaged: list[tuple[int, int, list[bytes]]]
) -> None:
    found = os.fstat(fd)
    _quarantine(folder, path, b"".join(data[start:end] for start, end, _ in damaged))
    pieces, done = [], 0
    for start, end, whole in damaged:
        pieces += [data[done:start], *(line + b"\n" for line in whole)]
        done = end
    pieces.append(data[done:])
    staged = atomic_write.stage(folder, b"".join(pieces), mode=found.st_mode & 0o777)
    if found.st_size == len(data) and folder.stamp(path) == stamp_of(found):
        atomic_write.move(folder, staged, path)
    else:
        atomic_write.remove(folder, staged)


def _quarantine(folder: Folder, path: str, line: bytes) -> None:
    # Named by content: a second crash that moves the same line again leaves one copy.
    name = f"{path.replace('/', '-')}-{crc32(line):08x}.txt"
    try:
        atomic_write.write_private_file(folder, f"{QUARANTINE}/{name}", line)
    except OSError as error:
        raise OSError(error.errno or errno.EIO, "cannot quarantine a torn line") from error
