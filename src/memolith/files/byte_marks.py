"""Bytes at the start of a file that tell how its text is spelled."""

from __future__ import annotations

BOM = b"\xef\xbb\xbf"  # UTF-8, as some editors of Windows begin it
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
