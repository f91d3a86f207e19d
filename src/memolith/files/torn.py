"""What a crash left of a record, told from what people write: pure functions on the bytes of a line.

A line of ours begins with `- {"id":"`. A crash may have stopped it before its last brace; a power cut may
have left zeros in it, up to the end of a block of the disk. Whatever else stands in a file is not ours to
judge, however odd it looks.
"""

from __future__ import annotations

import re

from memolith.files.record_format import PREFIX, RecordFormatError, begins_as_record, parse_json

_BLOCK = 512  # the smallest that a disk writes
_ZEROS = re.compile(rb"\0+")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_WITHIN_A_CHARACTER = bytes(range(0x80, 0xC0))
# What may stand before the end of a record, down to the place where it was cut: objects and lists that
# are open there, then a string, a key, what is behind them, a value.
_OPEN = [b"", b"{", b'{"":{', b'{"":[']
_CUT = [b"", b'"', b'""', b'"":', b'"":"', b'"":"\\', b'"":0']


def is_torn(line: bytes) -> bool:
    """Whether a line is the beginning of a record and stops in the middle."""
    if not begins_as_record(line):
        return False
    outside = _STRING.sub(b"", line)
    return b'"' in outside or outside.count(b"{") > outside.count(b"}")


def whole_lines(line: bytes, start: int, *, ends: bool) -> list[bytes] | None:
    """The records in a line that has zeros; None if no power cut left them there.

    `start` is where it begins in its file; without a line end, it is the last one.
    """
    words = line if ends else line.rstrip(b"\0")
    if b"\0" in words:
        return _around_holes(words, start, ends=ends)
    if _is_record(words):
        return [words]
    return [] if is_torn(words) or _just_began(words) else None


def _around_holes(words: bytes, start: int, *, ends: bool) -> list[bytes] | None:
    """Of zeros in the middle, the records on both sides.

    Text in UTF-16 has zeros too, and so may have anything that somebody else has put there.
    """
    if any((start + zeros.end()) % _BLOCK for zeros in _ZEROS.finditer(words)):
        return None
    before, after = words[: words.index(0)], words[words.rindex(0) + 1 :].rstrip(b"\r")
    whole = [part for part in (before, after) if _is_record(part)]
    ours = before in whole or is_torn(before) or _just_began(before)
    if ours and (not ends or after in whole or _may_end_a_record(after)):
        return whole
    return None


def _is_record(line: bytes) -> bool:
    return begins_as_record(line) and line.rstrip().endswith(b"}") and not is_torn(line)


def _just_began(line: bytes) -> bool:
    """Whether so little of a line is left that only the zeros behind it tell whose it was."""
    return PREFIX.startswith(line)


def _may_end_a_record(rest: bytes) -> bool:
    """Whether there is a beginning with which this makes JSON."""
    rest = rest.lstrip(_WITHIN_A_CHARACTER)
    return not rest or any(_is_json(opened + cut + rest) for opened in _OPEN for cut in _CUT)


def _is_json(data: bytes) -> bool:
    try:
        parse_json(data)
    except RecordFormatError:
        return False
    return True
