"""Which records replaced which: from each the chain to the one that holds now."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from memolith.index.rows import clean, marks
from memolith.results import Filters

# A longer chain is a loop made by hand.
_MAX_STEPS = 50
_NEWER = (
    "SELECT supersedes, record_id, record, key, file, first_line, sensitivity = 'secret', expires"
    " FROM chunks WHERE supersedes <> '' AND dated <= ? AND supersedes IN"
)


class Rows(Protocol):
    """A database that can be asked for newer records: of another engine, too."""

    def execute(self, statement: str, values: Sequence[Any], /) -> Iterable[tuple[Any, ...]]:
        """The rows of a statement."""


def successors(
    db: Rows, record_ids: Collection[str], filters: Filters
) -> dict[str, tuple[int, ...]]:
    """For each of these records that was superseded, as of the day asked for, the chunks that followed.

    Those that the caller may not see, or that have expired, are left out of the chain, not the chain itself.
    """
    by_clean = {clean(record_id): record_id for record_id in record_ids if record_id}
    steps = dict[str, _Successor | None]()
    new = set(by_clean)
    for _ in range(_MAX_STEPS):
        found = _next(db, new, filters)
        steps |= dict.fromkeys(new) | found
        new = {newer.record_id for newer in found.values()} - steps.keys()
        if not new:
            break
    return {by_clean[old]: _chain(old, steps) for old in by_clean if steps[old]}


class _Successor:
    """A record that replaced another, in whichever files it is."""

    __slots__ = ("is_visible", "key", "record_id")

    def __init__(self, rows: list[tuple[Any, ...]], filters: Filters) -> None:
        """`rows` are those of `_NEWER` of one record; it is as secret as the strictest of them says."""
        now = filters.now.timestamp() if filters.now else 0
        # Not a copy if possible, the file that was added last, and of a long note its beginning.
        best = min(rows, key=lambda row: (row[2] % 2, -row[4], row[5]))
        self.record_id, self.key = best[1], best[3]
        is_secret = any(row[6] for row in rows)
        has_expired = any(0 < row[7] <= now for row in rows)
        self.is_visible = not has_expired and (filters.include_secret or not is_secret)


def _next(db: Rows, record_ids: Collection[str], filters: Filters) -> dict[str, _Successor]:
    """What replaced each of these; of several the one that was written last."""
    until = filters.as_of.toordinal() if filters.as_of else date.max.toordinal()
    some = list(record_ids)
    rows = dict[str, dict[str, list[tuple[Any, ...]]]]()
    for row in db.execute(f"{_NEWER} ({marks(some)})", (until, *some)):
        rows.setdefault(row[0], {}).setdefault(row[1], []).append(row)
    newest = {
        old: max(newer.values(), key=lambda same: max(row[3] for row in same))
        for old, newer in rows.items()
    }
    return {old: _Successor(same, filters) for old, same in newest.items()}


def _chain(record_id: str, steps: Mapping[str, _Successor | None]) -> tuple[int, ...]:
    keys, passed = list[int](), {record_id}
    while (newer := steps.get(record_id)) and newer.record_id not in passed:
        record_id = newer.record_id
        passed.add(record_id)
        if newer.is_visible:
            keys.append(newer.key)
    return tuple(keys)
