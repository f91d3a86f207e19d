"""The success criteria SC1 to SC8 of the guide to long-term memory, one named test each."""

from __future__ import annotations

import threading

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.files.folder import Folder
from memolith.files.ledger import find_record
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.jobs.scheduler import Scheduler, maintain
from memolith.types import PROTECTED
from tests.conftest import StoppedTime
from tests.lifecycle.conftest import Slow
from tests.lifecycle.life import text_of, undocumented_settings


def test_sc1_settings_switch_compaction_and_experiences_on_and_off_and_are_documented(
    root: str, clock: Clock
) -> None:
    memory = Memory(root, clock=clock)
    memory.remember("Ana moved the release to Friday")
    assert maintain(memory.jobs) == ()
    on = {"compact.enabled": True, "experiences.enabled": True}
    switched_on = Memory(root, clock=clock, settings=on)
    assert [report.job for report in maintain(switched_on.jobs)] == ["experiences", "compact"]
    assert undocumented_settings("compact", "long_memory", "experiences") == []


def test_sc2_compaction_runs_on_schedule_and_blocks_nobody(
    grown: Memory, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.jobs.compact.choose_summariser", lambda config, key: slow)
    told = threading.Event()
    scheduler = Scheduler(
        grown.jobs, poll_seconds=0.05, tell=lambda news: isinstance(news, str) or told.set()
    )
    scheduler.start()
    assert slow.asked.wait(300)
    written = grown.remember("Said while the summary was being written")
    assert grown.session_start(kind="heartbeat").text
    assert grown.jobs.compact().reason == "another job is running"
    slow.may_answer.set()
    assert told.wait(300)
    scheduler.stop(300)
    assert written.id in text_of(grown)
    assert grown.jobs.show("last").status == "done"


def test_sc3_after_compaction_memory_is_small_and_long_memory_tells(grown: Memory) -> None:
    high_value = [record for record in grown.records() if record.category in PROTECTED]
    grown.search("release key")  # so that there is an index to keep in line
    grown.jobs.compact()
    assert len(text_of(grown)) <= 24_000
    assert len(grown.records()) <= 60
    assert "## Summary (" in text_of(grown, "LONGMEMORY.md")
    assert set(high_value) <= set(grown.records())
    assert grown.index.status().current
    summary = grown.records(category="compaction")[0]
    hits = grown.search(summary.text.splitlines()[1], category="compaction").hits
    assert summary.id in {hit.record_id for hit in hits}


def test_sc4_a_session_starts_with_the_long_memory(grown: Memory) -> None:
    grown.jobs.compact()
    shown = grown.session_start().text
    assert shown.index("Long-term summary (LONGMEMORY):") < shown.index("MEMORY.md")
    assert len(shown) <= 32_000


def test_sc5_experiences_are_added_found_and_unique_also_after_a_restart(
    root: str, clock: Clock
) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("The release failed because the signing key had expired")
        memory.remember("Ana took the dog to the vet in Lima")
        memory.jobs.extract_experiences()
        stored = memory.jobs.experiences()
    assert len(stored) == 2
    with Memory(root, clock=clock) as reopened:
        assert reopened.jobs.experiences() == stored
        best = reopened.jobs.query_experiences("why did the release fail?").hits[0]
        assert best.text == "The release failed because the signing key had expired"
        reopened.remember("Because the signing key had expired, the release failed.")
        assert reopened.jobs.extract_experiences().counts["added"] == 0


def test_sc6_the_schedule_takes_in_what_is_unique_and_the_tool_finds_it(
    root: str, clock: Clock
) -> None:
    with Memory(root, clock=clock, settings={"experiences.enabled": True}) as memory:
        memory.remember("The release failed because the signing key had expired")
        memory.remember("The release failed, because the signing key was expired!")
        memory.remember("Ana took the dog to the vet in Lima")
        (report,) = maintain(memory.jobs)
        assert (report.job, report.counts["looked at"], report.counts["added"]) == (
            "experiences", 3, 2,
        )  # fmt: skip
        for session in ("main", None):
            hits = memory.jobs.query_experiences("expired key", limit=1, session=session).hits
            assert "signing key" in hits[0].text


def test_sc7_before_an_answer_past_experiences_are_handed_over_when_switched_on(
    root: str, clock: Clock
) -> None:
    with Memory(root, clock=clock) as memory:
        memory.remember("Restart staging only after the migrations have run")
        memory.jobs.extract_experiences()
        question = "May I restart staging now?"
        shown = memory.context(question, deadline_seconds=60).text
        assert "Relevant past experiences:" in shown
        off = Memory(root, clock=clock, settings={"context.experiences": 0})
        assert "Relevant past experiences:" not in off.context(question, deadline_seconds=60).text


def test_sc8_what_a_memory_could_do_before_it_still_does_beside_jobs(
    grown: Memory, clock: Clock, stopped_time: StoppedTime
) -> None:
    grown.remember("The door code is xyzzy", sensitivity="secret")
    before = {record.id for record in grown.records(include_secret=True)}
    with Folder(grown.root) as folder, OwnerLock(folder, JOB_LOCK):  # compaction: lock, no block
        assert grown.jobs.compact().reason == "another job is running"
        assert grown.remember("Written while a job runs").id
    for job in ("compact", "dream", "experiences"):
        assert grown.jobs.unattended(job).status in ("done", "skipped")
    with Folder(grown.root) as folder:  # every record is still there, and can be opened
        assert all(find_record(folder, record_id).text for record_id in before)
    hits = grown.search("who owns the release key?").hits  # recall
    assert hits[0].text == "Ana owns the release key"
    start = grown.session_start()  # session memory, with LONGMEMORY in it
    assert start.text.index("Long-term summary (LONGMEMORY):") < start.text.index("MEMORY.md")
    for kind in ("main", "heartbeat"):
        assert "xyzzy" not in grown.session_start(kind=kind).text
    found = grown.jobs.query_experiences("release key").hits  # experiences: add, query, unique
    assert found[0].category == "experience"
    assert grown.jobs.extract_experiences().counts["added"] == 0
    window = Memory(grown.root, clock=clock, settings={"trim.max_records": 20})  # rolling window
    stopped_time.advance(days=1)
    newest = window.remember("The newest record of all")
    left = window.records(include_secret=True)
    assert len(left) <= 20
    assert left[-1].id == newest.id
