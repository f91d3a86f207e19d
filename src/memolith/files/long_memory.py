"""LONGMEMORY.md: one dated block per month, made by compaction; what you write around them, or into one, stays.

Only lines of a block that name records were written by compaction, and its marks and heading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memolith.files import layout
from memolith.text.summary_line import read_line

PATH = "LONGMEMORY.md"
ARCHIVE = f"{layout.ARCHIVE_FOLDER}/LONGMEMORY-archive.md"
_BLOCK = re.compile(
    rb"^<!-- memolith:summary (?P<month>\d{4}-\d\d) -->\r?\n(?P<body>.*?)"
    rb"^<!-- /memolith:summary -->(?:\r?\n){0,2}",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(rb"## Summary \(\d{4}-\d\d\)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemory:
    """The file, taken apart: blocks by month, and the bytes that are not ours."""

    data: bytes
    blocks: Mapping[str, str]  # month → text

    @classmethod
    def parse(cls, data: bytes) -> LongMemory:
        """Find the blocks; a block that was torn open is nobody's but yours."""
        blocks: dict[str, str] = {}
        for found in _BLOCK.finditer(data):
            month, body = found["month"].decode(), found["body"].decode(errors="replace").strip()
            blocks[month] = f"{blocks[month]}\n{body}" if month in blocks else body
        return cls(data=data, blocks=blocks)

    def with_blocks(self, new: Mapping[str, str], max_chars: int) -> tuple[bytes, bytes]:
        """The file with these blocks put in or renewed, and what was dropped to stay under the cap.

        A month without text has no block. Blocks stand in the order of months. The oldest are dropped first; your
        text never is: what you wrote into a block stands in it, or where the blocks begin once it is gone.
        """
        blocks: dict[str, bytes] = {}
        inside: dict[str, bytes] = {}  # what you wrote into them
        for found in _BLOCK.finditer(self.data):  # a month that stands there twice is one block
            month = found["month"].decode()
            blocks[month] = blocks.get(month, b"") + found.group()
            inside[month] = inside.get(month, b"") + b"".join(_yours_in(found["body"]))
        for month, text in new.items():
            blocks[month] = _encode(month, text, inside.get(month, b"")) if text else b""
        around = _BLOCK.sub(b"", self.data) or layout.load_template(PATH)
        if not around.endswith(b"\n"):
            around += b"\n"
        room = max_chars - _chars(around) - sum(map(_chars, inside.values()))
        kept: dict[str, bytes] = {}
        for month in sorted(filter(blocks.get, blocks), reverse=True):
            room -= _chars(blocks[month]) - _chars(inside.get(month, b""))
            if room < 0:
                break
            kept[month] = blocks[month]
        dropped = b"".join(
            _only_ours(blocks[month]) if inside.get(month) else blocks[month]
            for month in sorted(blocks)
            if month not in kept
        )
        homeless = b"".join(inside[month] for month in sorted(inside) if month not in kept)
        return self._put_together(around, homeless, kept), dropped

    def _put_together(self, around: bytes, homeless: bytes, blocks: Mapping[str, bytes]) -> bytes:
        """Our blocks where the first of them stood, or at the end."""
        first = _BLOCK.search(self.data)
        ours = b"".join(blocks[month] for month in sorted(blocks))
        if first is None:
            gap = b"" if around.endswith(b"\n\n") else b"\n"
            return around + (gap + ours if ours else b"")
        gap = b"\n" if homeless else b""
        return around[: first.start()] + homeless + gap + ours + around[first.start() :]


def yours(data: bytes) -> Iterator[bytes]:
    """Every line of the file that compaction did not write, without those that are blank."""
    around = _BLOCK.sub(b"", data)
    inside = (line for found in _BLOCK.finditer(data) for line in _yours_in(found["body"]))
    for line in (*around.split(b"\n"), *inside):
        if line.strip():
            yield line.rstrip(b"\r\n")


def name_of(month: str) -> str:
    """What a month's block is called among what somebody took back."""
    return f"{PATH} {month}"


def _encode(month: str, text: str, inside: bytes) -> bytes:
    """A block with its heading; the marks tell it from what you write yourself, but for what stands inside."""
    begin = f"<!-- memolith:summary {month} -->\n## Summary ({month})\n\n{text}\n"
    return begin.encode(errors="replace") + inside + b"<!-- /memolith:summary -->\n\n"


def _yours_in(body: bytes) -> Iterator[bytes]:
    """The lines of a block that you wrote, with blank ones between two of them."""
    blank: list[bytes] | None = None
    for line in body.splitlines(keepends=True):
        if not line.strip():
            if blank is not None:
                blank.append(line)
        elif _HEADING.fullmatch(line) or _is_told(line):
            blank = None
        else:
            yield from blank or ()
            yield line
            blank = []


def _is_told(line: bytes) -> bool:
    found = read_line(line.decode(errors="replace").strip())
    return found is not None and bool(found.names)


def _only_ours(block: bytes) -> bytes:
    """Blocks without what you wrote into them."""
    pieces = []
    for found in _BLOCK.finditer(block):
        told = b"".join(line for line in found["body"].splitlines(keepends=True) if _is_told(line))
        text = told.decode(errors="replace").strip()
        pieces.append(_encode(found["month"].decode(), text, b"") if text else b"")
    return b"".join(pieces)


def _chars(data: bytes) -> int:
    return len(data.decode(errors="replace"))
