"""When things were written and handed out: counts for each day, all of one day, and receipts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date

from memolith.clock import Clock
from memolith.errors import MemolithError
from memolith.files import layout
from memolith.files.chat_log import parse_turn
from memolith.files.folder import Folder
from memolith.files.ledger import Ledger
from memolith.files.notes import file_date, is_note_path, records_in
from memolith.files.passages import is_secret_note
from memolith.files.records import shown
from memolith.jobs import history, recalls
from memolith.jobs.reports import Day, DayCounts, Receipt, ReceiptItem
from memolith.results import Turn

_RECORD = re.compile(rb"^- \{", re.MULTILINE)


def days(folder: Folder, clock: Clock) -> tuple[DayCounts, ...]:
    """How much was written, said and asked on each day that has something, oldest first."""
    counts: dict[date, Counter[str]] = defaultdict(Counter)
    for path in folder.walk(layout.DAILY_FOLDER):
        day = file_date(path)
        if day is None:
            continue
        if layout.is_daily_log(path):
            counts[day]["records"] += len(_RECORD.findall(folder.read(path) or b""))
        elif is_note_path(path):
            counts[day]["notes"] += 1
    for turn in _turns(folder):
        counts[clock.day_of(turn.created)]["turns"] += 1
    events = recalls.read_log(folder.read)
    for at in {one.at for one in events if isinstance(one, recalls.Shown)}:
        counts[clock.day_of(at)]["recalls"] += 1
    for job in history.kept_jobs(folder):
        counts[clock.day_of(job.created)]["jobs"] += 1
    return tuple(
        DayCounts(day=day, **found) for day, found in sorted(counts.items()) if found.total()
    )


def one_day(folder: Folder, clock: Clock, day: date) -> Day:
    """Records, notes, turns and jobs of a day, each oldest first; secret records are left out."""
    paths = [layout.daily_log(day)]
    paths += [path for path in folder.walk(layout.DAILY_FOLDER) if is_note_path(path)]
    found = [
        record
        for path in paths
        if file_date(path) == day
        for record in records_in(path, folder.read(path) or b"")
    ]
    visible = shown(found, Ledger.of(folder), include_secret=False) if found else []
    return Day(
        day=day,
        records=tuple(sorted(visible, key=lambda record: record.created)),
        turns=tuple(turn for turn in _turns(folder) if clock.day_of(turn.created) == day),
        jobs=tuple(job for job in history.kept_jobs(folder) if clock.day_of(job.created) == day),
        hidden=len(found) - len(visible),
    )


def receipts(folder: Folder, limit: int, offset: int) -> tuple[Receipt, ...]:
    """The newest first, 0 is all; records and files that became secret since are left out."""
    groups: dict[tuple[object, ...], list[recalls.Shown]] = {}
    used: set[object] = set()
    for event in recalls.read_log(folder.read):
        if isinstance(event, recalls.Shown):
            groups.setdefault((event.at, event.query), []).append(event)
        else:
            used.add(event.record_id or (event.path, event.first_line))
    newest = list(groups.values())[::-1][offset : offset + limit if limit else None]
    secret = set(Ledger.of(folder).secret) if newest else set[str]()
    paths = {one.path for group in newest for one in group}
    secret.update(path for path in paths if _is_secret(folder, path))
    return tuple(
        Receipt(
            at=group[0].at,
            surface=group[0].surface,
            question=group[0].query,
            items=tuple(
                ReceiptItem(
                    citation=f"{one.path}#L{one.first_line}",
                    text=one.snippet,
                    score=one.score,
                    record_id=one.record_id or None,
                    answers=bool(one.answered),
                    used=not used.isdisjoint({one.record_id or 0, (one.path, one.first_line)}),
                    words=one.words,
                )
                for one in group
                if secret.isdisjoint((one.record_id, one.path))
            ),
        )
        for group in newest
    )


def _is_secret(folder: Folder, path: str) -> bool:
    """Whether a file is secret as a whole; one that cannot be read may be."""
    try:
        return is_secret_note(path, folder.read(path) or b"")
    except MemolithError:
        return True


def _turns(folder: Folder) -> Iterator[Turn]:
    lines = (folder.read(layout.CONVERSATIONS) or b"").split(b"\n")
    return (turn for line in lines if line and (turn := parse_turn(line)))
