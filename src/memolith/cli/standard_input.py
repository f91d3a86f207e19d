"""What is piped in. A hook's JSON is looked at before the command line is; what was read is not lost."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

# The largest text a setting can allow; a longer one is an error, and does not fill our memory.
MAX_BYTES = 16_777_216
# A host writes at once: an open pipe on which nothing comes is not waited for.
_MAX_WAIT_SECONDS = 1.0
_BOM, _UTF16_MARKS = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")


class _Look:
    """What was read by a look, for whoever reads next."""

    stream: object = None
    data = bytearray()


def _looked_at() -> bytearray:
    if _Look.stream is not sys.stdin:
        _Look.stream, _Look.data = sys.stdin, bytearray()
    return _Look.data


def is_piped() -> bool:
    """Whether standard input is anything but a person at a terminal."""
    return sys.stdin is not None and not sys.stdin.isatty()


def waiting_bytes(is_whole: Callable[[bytes], bool]) -> bytes:
    """What is there at once, until it ends or is whole; a later read gets it again."""
    if not is_piped():
        return b""
    data = _looked_at()
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # not a real stream: a program that calls `main` gives its own
        data += sys.stdin.buffer.read(MAX_BYTES)
        return bytes(data)
    from select import select

    while len(data) < MAX_BYTES:
        seems_whole = data[-9:].rstrip().endswith(b"}") and not select([fd], [], [], 0)[0]
        if (seems_whole and is_whole(bytes(data))) or not select([fd], [], [], _MAX_WAIT_SECONDS)[
            0
        ]:
            break
        piece = os.read(fd, 65_536)
        data += piece
        if not piece:
            break
    return bytes(data)


def rest_of_input(limit: int) -> bytes:
    """Everything that is piped in, with what was read before."""
    if sys.stdin is None:
        return b""
    looked = _looked_at()
    data = bytes(looked) + sys.stdin.buffer.read(max(0, limit - len(looked)))
    looked.clear()
    return data


def decode(data: bytes) -> str:
    """Piped bytes as text, without the line ends around it."""
    if data.startswith(_UTF16_MARKS):  # what PowerShell writes into a file
        return data.decode("utf-16", "replace").strip("\r\n")
    return data.removeprefix(_BOM).decode("utf-8", "surrogateescape").strip("\r\n")
