"""The rolling window: MEMORY.md is kept under a limit, what leaves it goes to the archive."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Self

from memolith.config.sections import TrimConfig
from memolith.files.document import Document, Line
from memolith.jobs.changes import Edits, not_yet_archived, split_lines
from memolith.jobs.job import Job, Plan, Reader, Snapshot, Workplace
from memolith.text.wording import counted
from memolith.types import PROTECTED

NO_LIMIT = "no limit is set"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimPlan(Plan):
    """Which lines stay and which go to the archive, both in file order."""

    kept: Document
    archived: tuple[Line, ...]
    records_before: int


def plan_trim(document: Document, config: TrimConfig) -> TrimPlan:
    """Choose the oldest records to archive, protected categories last. Prose is never touched.

    Over the limit, we go a tenth below it, so that not every append rewrites the file.
    """
    records = list(document.records())
    chars = [len(line.data.decode(errors="replace")) for line, _ in records]
    total = len(document.data.decode(errors="replace")) if config.max_chars else 0
    over_count = bool(config.max_records) and len(records) > config.max_records
    too_long = bool(config.max_chars) and total > config.max_chars
    # Prose is never trimmed, so records cannot pay for what prose alone takes.
    over_chars = too_long and total - sum(chars) <= config.max_chars
    if not over_count and not over_chars:
        reason = "under the limit"
        if too_long:
            reason = "prose alone is over the limit, and prose is never trimmed"
        elif not (config.max_records or config.max_chars):
            reason = NO_LIMIT
        return TrimPlan(
            kept=document,
            archived=(),
            records_before=len(records),
            skipped=reason,
        )
    left, size = len(records), total
    count_goal = _goal(config.max_records) if over_count else left
    char_goal = _goal(config.max_chars) if over_chars else size
    gone: set[int] = set()
    by_worth = sorted(
        range(len(records)), key=lambda at: (records[at][1].category in PROTECTED, at)
    )
    for at in by_worth:
        if left <= count_goal and size <= char_goal:
            break
        gone.add(records[at][0].number)
        left, size = left - 1, size - chars[at]
    return TrimPlan(
        kept=Document(
            document.path, tuple(line for line in document.lines if line.number not in gone)
        ),
        archived=tuple(line for line in document.lines if line.number in gone),
        records_before=len(records),
    )


class TrimJob(Job[TrimPlan]):
    """Bring MEMORY.md under its limits; what leaves it goes to the archive."""

    name = "trim"
    sections = ("trim",)

    def __init__(self, path: str, config: TrimConfig) -> None:
        """`path` is the MEMORY.md that is kept short."""
        self._path = path
        self._config = config

    @classmethod
    def of(cls, place: Workplace) -> Self:
        """The job of this memory."""
        return cls(place.config.profile.primary, place.config.trim)

    def plan(self, snapshot: Snapshot) -> TrimPlan:
        """Which records go."""
        document = Document.parse(self._path, snapshot.read(self._path) or b"")
        plan = plan_trim(document, self._config)
        before = snapshot.read(self._config.archive_path)
        archive, memory = Edits(self._config.archive_path, before), Edits(self._path, document.data)
        archive.append(not_yet_archived(before or b"", [line.data for line in plan.archived]))
        memory.remove(line.number for line in plan.archived)
        return replace(
            plan,
            changes=tuple(filter(None, (archive.change(), memory.change()))),
            lines=(f"move the oldest to the archive: {counted(len(plan.archived), 'record')}",),
            counts={
                "before": plan.records_before,
                "after": plan.records_before - len(plan.archived),
                "archived": len(plan.archived),
            },
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """Every line that left MEMORY.md must stand in the archive."""
        gone = Counter(_lines(before(self._path))) - Counter(_lines(after(self._path)))
        archive = set(_lines(after(self._config.archive_path)))
        return "" if set(gone) <= archive else "a record would have been lost"


def _goal(limit: int) -> int:
    return limit - limit // 10


def _lines(data: bytes) -> list[bytes]:
    return [line.removesuffix(b"\n") for line in split_lines(data)]
