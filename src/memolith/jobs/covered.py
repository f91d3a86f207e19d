"""Which records a summary stands for: a line of the archive lists them all, however many they are."""

from __future__ import annotations

import re
from collections.abc import Iterable

from memolith.text.summary_line import short_id

_ID_CHARS = 13  # of a UUID, so many name it
_MARK = b"<!-- memolith:covers "
_LINE = re.compile(rb"<!-- memolith:covers (\S+):((?: \S+)*) -->\r?\n?")


def covers_line(summary_id: str, ids: Iterable[str]) -> bytes:
    """The line for a summary.

    >>> covers_line("3f6f0f0e-6d0b", ["77aa01bc-1111", "9a1b2c3d-2222"])
    b'<!-- memolith:covers 3f6f0f0e-6d0b: 77aa01bc-1111 9a1b2c3d-2222 -->\\n'
    """
    named = " ".join((f"{short(summary_id)}:", *map(short, ids)))
    return _MARK + named.encode(errors="replace") + b" -->\n"


def covered_by(archive: bytes, summary_id: str) -> tuple[str, ...]:
    """The beginnings of the ids that a summary covers; none if the archive does not tell."""
    start = archive.rfind(_MARK + short(summary_id).encode(errors="replace") + b":")
    found = _LINE.match(archive, start) if start >= 0 else None
    return tuple(name.decode(errors="replace") for name in found[2].split()) if found else ()


def without_covered(line: bytes, record_id: str) -> bytes:
    """The line without a forgotten record; any other line as it is."""
    name = b" " + short(record_id).encode(errors="replace")
    if not line.startswith(_MARK) or name + b" " not in line:
        return line
    return line.replace(name + b" ", b" ")


def short(record_id: str) -> str:
    """The beginning of an id, by which a record is named."""
    return short_id(record_id, _ID_CHARS)
