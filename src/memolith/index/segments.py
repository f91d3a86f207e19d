"""The segments of an index: files for most chunks, one in memory for those written since.

Chunks are numbered as they come. Each file holds those of a range of numbers; the newest are put
together in memory. When these have become many they are written to a file of their own, and files
of about the same size are merged, so a chunk is rewritten only a few times in its life.

A chunk may get its vector when it stands in a file already. Words find it all the same, so the file stays
as it is until it lacks many vectors, or the last one has come.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from memolith.index import generations
from memolith.index.database import DamageError, Database
from memolith.index.live import LiveSegment
from memolith.index.postings import Lengths
from memolith.index.recent import Recent
from memolith.index.rows import SEARCHED, Rows
from memolith.index.segment import Row, Segment

# Up to so many chunks are put together in memory.
RECENT = 2_000
# A file is merged with the one before it unless that is this many times as large.
_RATIO = 4
# No file holds more: making one needs several times its size in memory.
MOST = 250_000
# A file is written anew when this share of it no longer counts, or has got a vector since.
_MOST_GONE = _MOST_LATE = 0.25
_WAITING = "SELECT count(*) FROM chunks WHERE vector IS NULL AND key BETWEEN ? AND ?"
# Whether any file holds a chunk that was removed.
_HOLDS_REMOVED = (
    "SELECT 1 FROM removed JOIN segments ON removed.key BETWEEN segments.first AND segments.last"
)
_PURGED = "SELECT value FROM meta WHERE key = 'purged'"
# A purge that others overtake so often leaves all of it to the next generation.
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Range:
    """One file and the chunks it covers."""

    name: str
    first: int
    last: int


class Segments:
    """What is searched, brought up to date whenever the database has changed."""

    def __init__(self, database: Database, dimensions: int) -> None:
        """Nothing is loaded before the first search."""
        self._database = database
        self._db = database.connection
        self._dimensions = dimensions
        self._searched = Rows(database.salt).searched
        self._version: tuple[object, int] | None = None
        self._files: dict[str, Segment] = {}
        self._unreadable: set[str] = set()
        self._live: list[LiveSegment] = []
        self._recent = Recent(
            self._rows, lambda first, last: database.one(_WAITING, first, last), dimensions
        )

    def current(self, version: tuple[object, int] | None = None) -> Sequence[LiveSegment]:
        """The segments as of now, or as of what was seen just before: others may write all the time."""
        version = version or self.seen()
        if version != self._version:
            self._load()
            self._version = version
        return self._live

    def seen(self) -> tuple[object, int]:
        """What changes whenever anybody writes."""
        # The first number tells of other connections' changes, the second of our own.
        return self._database.one("PRAGMA data_version"), self._db.total_changes()

    def maintain(self, most_gone: float = _MOST_GONE, most_late: float = _MOST_LATE) -> bool:
        """Write and merge files, if it is worth it.

        That is if more than a share of one was removed, or has got a vector since it was written.
        """
        changed = False
        while (due := self._due(most_gone, most_late)) is not None:
            if not self._write(*due):
                break
            changed = True
        return changed

    def purge(self) -> bool:
        """Leave no removed chunk in any file; False if others were always faster."""
        for _ in range(_ATTEMPTS):
            self.maintain(most_gone=0)
            # While we write nobody else gives a file its place; who has read rows before writes none
            # afterwards that holds them.
            with self._database.writing():
                if not self._database.one(_HOLDS_REMOVED):
                    self._db.execute(
                        "INSERT OR REPLACE INTO meta VALUES ('purged', ?)", (os.urandom(8).hex(),)
                    )
                    self._sweep()
                    self._recent.forget()
                    self._version = None
                    return True
        return False

    def _load(self) -> None:
        with self._db:  # one snapshot for all of it
            self._database.check_model()
            ranges = self._ranges()
            removed = [key for (key,) in self._db.execute("SELECT key FROM removed")]
            covered = ranges[-1].last if ranges else 0
            self._open_files(ranges)
            recent = self._recent.segments(covered + 1, self._lengths_beside(()))
            expected = self._database.one("SELECT coalesce(sum(chunks), 0) FROM files")
            wrongly = self._database.one("SELECT 1 FROM removed JOIN chunks USING (key)")
        found = [*self._files.values(), *recent] or [Segment.build((), self._dimensions)]
        self._live = [LiveSegment(segment, removed) for segment in found]
        secret = np.concatenate([live.secret_records() for live in self._live])
        for live in self._live:
            live.keep_secret(secret)
        if wrongly or expected != sum(len(live.segment) - live.gone for live in self._live):
            raise DamageError("chunks are missing, or there are too many")

    def _open_files(self, ranges: Sequence[Range]) -> None:
        self._files = {part.name: self._files.get(part.name) or self._open(part) for part in ranges}

    def _lengths_beside(self, replaced: Sequence[Range]) -> Lengths:
        """How long the chunks of all files are, but for some of these."""
        left_out = {part.name for part in replaced}
        files = self._files.items()
        return Lengths.together(file.lengths for name, file in files if name not in left_out)

    def _open(self, part: Range) -> Segment:
        try:
            segment = Segment.load(self._path(part))
        except (OSError, ValueError):  # deleted or damaged: everything in it is in the database too
            segment = Segment.build(self._rows(part.first, part.last), self._dimensions)
            self._unreadable.add(part.name)
        return segment

    def _due(self, most_gone: float, most_late: float) -> tuple[list[Range], int, int] | None:
        """The files to replace, and the range of the one to write; None if all is well."""
        ranges = self._ranges()
        first = ranges[-1].last + 1 if ranges else 1
        recent = "SELECT count(*), min(key), max(key) FROM chunks WHERE key >= ?"
        for count, lowest, last in self._db.execute(recent, (first,)):
            if count > RECENT:
                # Counted from the lowest there is: where much was removed many numbers are missing,
                # and a file without chunks would be due for ever.
                return [], first, min(last, lowest + MOST - 1)
        live = self.current()
        for part, found in zip(ranges, live, strict=False):
            missing = not os.path.exists(self._path(part)) or part.name in self._unreadable
            size = len(found.segment) + RECENT
            if missing or found.gone > most_gone * size or self._is_late(part, most_late * size):
                return [part], part.first, part.last
        for older, newer, one, two in zip(ranges, ranges[1:], live, live[1:], strict=False):
            small = len(one.segment) + len(two.segment) <= MOST
            if small and len(one.segment) < _RATIO * len(two.segment):
                return [older, newer], older.first, newer.last
        return None

    def _is_late(self, part: Range, spared: float) -> bool:
        """Whether a file lacks more vectors than this, or its last chunk that waited has got one."""
        before = generations.waiting_in(part.name)
        if before == 0:
            return False
        waiting: int = self._database.one(_WAITING, part.first, part.last)
        return before is None or (waiting < before and (not waiting or before - waiting > spared))

    def _write(self, replaced: list[Range], first: int, last: int) -> bool:
        """Write a file in the place of others; False if another process was faster, or forgets."""
        with self._db:
            purged = self._database.one(_PURGED)
            self._open_files(self._ranges())
            rows = self._rows(first, last)
            gone = self._database.one(
                "SELECT max(number) FROM removed WHERE key BETWEEN ? AND ?", first, last
            )
        waiting = sum(row.vector is None for row in rows)
        name = generations.segment_name(self._database.generation, first, last, waiting)
        path = os.path.join(self._database.folder, name)
        try:
            if rows:
                beside = self._lengths_beside(replaced)
                Segment.build(rows, self._dimensions, beside).save(path)
        except FileNotFoundError:  # swept away by a purge
            return False
        faster = True
        try:
            with self._database.writing():
                covering = [
                    part for part in self._ranges() if first <= part.last and part.first <= last
                ]
                faster = (
                    covering != replaced
                    or self._database.one(_PURGED) != purged
                    or generations.newest(self._database.folder) != self._database.generation
                )
                if not faster:
                    self._db.executemany(
                        "DELETE FROM segments WHERE name = ?", [(part.name,) for part in replaced]
                    )
                    if rows:
                        self._db.execute(
                            "INSERT INTO segments VALUES (?, ?, ?)", (name, first, last)
                        )
                    self._db.execute(
                        "DELETE FROM removed WHERE number <= ? AND key BETWEEN ? AND ?",
                        (gone or 0, first, last),
                    )
        finally:
            if faster:
                generations.discard(path)
        if faster:
            return False
        for part in replaced:
            generations.discard(self._path(part))  # whoever still has it mapped keeps it
        if rows:
            with suppress(OSError):
                self._sweep(beside=path)
        return True

    def _sweep(self, beside: str | None = None) -> None:
        named = {part.name for part in self._ranges()}
        generations.sweep(self._database.folder, named, beside)

    def _ranges(self) -> list[Range]:
        rows = list(self._db.execute("SELECT * FROM segments ORDER BY first"))
        if any(None in row for row in rows):  # as a damaged page can hold them
            raise DamageError("segments")
        return [Range(*row) for row in rows]

    def _rows(self, first: int, last: int) -> list[Row]:
        return [self._searched(row) for row in self._db.execute(SEARCHED, (first, last))]

    def _path(self, part: Range) -> str:
        return os.path.join(self._database.folder, part.name)
