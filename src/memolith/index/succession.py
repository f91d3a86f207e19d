"""Which records took the place of others: from each the way to the one that holds now."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any

from memolith.index.fetching import batches, marks
from memolith.index.rows import NEWER, REPLACED, clean
from memolith.results import Filters

if TYPE_CHECKING:
    import apsw

# Who corrects a record so often has a loop in it, made by hand.
_MOST_STEPS = 50


def successors(
    db: apsw.Connection, record_ids: Collection[str], filters: Filters
) -> dict[str, tuple[int, ...]]:
    """For each of these records that is past, as of the day asked for, the chunks of those that followed.

    Those that the caller may not see, or that have expired, are left out of the way, not the way itself.
    """
    by_clean = {clean(record_id): record_id for record_id in record_ids if record_id}
    steps = dict[str, _Successor | None]()
    new = set(by_clean)
    for _ in range(_MOST_STEPS):
        found = _next(db, new, filters)
        steps |= dict.fromkeys(new) | found
        new = {newer.record_id for newer in found.values()} - steps.keys()
        if not new:
            break
    return {by_clean[old]: _way(old, steps) for old in by_clean if steps[old]}


def is_replaced(db: apsw.Connection, name: str) -> bool:
    """Whether a record whose id begins so is past."""
    first = clean(name)
    return bool(db.execute(REPLACED, (first, first + chr(0x10FFFF))).fetchone())


class _Successor:
    """A record that took the place of another, in whichever files it stands."""

    __slots__ = ("is_visible", "key", "record_id")

    def __init__(self, rows: list[tuple[Any, ...]], filters: Filters) -> None:
        """`rows` are those of `NEWER` of one record; it is as secret as the strictest of them says."""
        now = filters.now.timestamp() if filters.now else 0
        # No copy if possible, the file that was added last, and of a long note its beginning.
        _, self.record_id, _, self.key, *_ = min(
            rows, key=lambda row: (row[2] % 2, -row[4], row[5])
        )
        is_secret, has_expired = (
            any(row[6] for row in rows),
            any(0 < row[7] <= now for row in rows),
        )
        self.is_visible = not has_expired and (filters.include_secret or not is_secret)


def _next(
    db: apsw.Connection, record_ids: Collection[str], filters: Filters
) -> dict[str, _Successor]:
    """What took the place of each of these next; of several the one that was written last."""
    until = filters.as_of.toordinal() if filters.as_of else date.max.toordinal()
    rows = dict[str, dict[str, list[tuple[Any, ...]]]]()
    for some in batches(list(record_ids)):
        for row in db.execute(f"{NEWER} ({marks(some)})", (until, *some)):
            rows.setdefault(row[0], {}).setdefault(row[1], []).append(row)
    newest = {
        old: max(newer.values(), key=lambda some: max(row[3] for row in some))
        for old, newer in rows.items()
    }
    return {old: _Successor(some, filters) for old, some in newest.items()}


def _way(record_id: str, steps: Mapping[str, _Successor | None]) -> tuple[int, ...]:
    keys, passed = list[int](), {record_id}
    while (newer := steps.get(record_id)) and newer.record_id not in passed:
        record_id = newer.record_id
        passed.add(record_id)
        if newer.is_visible:
            keys.append(newer.key)
    return tuple(keys)
