"""A memory file: records, prose and lines we do not understand, all kept byte for byte."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from memolith.files.record_format import (
    RecordFormatError,
    claims_to_be_record,
    json_part,
    parse_line,
    readable_record,
)
from memolith.text.cleaning import shown_path
from memolith.types import Citation, Record

_FENCE = re.compile(rb"^[ \t>]*(?P<mark>`{3,}|~{3,})(?P<info>[^\r\n]*)", re.MULTILINE)


class Damage(NamedTuple):
    """A line that looks like a record and is not one."""

    path: str
    line: int
    reason: str


def fenced_lines(data: bytes) -> frozenset[int]:
    """The numbers of the lines inside code fences: what looks like a record there is an example.

    An open fence does not count, or lines appended later would be lost in it.

    >>> sorted(fenced_lines(b"a\\n```\\nb\\n```\\n~~~\\nc"))
    [3]
    """
    # A single byte is found much faster than three equal ones.
    if not any(char in data and char * 3 in data for char in (b"`", b"~")):
        return frozenset()
    found: set[int] = set()
    opened, begin = b"", 0
    line, counted = 1, 0
    for fence in _FENCE.finditer(data):
        line += data.count(b"\n", counted, fence.start())
        counted = fence.start()
        mark, info = fence["mark"], fence["info"].strip()
        if not opened:
            opened, begin = (mark, line) if b"`" not in info else (b"", 0)
        elif mark.startswith(opened) and not info:
            found.update(range(begin + 1, line))
            opened = b""
    return frozenset(found)


@dataclass(frozen=True, slots=True)
class Line:
    """One line with its line ending; `number` is 1-based."""

    number: int
    data: bytes
    fenced: bool = False  # inside a code fence
    offset: int = 0  # of its first byte in the file

    @property
    def end(self) -> int:
        """The offset behind its last byte, without the line ending."""
        return self.offset + len(self.data.rstrip(b"\r\n"))

    @property
    def text(self) -> str:
        """The line without its line ending."""
        return self.data.decode(errors="replace").rstrip("\r\n")

    @property
    def looks_like_record(self) -> bool:
        """Whether the line starts as a record does, and no code fence makes an example of it."""
        return not self.fenced and json_part(self.data) is not None

    @property
    def may_be_secret(self) -> bool:
        """Whether the line, if it is not a record, was meant to be one: then it may be a secret one.

        A fence shows what is inside, but not if that speaks of a secret.
        """
        return claims_to_be_record(self.data) and (not self.fenced or b"secret" in self.data)

    @property
    def is_secret(self) -> bool:
        """Whether it is a secret record, also in a code fence, or a broken one that may have been."""
        record = readable_record(self.data) if self.may_be_secret else None
        return self.may_be_secret and (record is None or record.sensitivity == "secret")


@dataclass(frozen=True, slots=True)
class Document:
    """The lines of one file. `data` gives back exactly the bytes that were parsed.

    >>> Document.parse("MEMORY.md", b"# Title\\r\\n\\xff no newline").data
    b'# Title\\r\\n\\xff no newline'
    """

    path: str
    lines: tuple[Line, ...]

    @classmethod
    def parse(cls, path: str, data: bytes) -> Document:
        """Split at b"\\n" alone: every other "line break" belongs to somebody's text."""
        pieces = [piece + b"\n" for piece in data.split(b"\n")]
        pieces[-1] = pieces[-1][:-1]
        fenced = fenced_lines(data)
        offsets = accumulate(map(len, pieces), initial=0)
        lines = [
            Line(number, piece, number in fenced, offset)
            for number, (piece, offset) in enumerate(zip(pieces, offsets, strict=False), 1)
            if piece
        ]
        return cls(path, tuple(lines))

    @property
    def data(self) -> bytes:
        """The bytes of the file."""
        return b"".join(line.data for line in self.lines)

    def records(self, damages: list[Damage] | None = None) -> Iterator[tuple[Line, Record]]:
        """The lines that are records, in file order; broken ones are left out, or put in a list."""
        for line in self.lines:
            if line.fenced:
                continue
            try:
                record = parse_line(line.data, Citation(self.path, line.number, line.number))
            except RecordFormatError as error:
                # A last line without newline may be a write that is not finished yet.
                if damages is not None and line.data.endswith(b"\n"):
                    damages.append(Damage(self.path, line.number, error.message))
                continue
            if record is not None:
                yield line, record

    def damages(self) -> list[Damage]:
        """The lines that look like records and are not."""
        found: list[Damage] = []
        list(self.records(found))
        return found


def damage_warnings(damages: Iterable[Damage]) -> tuple[str, ...]:
    """One sentence for each file; `doctor` gives the reasons, which may quote the line.

    >>> damage_warnings([Damage("MEMORY.md", 7, "x")])
    ('MEMORY.md line 7 is damaged, so it is left out.',)
    >>> damage_warnings([Damage("MEMORY.md", 7, "x"), Damage("MEMORY.md", 9, "y")])
    ('2 lines of MEMORY.md are damaged, so they are left out; the first is line 7.',)
    """
    lines_of: dict[str, list[int]] = {}
    for damage in damages:
        lines_of.setdefault(damage.path, []).append(damage.line)
    return tuple(
        f"{describe_damage(path, len(lines), lines[0])}." for path, lines in lines_of.items()
    )


def describe_damage(path: str, lines: int, first: int) -> str:
    """How many lines of a file are damaged, as a sentence without its full stop."""
    if lines == 1:
        return f"{shown_path(path)} line {first} is damaged, so it is left out"
    return f"{lines:,} lines of {shown_path(path)} are damaged, so they are left out; the first is line {first}"
