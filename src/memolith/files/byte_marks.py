"""Bytes at the start of a file that tell how its text is spelled."""

from __future__ import annotations

from memolith.errors import FileFormatError
from memolith.text.cleaning import shown_path

BOM = b"\xef\xbb\xbf"  # UTF-8, as some editors of Windows begin it
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def is_utf16(data: bytes) -> bool:
    """Whether a file begins as UTF-16 or UTF-32 does, with a mark or without.

    No line of it can be read, so nobody knows which of them are secret. Zeros alone are what a power
    cut leaves.
    """
    first = data[:4]
    every_second_is_zero = b"\0\0" in (first[::2], first[1::2])
    return data.startswith(UTF16_MARKS) or (every_second_is_zero and any(first))


def not_utf8(path: str, consequence: str) -> FileFormatError:
    """The error for a file that some editor has saved as UTF-16."""
    return FileFormatError(
        f"{shown_path(path)} is not UTF-8 (it looks like UTF-16), so {consequence}.",
        path=path,
        line=1,
        hint="Save the file as UTF-8 in your editor and try again.",
    )
