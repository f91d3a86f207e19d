"""A promoted fact whose source was edited or deleted by hand goes with the next dream; one that moved stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.lifecycle.dreams import COOKIE, DIARY, LOG, Life

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import StoppedTime

MARTA = "Marta carries a backpack of 14 kg over the pass"
DAY = "memory/2026-11-15.md"


@pytest.fixture
def life(root: str, stopped_time: StoppedTime) -> Life:
    """A record and a line of prose, both promoted; MEMORY.md has no records, as after a trim."""
    life = Life(root, stopped_time)
    life.memory.remember(MARTA)
    life.memory.remember("The garden behind the office has two apple trees")
    life.write("MEMORY.md", "## Mine\n\nAlways greet me by name.\n")
    life.ask("what does Cookie weigh?", "does the dog like carrots?", days=3)
    life.ask("what does Marta carry?", "how heavy is the backpack over the pass?", days=3)
    life.memory.jobs.dream()
    assert all(any(words in line for line in life.promoted()) for words in (COOKIE, MARTA))
    return life


def without(text: str, words: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if words not in line)


def is_left(life: Life, words: str) -> bool:
    life.memory.jobs.dream()
    return any(words in line for line in life.promoted())


@pytest.mark.parametrize(
    ("path", "words", "change"),
    [
        (DAY, MARTA, lambda text: text.replace("14 kg", "16 kg")),
        (DAY, MARTA, lambda text: without(text, MARTA)),
        (LOG, COOKIE, lambda text: text.replace("12 kg", "13 kg")),
        (LOG, COOKIE, lambda text: without(text, COOKIE)),
        (LOG, COOKIE, lambda text: text.replace(COOKIE, f"It is not true that {COOKIE}")),
        (LOG, COOKIE, lambda text: text.replace(COOKIE, f"{COOKIE} no more")),
    ],
    ids=["record edited", "record deleted", "prose edited", "prose deleted", "denied", "ended"],
)
def test_what_is_not_said_any_more_is_taken_out(
    life: Life, path: str, words: str, change: Callable[[str], str]
) -> None:
    before = life.promoted()
    life.write(path, change(life.read(path)))
    report = life.memory.jobs.dream()
    assert report.counts["outdated"] == 1
    assert life.promoted() == [line for line in before if words not in line]
    assert words not in life.memory.session_start().text
    assert "Always greet me by name." in life.read()
    life.memory.jobs.undo(report.id)
    assert life.promoted() == before


def test_an_edited_record_goes_though_an_archive_has_it_as_it_was(life: Life) -> None:
    life.write(".memolith/archive/2026-11.md", life.read(DAY))
    life.write(DAY, life.read(DAY).replace("14 kg", "16 kg"))
    assert not is_left(life, MARTA)


@pytest.mark.parametrize(
    "to", [".memolith/archive/2026-11.md", "memory/2026-11-01.md", "Hiking.md"]
)
def test_what_moved_to_another_file_stays(life: Life, to: str) -> None:
    for path, words in ((DAY, MARTA), (LOG, COOKIE)):
        (moved,) = (line for line in life.read(path).splitlines() if words in line)
        life.write(to, f"{life.read(to)}{moved}\n")
        life.write(path, without(life.read(path), words))
    assert is_left(life, MARTA)
    assert is_left(life, COOKIE)


def test_what_was_written_on_stays(life: Life) -> None:
    life.write(LOG, DIARY.replace(COOKIE, f"{COOKIE}. She sleeps\n  in the kitchen."))
    assert is_left(life, COOKIE)


def test_a_log_that_was_put_away_as_a_whole_takes_nothing_back(life: Life) -> None:
    for path in (DAY, LOG):
        Path(life.memory.root, path).unlink()
    assert is_left(life, MARTA)
    assert is_left(life, COOKIE)


def test_of_a_damaged_log_nobody_can_tell(life: Life) -> None:
    life.write(DAY, broken := life.read(DAY).replace(f'"{MARTA}"', MARTA))
    assert f'"{MARTA}"' not in broken
    assert is_left(life, MARTA)


def test_a_copy_that_a_job_made_says_nothing(life: Life) -> None:
    life.write("LONGMEMORY.md", f"## 2026-11\n\n- {COOKIE}\n")
    life.write(LOG, without(DIARY, COOKIE))
    assert not is_left(life, COOKIE)
