"""The same chat is handed over again and again: nothing comes back, and nothing is there twice."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memolith import Memory

if TYPE_CHECKING:
    from memolith.clock import Clock
    from tests.conftest import StoppedTime

CHAT = (
    "User: My sister Marta lives in Oulu.\nAssistant: Noted.\nUser: We decided to use Postgres 15."
)
DAY = timedelta(days=1)


def test_what_was_corrected_since_does_not_come_back(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    first = memory.jobs.flush(CHAT).saved[0]
    stopped_time.advance(days=1)
    memory.supersede(first.id, "Marta moved: she lives in Turku now")
    report = memory.jobs.flush(CHAT)
    assert (report.saved, report.known) == ((), 2)


def test_what_was_corrected_in_the_archive_does_not_come_back(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    with Memory(root, clock=clock, settings={"trim.max_records": 1}) as memory:
        first = memory.jobs.flush(CHAT).saved[0]
        stopped_time.advance(days=1)
        memory.supersede(first.id, "Marta moved: she lives in Turku now")
        memory.remember("The bakery opens at 7:30")
        assert memory.jobs.flush(CHAT).saved == ()


def test_what_left_for_the_archive_is_not_saved_again(root: str, clock: Clock) -> None:
    with Memory(root, clock=clock, settings={"trim.max_records": 1}) as memory:
        assert len(memory.jobs.flush(CHAT).saved) == 2
        assert memory.jobs.flush(CHAT).known == 2


def test_what_was_compacted_is_not_saved_again(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    settings = {"compact.max_records": 1, "compact.min_age_days": 1}
    things = ("the boat of Marta", "invoice 77", "the keys of Oslo", "a table in Lima", "12 chairs")
    with Memory(root, clock=clock, settings=settings) as memory:
        for thing in things:
            assert len(memory.jobs.flush(f"User: Pending: ask Ben about {thing}.").saved) == 1
        stopped_time.advance(days=40)
        assert memory.jobs.compact().status == "done"
        for thing in things:
            assert memory.jobs.flush(f"User: Pending: ask Ben about {thing}.").known == 1


def test_what_expired_is_said_anew_only_by_a_later_chat(
    memory: Memory, clock: Clock, stopped_time: StoppedTime
) -> None:
    text = "My sister Marta lives in Oulu."
    memory.remember(text, category="fact", session="a", expires=clock.now() + DAY)
    stopped_time.advance(days=2)
    assert memory.jobs.flush(f"User: {text}", session="a").known == 1
    assert len(memory.jobs.flush(f"User: {text}", session="b").saved) == 1


def test_when_it_was_said_tells_whether_it_is_new(
    memory: Memory, clock: Clock, stopped_time: StoppedTime
) -> None:
    def line(text: str) -> str:
        message = {"role": "user", "content": text}
        return json.dumps({"timestamp": clock.now().isoformat(), "message": message})

    before = line("My sister Marta lives in Oulu.")
    stopped_time.advance(days=1)
    first = memory.remember("My sister Marta lives in Oulu", category="fact")
    memory.supersede(first.id, "Marta moved: she lives in Turku now")
    assert memory.jobs.flush(before, session="another").known == 1
    stopped_time.advance(days=1)
    after = line("My sister Marta lives in Oulu.")
    assert [one.text for one in memory.jobs.flush(after).saved] == [
        "My sister Marta lives in Oulu."
    ]


def test_what_the_user_forgot_does_not_come_back_by_a_chat(memory: Memory) -> None:
    first = memory.jobs.flush(CHAT).saved[0]
    memory.forget(first.id)
    for dry_run in (True, False):
        report = memory.jobs.flush(CHAT, dry_run=dry_run)
        assert (report.saved, report.known, len(report.refused)) == ((), 1, 1)
    assert "Oulu" not in str(memory.records())


def test_who_may_see_no_secrets_does_not_learn_them_from_a_log(memory: Memory) -> None:
    memory.remember("My sister Marta lives in Oulu.", category="fact", sensitivity="secret")
    chat = "User: My sister Marta lives in Oulu."
    assert memory.jobs.flush(chat, dry_run=True, include_secret=False).known == 0
    assert memory.jobs.flush(chat, dry_run=True).known == 1


def test_a_flush_is_a_job_that_can_be_shown_and_undone_and_is_not_done_again(
    memory: Memory, stopped_time: StoppedTime
) -> None:
    memory.remember("The bakery opens at 7:30")
    before = Path(memory.root, "MEMORY.md").read_bytes()
    report = memory.jobs.flush(CHAT)
    assert report.id is not None
    shown = memory.jobs.show(report.id)
    assert (shown.job, shown.status, shown.counts) == ("flush", "done", {"saved": 2})
    assert "Oulu" in memory.jobs.diff(report.id)
    stopped_time.advance(days=1)
    assert memory.jobs.undo("last").status == "undone"
    assert Path(memory.root, "MEMORY.md").read_bytes() == before
    again = memory.jobs.flush(CHAT)
    assert (again.saved, again.known, again.id) == ((), 2, None)
