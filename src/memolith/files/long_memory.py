"""LONGMEMORY.md: one dated block per month, made by compaction; what you write around them stays."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memolith.files import layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "LONGMEMORY.md"
ARCHIVE = f"{layout.ARCHIVE_FOLDER}/LONGMEMORY-archive.md"
_BLOCK = re.compile(
    rb"^<!-- memolith:summary (?P<month>\d{4}-\d\d) -->\r?\n(?P<body>.*?)"
    rb"^<!-- /memolith:summary -->(?:\r?\n){0,2}",
    re.MULTILINE | re.DOTALL,
)


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

        A month without text has no block. Blocks stand in the order of months. The oldest are dropped first; your text never is.
        """
        blocks: dict[str, bytes] = {}
        for found in _BLOCK.finditer(self.data):  # a month that stands there twice is one block
            month = found["month"].decode()
            blocks[month] = blocks.get(month, b"") + found.group()
        blocks.update({month: _encode(month, text) for month, text in new.items()})
        blocks = {month: block for month, block in blocks.items() if new.get(month, block)}
        yours = _BLOCK.sub(b"", self.data) or layout.load_template(PATH)
        if not yours.endswith(b"\n"):
            yours += b"\n"
        room = max_chars - len(yours.decode(errors="replace"))
        kept: dict[str, bytes] = {}
        for month in sorted(blocks, reverse=True):
            room -= len(blocks[month].decode(errors="replace"))
            if room < 0:
                break
            kept[month] = blocks[month]
        dropped = b"".join(blocks[month] for month in sorted(blocks) if month not in kept)
        return self._put_together(yours, kept), dropped

    def _put_together(self, yours: bytes, blocks: Mapping[str, bytes]) -> bytes:
        """Our blocks where the first of them stood, or at the end."""
        first = _BLOCK.search(self.data)
        ours = b"".join(blocks[month] for month in sorted(blocks))
        if first is None:
            gap = b"" if yours.endswith(b"\n\n") else b"\n"
            return yours + (gap + ours if ours else b"")
        return yours[: first.start()] + ours + yours[first.start() :]


def name_of(month: str) -> str:
    """What a month's block is called among what somebody took back."""
    return f"{PATH} {month}"


def _encode(month: str, text: str) -> bytes:
    """A block with its heading; the marks tell it from what you write yourself."""
    body = f"## Summary ({month})\n\n{text}\n"
    return f"<!-- memolith:summary {month} -->\n{body}<!-- /memolith:summary -->\n\n".encode(
        errors="replace"
    )
