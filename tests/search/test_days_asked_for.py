"""Every way to name days, in both languages, against everything that has a date.

Today is Wednesday, 15 April 2026. On each day of the last two years something was kept: a record, a
note, a turn of a chat and a line of the daily log.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.text.dates import SURE, find_days

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memolith.results import Hit

TODAY = date(2026, 4, 15)
FORMS = [
    # one day
    ("today", "2026-04-15", "2026-04-15"),
    ("hoy", "2026-04-15", "2026-04-15"),
    ("yesterday", "2026-04-14", "2026-04-14"),
    ("ayer", "2026-04-14", "2026-04-14"),
    ("the day before yesterday", "2026-04-13", "2026-04-13"),
    ("anteayer", "2026-04-13", "2026-04-13"),
    ("antier", "2026-04-13", "2026-04-13"),
    ("3 days ago", "2026-04-12", "2026-04-12"),
    ("hace 3 días", "2026-04-12", "2026-04-12"),
    ("last Tuesday", "2026-04-14", "2026-04-14"),
    ("el martes pasado", "2026-04-14", "2026-04-14"),
    ("on Friday", "2026-04-10", "2026-04-10"),
    ("el viernes", "2026-04-10", "2026-04-10"),
    ("on 2026-04-11", "2026-04-11", "2026-04-11"),
    ("el 2026-04-11", "2026-04-11", "2026-04-11"),
    ("on March 3", "2026-03-03", "2026-03-03"),
    ("on the 3rd of March 2025", "2025-03-03", "2025-03-03"),
    ("el 3 de marzo", "2026-03-03", "2026-03-03"),
    ("el 3/4/2026", "2026-04-03", "2026-04-03"),
    # weeks, months, years
    ("last week", "2026-04-06", "2026-04-12"),
    ("la semana pasada", "2026-04-06", "2026-04-12"),
    ("last weekend", "2026-04-11", "2026-04-12"),
    ("el fin de semana pasado", "2026-04-11", "2026-04-12"),
    ("in March", "2026-03-01", "2026-03-31"),
    ("en marzo", "2026-03-01", "2026-03-31"),
    ("in December 2025", "2025-12-01", "2025-12-31"),
    ("en diciembre de 2025", "2025-12-01", "2025-12-31"),
    ("last month", "2026-03-01", "2026-03-31"),
    ("el mes pasado", "2026-03-01", "2026-03-31"),
    ("last year", "2025-01-01", "2025-12-31"),
    ("el año pasado", "2025-01-01", "2025-12-31"),
    # ranges
    ("between March 3 and 10", "2026-03-03", "2026-03-10"),
    ("del 3 al 10 de marzo", "2026-03-03", "2026-03-10"),
    ("from 2026-03-03 to 2026-03-10", "2026-03-03", "2026-03-10"),
    ("since Monday", "2026-04-13", "2026-04-15"),
    ("desde el lunes", "2026-04-13", "2026-04-15"),
    ("in the last 3 days", "2026-04-12", "2026-04-15"),
    ("en los últimos 3 días", "2026-04-12", "2026-04-15"),
    ("before April 2025", "2024-04-15", "2025-03-31"),
    ("antes de abril de 2025", "2024-04-15", "2025-03-31"),
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with something of each kind from many days, none of which says its day."""
    root = tmp_path_factory.mktemp("days")
    now = [datetime(2026, 4, 15, 12, tzinfo=UTC)]
    with Memory(root, clock=Clock("UTC", now=lambda: now[0])) as memory:
        ages = sorted({*range(46), *range(46, 730, 9), 408})
        for age in reversed(ages):
            now[0] = datetime(2026, 4, 15, 12, tzinfo=UTC) - timedelta(days=age)
            memory.remember(f"The garden got plant number {age}")
            memory.save_note(f"A plant of the garden was drawn on sheet {age}")
            memory.chats.log(f"Plant {age} of the garden grows", "", chat="garden")
            log = Path(root, "memory", f"{now[0].date()}.md")
            with log.open("a") as file:
                file.write(f"\nWatered the garden and plant {age}.\n")
        yield memory


def kind(hit: Hit) -> str:
    if hit.chat:
        return "turn"
    if hit.citation.path.count("/") > 1:
        return "note"
    return "record" if hit.record_id else "log"


@pytest.mark.parametrize(("words", "first", "last"), FORMS)
def test_what_is_from_these_days_comes_first(
    kept: Memory, words: str, first: str, last: str
) -> None:
    found = kept.search(f"garden plant {words}", 20).hits
    of_these = [hit for hit in found if hit.dated and first <= str(hit.dated) <= last]
    assert list(found[:2]) == of_these[:2]
    (named,) = find_days(words, TODAY)
    if named.confidence == SURE and first == last:  # one that was guessed pushes less aside
        assert {kind(hit) for hit in of_these} == {"record", "note", "turn", "log"}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what have I been up to lately?", "2026-03-16"),
        ("any recent notes?", "2026-03-16"),
        ("¿qué hice últimamente?", "2026-03-16"),
        ("january", "2026-01-01"),
    ],
)
def test_what_may_be_no_date_is_one_if_nothing_else_is_asked(
    kept: Memory, question: str, first: str
) -> None:
    found = kept.search(question, 10).hits
    assert all(first <= str(hit.dated) for hit in found)


def test_that_nothing_is_from_the_days_asked_for_is_told(tmp_path: Path) -> None:
    now = [datetime(2026, 3, 1, 12, tzinfo=UTC)]
    with Memory(tmp_path, clock=Clock("UTC", now=lambda: now[0])) as memory:
        memory.remember("We cooked soup in the garden")
        now[0] = datetime(2026, 4, 15, 12, tzinfo=UTC)
        today = 'Nothing here is dated "today" (2026-04-15); showing the closest.'
        assert today in memory.search("today").warnings
        assert today in memory.search("what happened today?").warnings
        assert (
            "Nothing here is dated 2020-01-01; showing the closest."
            in memory.search("on 2020-01-01").warnings
        )
        week = 'Nothing here is dated "last week" (2026-04-06 to 2026-04-12); showing the closest.'
        assert week in memory.search("what did we cook last week?").warnings
        # Who plans something for today asks for what was said before.
        assert memory.search("what shall we cook today?").warnings == ()
        assert memory.search("what did we cook on March 1?").warnings == ()


@pytest.mark.parametrize(
    "message", ["I meet the dentist on Friday at 10", "the dentist, on Friday at ten, will ask"]
)
def test_who_names_a_time_on_friday_speaks_of_the_next_one(kept: Memory, message: str) -> None:
    assert not any(hit.named for hit in kept.search(message, 20).hits)
    assert any(hit.named for hit in kept.search("what did we do on Friday at 10?", 20).hits)
