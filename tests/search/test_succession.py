"""Who asks by the words of what was true is led to what is true now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from memolith.types import Record

OLD = "I work at Norwind Energy as a backend developer"
NEW = "Since November I am at Helio Grid, building forecasting models"
NOON = datetime(2026, 11, 10, 12, tzinfo=UTC)


class Filled:
    """A memory with much in it, and a clock that can be set."""

    def __init__(self, folder: Path) -> None:
        self.now = NOON - timedelta(days=30)
        clock = Clock("UTC", now=lambda: self.now)
        self.memory = Memory(folder, clock=clock)
        for number in range(60):
            self.memory.remember(f"The work of day {number} was to sort the mail of room {number}")
        self.old = self.memory.remember(OLD, category="fact")

    def supersede(self, record: Record, text: str, **more: object) -> Record:
        self.now = NOON
        return self.memory.supersede(record.id, text, **more)  # type: ignore[arg-type]


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[Filled]:
    filled = Filled(tmp_path)
    yield filled
    filled.memory.close()


QUESTION = "backend developer at Norwind"


def test_what_holds_now_stands_above_what_was_found_though_it_has_no_word_of_the_question(
    filled: Filled,
) -> None:
    filled.supersede(filled.old, NEW)
    first, second = filled.memory.search(QUESTION, 3).hits[:2]
    assert (first.text, first.superseded, first.superseded_by) == (NEW, False, None)
    assert (second.text, second.superseded) == (OLD, True)
    assert second.superseded_by == first.citation
    assert second.past == f"superseded by {first.citation}"


def test_of_several_the_newest_is_named_and_shown(filled: Filled) -> None:
    again = filled.supersede(filled.old, NEW)
    filled.supersede(again, "Now I mend violins in Cremona")
    texts = [hit.text for hit in filled.memory.search(QUESTION, 3).hits]
    assert texts[:2] == ["Now I mend violins in Cremona", OLD]
    handed = filled.memory.context("What did Norwind have me do as a developer?").hits
    assert [hit.text for hit in handed] == ["Now I mend violins in Cremona"]


def test_a_secret_successor_is_neither_shown_nor_named(filled: Filled) -> None:
    filled.supersede(filled.old, NEW, sensitivity="secret")
    found = filled.memory.search(QUESTION, 10).hits
    (past,) = [hit for hit in found if hit.text == OLD]
    assert (past.superseded, past.superseded_by, past.past) == (True, None, "superseded")
    assert NEW not in [hit.text for hit in found]
    shown = filled.memory.search(QUESTION, 10, include_secret=True).hits
    assert shown[0].text == NEW


def test_hits_are_of_what_was_asked_for_and_the_successor_is_named_all_the_same(
    filled: Filled,
) -> None:
    newer = filled.supersede(filled.old, NEW)
    (hit,) = filled.memory.search(QUESTION, category="fact", until="2026-11-01").hits
    assert (hit.text, hit.superseded_by and hit.superseded_by.path) == (
        OLD,
        newer.citation and newer.citation.path,
    )
    quoted = filled.memory.search('"backend developer"').hits
    assert [hit.text for hit in quoted] == [OLD]
    (before,) = filled.memory.search(QUESTION, category="fact", as_of="2026-11-01").hits
    assert not before.superseded
