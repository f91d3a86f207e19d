"""However records lie in time, planning ends, counts right, and puts every record into one place."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from memolith.jobs.compact_figures import LEVELS, Entry, Size
from memolith.jobs.compact_levels import Levels
from memolith.jobs.heads import Head

if TYPE_CHECKING:
    from collections.abc import Callable

    from memolith.types import Trust

FIRST = date(2025, 10, 1)


def entry(number: int, day: int, level: int, chars: int, kind: Trust) -> Entry:
    when = FIRST + timedelta(days=day)
    head = Head(
        number=number,
        data=b"",
        id=f"id{number}",
        category="note",
        sensitivity="public",
        channel="cli",
        created=datetime(when.year, when.month, when.day, tzinfo=UTC),
    )
    return Entry(head, level, when, chars, kind)


LIVES = st.lists(
    st.tuples(
        st.integers(0, 500),
        st.sampled_from([0, 0, 0, 1, 2, 3, 4]),
        st.integers(150, 3000),
        st.sampled_from(["user", "agent", "external"]),
    ),
    min_size=1,
    max_size=80,
).map(lambda rows: [entry(number, *row) for number, row in enumerate(rows, 1)])


def over_of(records: int, chars: int) -> Callable[[Size], Size]:
    return lambda size: Size(max(0, size.records - records), max(0, size.chars - chars))


@settings(max_examples=60, deadline=None)
@given(LIVES, st.integers(0, 40), st.integers(0, 40_000), st.booleans())
def test_planning_ends_and_what_it_counts_is_what_it_makes(
    life: list[Entry], records: int, chars: int, by_count: bool
) -> None:
    whole = Size(len(life), sum(one.chars for one in life))
    levels = Levels(life, whole, by_count=by_count)
    over = over_of(records, chars)
    steps = 0
    while any(over(levels.size)) and levels.raise_oldest(over):
        steps += 1
        assert steps <= len(life) * len(LEVELS)
    groups = list(levels.groups())
    told = [one for group in groups for one in group.entries]
    assert len(told) == len({one.head.number for one in told})
    assert levels.size.records == len(life) - len(told) + len(groups)
    assert all(group.max_chars > 0 and group.entries for group in groups)
    squeezed = list(levels.squeezed(over))
    kept = {one.head.number for group in squeezed if not group.retired for one in group.entries}
    gone = {one.head.number for group in squeezed if group.retired for one in group.entries}
    assert not kept & gone
    assert kept | gone <= {one.head.number for one in life}
