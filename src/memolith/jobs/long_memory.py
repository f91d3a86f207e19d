"""LONGMEMORY.md: one dated block per month, written by compaction; text around and inside blocks is yours.

Compaction wrote the marks and heading of a block and the lines in it that cite records, nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from memolith.files import layout
from memolith.text.lines import read_line

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
        """The file with these blocks, and the blocks that were dropped to stay under the cap, oldest first.

        Blocks are ordered by month; a month without text has none. Your text is never dropped: what you
        wrote into a block that goes is moved to where the blocks begin.
        """
        data = self.data or layout.load_template(layout.LONG_MEMORY)
        if not data.endswith(b"\n"):
            data += b"\n"
        texts = {**self.blocks, **new}
        yours = {month: self.yours.get(month, b"") for month in texts}
        moved = {month: yours[month] for month, text in new.items() if not text}
        ours = {
            month: _encode(month, text, yours[month])
            for month, text in texts.items()
            if month not in moved
        }
        others = [(one["day"].decode(), one.group()) for one in _OTHERS.finditer(data)]
        around = _BLOCK.sub(b"", data)
        room = max_chars - sum(map(_chars, (around, *ours.values(), *moved.values())))
        dropped = b""
        for period, other in sorted([*((month, b"") for month in ours), *others]):
            if room >= 0:
                break
            if other:
                data = data.replace(other, b"", 1)
                dropped += other
                room += _chars(other)
            else:
                moved[period] = yours[period]
                room += _chars(ours.pop(period)) - _chars(moved[period])
                dropped += _encode(period, texts[period]) if texts[period] else b""
        first = _BLOCK.search(data)
        above, below = (data[: first.start()], data[first.start() :]) if first else (data, b"")
        middle = b"".join(moved[month] for month in sorted(moved))
        blocks = b"".join(ours[month] for month in sorted(ours))
        if middle or (first is None and blocks and not above.endswith(b"\n\n")):
            middle += b"\n"
        return above + middle + blocks + _BLOCK.sub(b"", below), dropped


def your_lines(data: bytes) -> Iterator[bytes]:
    """Every line of the file that compaction did not write, except blank lines."""
    inside = LongMemory.parse(data).yours.values()
    for line in b"\n".join((_BLOCK.sub(b"", data), *inside)).split(b"\n"):
        if line.strip():
            yield line.rstrip(b"\r\n")


def _encode(month: str, text: str, yours: bytes = b"") -> bytes:
    body = f"{text}\n" if text else ""
    begin = f"<!-- memolith:summary {month} -->\n## Summary ({month})\n\n{body}"
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
