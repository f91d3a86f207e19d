"""What became secret or was forgotten is gone from what dreaming knows, copies of it included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from memolith import Memory
from memolith.errors import MemolithError, WriterBusyError
from memolith.jobs import promotion, recalls
from memolith.jobs.dream import DreamJob
from memolith.jobs.recalls import read_state
from tests.lifecycle.dreams import COOKIE, LOG, Life

if TYPE_CHECKING:
    from tests.conftest import StoppedTime

SAFE = "The code of the safe in the office is 4711"
STATE = (recalls.RECALLS, recalls.SIGNALS, *recalls.LOGS)


@pytest.fixture
def life(root: str, stopped_time: StoppedTime) -> Life:
    return Life(root, stopped_time)


def known(life: Life, text: str) -> bool:
    """Whether any file of machine state that tells of recalls says this."""
    folder = Path(life.memory.root, recalls.DREAMS_FOLDER)
    paths = {*STATE, *(f"{recalls.DREAMS_FOLDER}/{path.name}" for path in folder.glob("*"))}
    return any(text in life.read(path) for path in paths)


def mark_secret(life: Life, *paths: str) -> None:
    for path in paths:
        life.write(path, life.read(path).replace('"private-user"', '"secret"'))


def daily_log(life: Life) -> str:
    found = sorted(Path(life.memory.root).glob("memory/20*.md"))
    return next(f"memory/{path.name}" for path in found if not LOG.endswith(path.name))


def test_a_record_that_became_secret_is_gone_after_the_next_dream(life: Life) -> None:
    life.memory.remember(SAFE)
    life.ask("code of the safe", "Cookie the dog", days=1)
    life.memory.jobs.dream()
    assert known(life, SAFE)
    mark_secret(life, "MEMORY.md", daily_log(life))
    life.memory.jobs.dream()
    assert not known(life, "4711")
    assert known(life, COOKIE)
    state = read_state(lambda path: life.read(path).encode() or None)
    assert set(json.loads(life.read(recalls.SIGNALS))) == set(state.entries)


@pytest.mark.parametrize("where", ["MEMORY.md", "the daily log"])
def test_one_of_its_two_places_is_enough(life: Life, where: str) -> None:
    life.memory.remember(SAFE)
    life.ask("code of the safe", days=1)
    life.memory.jobs.dream()
    mark_secret(life, where if where == "MEMORY.md" else daily_log(life))
    life.memory.jobs.dream()
    assert not known(life, "4711")


def test_a_note_that_became_secret_is_gone_after_the_next_dream_long_ones_too(life: Life) -> None:
    parts = [f"Paragraph {number} says nothing of interest to anybody." for number in range(20)]
    life.memory.save_note("\n\n".join([*parts, SAFE]), category="people")
    life.ask("code of the safe", days=1)
    life.memory.jobs.dream()
    assert known(life, SAFE)
    (note,) = Path(life.memory.root, "memory").glob("people/*.md")
    text = note.read_text(encoding="utf-8")
    note.write_text(text.replace("---\n", "---\nsensitivity: Secret\n", 1), encoding="utf-8")
    life.memory.jobs.dream()
    assert not known(life, "4711")


@pytest.mark.parametrize("path", ["memory/people/safe.md", "memory/2026-11-09.md", "USER.md"])
@pytest.mark.parametrize("mark", ["secret", "secrt"])
def test_so_is_what_a_file_says_that_is_marked_as_a_whole(life: Life, path: str, mark: str) -> None:
    life.write(path, f"{SAFE}\n")
    life.ask("code of the safe", "Cookie the dog", days=1)
    life.memory.jobs.dream()
    assert known(life, SAFE)
    assert SAFE in repr(life.memory.jobs.receipts())
    life.write(path, f"---\nsensitivity: {mark}\n---\n{SAFE}\n")
    assert "4711" not in repr(life.memory.jobs.receipts())
    life.memory.jobs.dream()
    assert not known(life, "4711")
    assert known(life, COOKIE)


def test_what_could_not_be_read_goes_with_a_secret(life: Life) -> None:
    life.memory.remember(SAFE)
    life.ask("code of the safe", days=1)
    life.memory.jobs.dream()
    life.write(f"{recalls.RECALLS}.damaged-20260101T000000", SAFE)
    life.memory.jobs.dream()
    assert known(life, SAFE)
    mark_secret(life, "MEMORY.md", daily_log(life))
    life.memory.jobs.dream()
    assert not known(life, "4711")


@pytest.mark.parametrize("dreamt", [True, False])
def test_forget_takes_out_what_a_summary_told_of_the_record(
    root: str, stopped_time: StoppedTime, *, dreamt: bool
) -> None:
    life = Life(root, stopped_time, compact__max_records=2, compact__min_age_days=1)
    record = life.memory.remember(SAFE)
    for number in range(6):
        life.memory.remember(f"Ana paid invoice {number} on Monday")
        life.time.advance(days=1)
    life.time.advance(days=10)
    assert life.memory.jobs.compact().status == "done"
    Path(root, daily_log(life)).unlink()  # only the summary is found
    life.ask("code of the safe", days=1)
    if dreamt:
        life.memory.jobs.dream()
    assert known(life, "4711")
    life.memory.forget(record.id)
    assert not known(life, "4711")


@pytest.mark.parametrize("when", ["planned", "stored"])
def test_what_is_forgotten_during_a_dream_stays_forgotten(
    life: Life, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Who forgets while it is planned has it planned again; who forgets while it is stored waits."""
    secret = life.memory.remember(SAFE)
    life.ask(secret.text, "Cookie the dog", days=1)
    other = Memory(life.memory.root, settings={"store.lock_timeout_seconds": 0.01})
    real, stored = promotion.read_recalls, DreamJob.keep_state
    waited = []

    def forget() -> None:
        try:
            other.forget(secret.id)
            waited.append(False)
        except WriterBusyError:
            waited.append(True)
        except MemolithError:  # it is forgotten already
            waited.append(False)

    def read(*given: Any) -> Any:
        made = real(*given)
        if when == "planned":
            forget()
        return made

    def keep(*given: Any, **more: Any) -> None:
        stored(*given, **more)
        if when == "stored":
            forget()

    monkeypatch.setattr(promotion, "read_recalls", read)
    monkeypatch.setattr(DreamJob, "keep_state", keep)
    life.memory.jobs.dream()
    assert waited == ([False, False] if when == "planned" else [True])
    assert known(life, SAFE) == (when == "stored")
    assert known(life, COOKIE)
