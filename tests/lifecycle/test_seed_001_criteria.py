"""The success criteria SC1 to SC8 of the guide to long-term memory, one named test each."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.types import policy
from memolith.upkeep import Scheduler, maintain
from tests.lifecycle.conftest import Slow
from tests.lifecycle.life import text_of, undocumented_settings

TESTS = Path(__file__).parents[1]
# What the guide wants tested, and the test that does it.
TESTED = {
    "rolling window": "jobs/test_trim.py::test_kept_and_archived_together_are_what_there_was",
    "session memory": "context/test_session_start.py::test_the_layers_come_in_order_under_their_labels",
    "recall_memory": "mcp_server/test_tools.py::test_recalled_memories_have_the_shape_of_the_original_tool",
    "heartbeat": "context/test_session_start.py::test_no_secret_is_ever_in_it",
    "compaction: lock": "lifecycle/test_jobs.py::test_one_job_at_a_time",
    "compaction: no block": "lifecycle/test_hand_edits.py::"
    "test_r6_a_thousand_appends_during_a_slow_summary_are_all_there",
    "LONGMEMORY inclusion": "context/test_session_start.py::test_the_newest_summaries_are_kept",
    "experiences: add": "lifecycle/test_experiences.py::"
    "test_records_become_experiences_with_session_category_time_and_names",
    "experiences: query": "lifecycle/test_experiences.py::"
    "test_experiences_are_asked_by_meaning_and_by_session",
    "experiences: uniqueness": "lifecycle/test_experiences.py::"
    "test_every_two_stored_experiences_are_below_the_threshold_or_tell_another_fact",
}


def test_sc1_settings_switch_compaction_and_experiences_on_and_off_and_are_documented(
    root: str, clock: Clock
) -> None:
    memory = Memory(root, clock=clock)
    memory.remember("Ana moved the release to Friday")
    assert maintain(memory) == ()
    on = {"compact.enabled": True, "experiences.enabled": True}
    switched_on = Memory(root, clock=clock, settings=on)
    assert [report.job for report in maintain(switched_on)] == ["compact", "experiences"]
    assert undocumented_settings("compact", "long_memory", "experiences") == []


def test_sc2_compaction_runs_on_schedule_and_blocks_nobody(
    grown: Memory, slow: Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memolith.lifecycle.choose_summariser", lambda config, key: slow)
    told = threading.Event()
    scheduler = Scheduler(grown, poll_seconds=0.05, tell=lambda report: told.set())
    scheduler.start()
    assert slow.asked.wait(60)
    written = grown.remember("Said while the summary was being written")
    assert grown.session_start(kind="heartbeat").text
    assert grown.jobs.compact().reason == "another job is running"
    slow.may_answer.set()
    assert told.wait(60)
    scheduler.stop()
    assert written.id in text_of(grown)
    assert grown.jobs.show("last").status == "done"


def test_sc3_after_compaction_memory_is_small_and_long_memory_tells(grown: Memory) -> None:
    high_value = [record for record in grown.records() if policy(record.category).protected]
    grown.search("release key")  # so that there is an index to keep in line
    grown.jobs.compact()
    assert len(text_of(grown)) <= 24_000
    assert len(grown.records()) <= 60
    assert "## Summary (" in text_of(grown, "LONGMEMORY.md")
    assert set(high_value) <= set(grown.records())
    assert grown.index_status().current
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
        stored = memory.experiences()
    assert len(stored) == 2
    with Memory(root, clock=clock) as reopened:
        assert reopened.experiences() == stored
        best = reopened.query_experiences("why did the release fail?").hits[0]
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
        (report,) = maintain(memory)
        assert (report.job, report.counts["looked at"], report.counts["added"]) == (
            "experiences", 3, 2,
        )  # fmt: skip
        for session in ("main", None):
            hits = memory.query_experiences("expired key", limit=1, session=session).hits
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


@pytest.mark.parametrize("what", TESTED)
def test_sc8_what_the_guide_wants_tested_has_a_test(what: str) -> None:
    path, _, name = TESTED[what].partition("::")
    assert f"def {name}(" in (TESTS / path).read_text("utf-8")
