"""LONGMEMORY.md: one dated block per month, written by compaction; text around and inside blocks is yours.

Compaction wrote the marks and heading of a block and the lines in it that cite records, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memolith.files import layout
from memolith.text.summary_line import read_line

ARCHIVE = f"{layout.ARCHIVE_FOLDER}/LONGMEMORY-archive.md"
_BLOCK = re.compile(
    rb"^<!-- memolith:summary (?P<month>\d{4}-\d\d) -->\r?\n(?P<body>.*?)"
    rb"^<!-- /memolith:summary -->(?:\r?\n){0,2}",
    re.MULTILINE | re.DOTALL,
)
# Blocks that other programs wrote, as CursorClaw does: a heading with a day, and all up to the next heading or mark.
_OTHERS = re.compile(
    rb"^## Summary \((?P<day>\d{4}-\d\d-\d\d)\)[ \t]*\r?\n.*?(?=^## |^<!-- memolith:|\Z)",
    re.MULTILINE | re.DOTALL,
)
_HEADING = re.compile(rb"## Summary \(\d{4}-\d\d\)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LongMemory:
    """The parsed file, by month: the lines of compaction, and yours between them."""

    data: bytes
    blocks: Mapping[str, str]
    yours: Mapping[str, bytes]

    @classmethod
    def parse(cls, data: bytes) -> LongMemory:
        """Find the blocks; one without an end mark is your text."""
        blocks: dict[str, str] = {}
        yours: dict[str, bytes] = {}
        for found in _BLOCK.finditer(data):
            month = found["month"].decode()
            lines = filter(_cites_records, found["body"].splitlines(keepends=True))
            text = b"".join(lines).decode(errors="replace").strip()
            blocks[month] = f"{blocks[month]}\n{text}" if month in blocks else text
            yours[month] = yours.get(month, b"") + b"".join(_yours_in(found["body"]))
        return cls(data=data, blocks=blocks, yours=yours)

    def with_blocks(self, new: Mapping[str, str], max_chars: int) -> tuple[bytes, bytes]:
        """The file with these blocks, and the blocks that were dropped to stay under the cap.

        Blocks are ordered by month; a month without text has none. The oldest are dropped first. Your text
        never is: what you wrote into a block that goes is moved to where the blocks begin.
        """
        blocks: dict[str, bytes] = {}
        for found in _BLOCK.finditer(self.data):  # a month with two blocks gets one
            month = found["month"].decode()
            blocks[month] = blocks.get(month, b"") + found.group()
        for month, text in new.items():
            blocks[month] = _encode(month, text, self.yours.get(month, b"")) if text else b""
        around = (
            _BLOCK.sub(b"", self.data) if self.data else layout.load_template(layout.LONG_MEMORY)
        )
        if not around.endswith(b"\n"):
            around += b"\n"
        around, others = _without_oldest(around, blocks, max_chars)
        room = max_chars - _chars(around) - sum(map(_chars, self.yours.values()))
        kept: dict[str, bytes] = {}
        for month in sorted(filter(blocks.get, blocks), reverse=True):
            room -= _chars(blocks[month]) - _chars(self.yours.get(month, b""))
            if room < 0:
                break
            kept[month] = blocks[month]
        texts = sorted({**self.blocks, **new}.items())
        dropped = [_encode(month, text) for month, text in texts if text and month not in kept]
        moved = b"".join(self.yours[month] for month in sorted(self.yours) if month not in kept)
        ours = b"".join(kept[month] for month in sorted(kept))
        first = _BLOCK.search(self.data)
        at = first.start() if first else len(around)
        if moved or (first is None and ours and not around.endswith(b"\n\n")):
            moved += b"\n"
        at = min(at, len(around)) if not others else len(around)
        return around[:at] + moved + ours + around[at:], others + b"".join(dropped)


def _without_oldest(
    around: bytes, blocks: Mapping[str, bytes], max_chars: int
) -> tuple[bytes, bytes]:
    """The text around our blocks without the oldest blocks of other writers, while all together is too long."""
    gone: list[bytes] = []
    months = dict(blocks)
    for found in sorted(_OTHERS.finditer(around), key=lambda one: one["day"]):
        day = found["day"].decode()
        total = _chars(around) - sum(map(_chars, gone)) + sum(map(_chars, months.values()))
        while (
            total > max_chars and (older := min(filter(months.get, months), default=day)) < day[:7]
        ):
            total -= _chars(months.pop(older))  # our month is older, and is dropped first
        if total <= max_chars:
            break
        gone.append(found.group())
    for block in gone:
        around = around.replace(block, b"", 1)
    return around, b"".join(gone)


def your_lines(data: bytes) -> Iterator[bytes]:
    """Every line of the file that compaction did not write, except blank lines."""
    inside = LongMemory.parse(data).yours.values()
    for line in b"\n".join((_BLOCK.sub(b"", data), *inside)).split(b"\n"):
        if line.strip():
            yield line.rstrip(b"\r\n")


def name_of(month: str) -> str:
    """The name of a month's block in the list of undone changes."""
    return f"{layout.LONG_MEMORY} {month}"


def _encode(month: str, text: str, yours: bytes = b"") -> bytes:
    begin = f"<!-- memolith:summary {month} -->\n## Summary ({month})\n\n{text}\n"
    return begin.encode(errors="replace") + yours + b"<!-- /memolith:summary -->\n\n"


def _yours_in(body: bytes) -> Iterator[bytes]:
    """The lines of a block that you wrote, and the blank lines between two of them."""
    blank: list[bytes] | None = None
    for line in body.splitlines(keepends=True):
        if not line.strip():
            if blank is not None:
                blank.append(line)
        elif _HEADING.fullmatch(line) or _cites_records(line):
            blank = None
        else:
            yield from blank or ()
            yield line
            blank = []


def _cites_records(line: bytes) -> bool:
    found = read_line(line.decode(errors="replace").strip())
    return found is not None and bool(found.names)


def _chars(data: bytes) -> int:
    return len(data.decode(errors="replace"))
