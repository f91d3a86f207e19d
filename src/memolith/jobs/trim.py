"""The rolling window: MEMORY.md is kept under a limit, what leaves it goes to the archive."""

from __future__ import annotations

from dataclasses import dataclass

from memolith.config.sections import TrimConfig
from memolith.files.document import Document, Line
from memolith.jobs.changes import Edits, lost_lines, not_yet_archived
from memolith.jobs.job import Job, Plan, Reader, Snapshot
from memolith.store import Store
from memolith.text.wording import counted
from memolith.types import PROTECTED

_ORDER = "oldest first; facts, preferences, decisions and summaries last"
_NO_LIMIT = "no limit is set: see trim.max_records and trim.max_chars"


@dataclass(frozen=True, slots=True)
class Trimming:
    """Which lines go to the archive, in file order, of how many records; or why none does."""

    archived: tuple[Line, ...]
    records: int
    reason: str = ""


def plan_trim(document: Document, config: TrimConfig) -> Trimming:
    """Choose the oldest records to archive, protected categories last. Prose is never touched.

    Over the limit, we go a tenth below it, so that not every append rewrites the file.
    """
    records = list(document.records())
    chars = [len(line.data.decode(errors="replace")) for line, _ in records]
    total = len(document.data.decode(errors="replace"))
    over_count = 0 < config.max_records < len(records)
    too_long = 0 < config.max_chars < total
    # Prose is never trimmed, so records cannot pay for what prose alone takes.
    over_chars = too_long and total - sum(chars) <= config.max_chars
    if not over_count and not over_chars:
        reason = "within the limits" if config.max_records or config.max_chars else _NO_LIMIT
        if too_long:
            reason = "prose alone is over the limit, and prose is never trimmed"
        return Trimming((), len(records), reason)
    left, size = len(records), total
    count_goal = _goal(config.max_records) if over_count else left
    char_goal = _goal(config.max_chars) if over_chars else size
    gone: list[Line] = []
    by_worth = sorted(range(left), key=lambda at: (records[at][1].category in PROTECTED, at))
    for at in by_worth:
        if left <= count_goal and size <= char_goal:
            break
        gone.append(records[at][0])
        left, size = left - 1, size - chars[at]
    return Trimming(tuple(sorted(gone, key=lambda line: line.number)), len(records))


class TrimJob(Job[Plan]):
    """Bring MEMORY.md under its limits; what leaves it goes to the archive."""

    name = "trim"
    sections = ("trim",)

    def __init__(self, store: Store) -> None:
        """It keeps the MEMORY.md of this memory short."""
        super().__init__(store)
        self._path, self._config = store.config.profile.primary, store.config.trim

    def plan(self, snapshot: Snapshot) -> Plan:
        """Which records go."""
        document = Document.parse(self._path, snapshot.read(self._path) or b"")
        found = plan_trim(document, self._config)
        before = snapshot.read(self._config.archive_path)
        archive = Edits(self._config.archive_path, before, archive=True)
        memory = Edits(self._path, document.data)
        archive.append(not_yet_archived(before or b"", [line.data for line in found.archived]))
        memory.remove(line.number for line in found.archived)
        gone = len(found.archived)
        return Plan(
            skipped=found.reason,
            changes=tuple(filter(None, (archive.change(), memory.change()))) if gone else (),
            lines=(f"{counted(gone, 'record')} → the archive", _ORDER),
            counts={"before": found.records, "after": found.records - gone, "archived": gone},
        )

    def problem(self, before: Reader, after: Reader) -> str:
        """Every line that left MEMORY.md must be in the archive."""
        archive = after(self._config.archive_path)
        is_lost = lost_lines(before(self._path), after(self._path), archive)
        return "a record would have been lost" if is_lost else ""


def _goal(limit: int) -> int:
    return limit - limit // 10
