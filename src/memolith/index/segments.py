"""The segments of an index: files for most chunks, one in memory for those written since.

Chunks are numbered as they come. Each file holds those of a range of numbers; the newest are put
together in memory. When these have become many they are written to a file of their own, and files
of about the same size are merged, so a chunk is rewritten only a few times in its life.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memolith.index.live import LiveSegment
from memolith.index.segment import Row, Segment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

# Up to so many chunks are put together in memory whenever something changed.
RECENT = 2_000
# A file is merged with the one before it unless that is this many times as large.
_RATIO = 4
# A file is written anew when this share of it no longer counts.
_MOST_GONE = 0.25
_ROWS = (
    "SELECT key, file, dated, category, session, chat, sensitivity = 'secret', expires,"
    " terms, vector FROM chunks WHERE key BETWEEN ? AND ? ORDER BY key"
)
_LAST = 1 << 62


@dataclass(frozen=True, slots=True)
class Range:
    """One file and the chunks it covers."""

    name: str
    first: int
    last: int


class Segments:
    """What is searched, brought up to date whenever the database has changed."""

    def __init__(self, db: apsw.Connection, folder: str, dimensions: int) -> None:
        """Nothing is loaded before the first search."""
        self._db = db
        self._folder = folder
        self._dimensions = dimensions
        self._version: tuple[object, int] | None = None
        self._files: dict[str, Segment] = {}
        self._live: list[LiveSegment] = []

    def current(self) -> Sequence[LiveSegment]:
        """The segments as of now: another process may have written since the last call."""
        # The first number tells of other connections' changes, the second of our own.
        version = (self._db.pragma("data_version"), self._db.total_changes())
        if version != self._version:
            self._load()
            self._version = version
        return self._live

    def maintain(self, writing: Callable[[], Any]) -> bool:
        """Write and merge files, if it is worth it; `writing` opens a transaction."""
        changed = False
        while (due := self._due()) is not None:
            self._write(*due, writing)
            changed = True
        return changed

    def _load(self) -> None:
        with self._db:  # one snapshot for all of it
            ranges = self._ranges()
            removed = [key for (key,) in self._db.execute("SELECT key FROM removed")]
            covered = ranges[-1].last if ranges else 0
            recent = self._rows(covered + 1, _LAST)
        files = {}
        for part in ranges:
            segment = self._files.get(part.name) or self._open(part)
            files[part.name] = segment
        self._files = files
        self._live = [LiveSegment(segment, removed) for segment in files.values()]
        self._live.append(LiveSegment(Segment.build(recent, self._dimensions)))

    def _open(self, part: Range) -> Segment:
        try:
            return Segment.load(os.path.join(self._folder, part.name))
        except (OSError, ValueError):  # deleted or damaged: everything in it is in the database too
            return Segment.build(self._rows(part.first, part.last), self._dimensions)

    def _due(self) -> tuple[list[Range], int, int] | None:
        """The files to replace, and the range of the one to write; None if all is well."""
        live = self.current()
        ranges = self._ranges()
        if len(live[-1].segment) > RECENT:
            first = ranges[-1].last + 1 if ranges else 1
            return [], first, int(live[-1].segment.keys[-1])
        for part, found in zip(ranges, live, strict=False):
            missing = not os.path.exists(os.path.join(self._folder, part.name))
            if missing or found.gone > _MOST_GONE * len(found.segment) + RECENT // 4:
                return [part], part.first, part.last
        for older, newer, one, two in zip(ranges, ranges[1:], live, live[1:], strict=False):
            if len(one.segment) < _RATIO * len(two.segment):
                return [older, newer], older.first, newer.last
        return None

    def _write(
        self, replaced: list[Range], first: int, last: int, writing: Callable[[], Any]
    ) -> None:
        with self._db:
            rows = self._rows(first, last)
            gone = self._one(
                "SELECT max(number) FROM removed WHERE key BETWEEN ? AND ?", first, last
            )
        name = f"{first}-{last}-{os.urandom(4).hex()}.segment"
        if rows:
            Segment.build(rows, self._dimensions).save(os.path.join(self._folder, name))
        with writing():
            there = {part.name for part in self._ranges()}
            if not there.issuperset(part.name for part in replaced):
                return  # another process was faster
            self._db.executemany(
                "DELETE FROM segments WHERE name = ?", [(part.name,) for part in replaced]
            )
            if rows:
                self._db.execute("INSERT INTO segments VALUES (?, ?, ?)", (name, first, last))
            self._db.execute(
                "DELETE FROM removed WHERE number <= ? AND key BETWEEN ? AND ?",
                (gone or 0, first, last),
            )
        for part in replaced:
            with suppress(OSError):  # whoever still has it mapped keeps it
                os.unlink(os.path.join(self._folder, part.name))

    def _ranges(self) -> list[Range]:
        return [Range(*row) for row in self._db.execute("SELECT * FROM segments ORDER BY first")]

    def _rows(self, first: int, last: int) -> list[Row]:
        return [
            Row(row[0], row[1:8], row[8], row[9]) for row in self._db.execute(_ROWS, (first, last))
        ]

    def _one(self, statement: str, *values: object) -> Any:
        for row in self._db.execute(statement, values):
            return row[0]
        return None
