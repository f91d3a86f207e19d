"""The rolling window: MEMORY.md is kept under a limit, what leaves it goes to the archive."""

from __future__ import annotations

from dataclasses import dataclass

from memolith.files.backup import prune_backups, save_backup
from memolith.files.document import Document
from memolith.reports import TrimReport
from memolith.types import policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from memolith.config import TrimConfig
    from memolith.files.document import Line
    from memolith.files.folder import Folder
    from memolith.files.transaction import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class TrimPlan:
    """Which lines stay and which go to the archive, both in file order."""

    kept: Document
    archived: tuple[Line, ...]
    records_before: int
    reason: str = ""  # why nothing is to be done


def plan_trim(document: Document, config: TrimConfig) -> TrimPlan:
    """Choose the oldest records to archive, protected categories last. Prose is never touched.

    Over the limit, we go below it by the slack, so that not every append rewrites the file.
    """
    records = list(document.records())
    chars = [len(line.data.decode(errors="replace")) for line, _ in records]
    total = len(document.data.decode(errors="replace")) if config.max_chars else 0
    over_count = bool(config.max_records) and len(records) > config.max_records
    too_long = bool(config.max_chars) and total > config.max_chars
    # Prose is never trimmed, so records cannot pay for what prose alone takes.
    over_chars = too_long and total - sum(chars) <= config.max_chars
    if not over_count and not over_chars:
        reason = "prose alone is over the limit, and prose is never trimmed"
        return TrimPlan(
            kept=document,
            archived=(),
            records_before=len(records),
            reason=reason if too_long else "under the limit",
        )
    left, size = len(records), total
    count_goal = _goal(config.max_records, config.slack) if over_count else left
    char_goal = _goal(config.max_chars, config.slack) if over_chars else size
    gone: set[int] = set()
    by_worth = sorted(
        range(len(records)), key=lambda at: (policy(records[at][1].category).protected, at)
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


def trim(
    transaction: Transaction, path: str, config: TrimConfig, *, now: datetime, keep: int
) -> TrimReport:
    """Apply the plan: backup, then archive, then MEMORY.md, all or nothing."""
    folder = transaction.folder
    stamp = folder.stamp(path)
    data = folder.read(path) or b""
    plan = plan_trim(Document.parse(path, data), config)
    if not plan.archived:
        before = plan.records_before
        return TrimReport(before=before, kept=before, archived=0, skipped=plan.reason)
    backup = save_backup(folder, {path: data}, reason="trim", now=now)
    lines = _not_yet_archived(folder, config.archive_path, plan.archived)
    if lines:
        transaction.append(config.archive_path, lines)
    transaction.replace(path, plan.kept.data, stamp)
    transaction.commit()
    prune_backups(folder, keep)
    return TrimReport(
        before=plan.records_before,
        kept=plan.records_before - len(plan.archived),
        archived=len(plan.archived),
        archive=config.archive_path,
        backup=backup,
    )


def _goal(limit: int, slack: float) -> int:
    return limit - int(limit * slack)


def _not_yet_archived(folder: Folder, path: str, lines: tuple[Line, ...]) -> bytes:
    """The lines, without those that a power cut between archive and MEMORY.md left there already.

    They can only stand at the archive's very end, so that is all we look at.
    """
    whole = [line.data if line.data.endswith(b"\n") else line.data + b"\n" for line in lines]
    tail = (folder.read(path) or b"")[-sum(map(len, whole)) :].split(b"\n")
    known = set(tail)
    return b"".join(line for line in whole if line[:-1] not in known)
