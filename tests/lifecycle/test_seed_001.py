"""The success criteria and guardrails of the guide to long-term memory, one named test each."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.config import SETTINGS
from memolith.errors import StorageError
from memolith.files.folder import Folder
from memolith.files.locks import JOB_LOCK, OwnerLock
from memolith.jobs.compact import CompactJob
from memolith.jobs.run import run_job
from memolith.llm.rule_based import RuleBased
from memolith.types import policy
from memolith.upkeep import Scheduler, maintain
from tests.conftest import StoppedTime
from tests.lifecycle.life import live, tree

JOBS = 100
ON = {
    "compact.enabled": True,
    "compact.max_records": 60,
    "compact.max_chars": 24_000,
    "store.durability": "fast",
}


@pytest.fixture
def grown(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    memory = Memory(root, clock=clock, settings=ON)
    memory.remember("Ana owns the release key", category="learned")
    live(memory, stopped_time, 30)
    return memory


def text_of(memory: Memory, path: str = "MEMORY.md") -> str:
    return Path(memory.root, path).read_text("utf-8")


class Slow(RuleBased):
    """Rules that wait until they may answer."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def summarise(self, statements, max_chars):  # type: ignore[no-untyped-def]
        self.asked.set()
        assert self.may_answer.wait(30)
        return super().summarise(statements, max_chars)


def test_sc1_one_setting_switches_compaction_on_and_off(root: str, clock: Clock) -> None:
    assert SETTINGS["compact.enabled"].default is False
    memory = Memory(root, clock=clock)
    memory.remember("tea")
    assert maintain(memory) == ()
    switched_on = Memory(root, clock=clock, settings={"compact.enabled": True})
    assert [report.job for report in maintain(switched_on)] == ["compact"]


def test_sc2_compaction_runs_on_schedule_and_blocks_nobody(
    grown: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr("memolith.lifecycle.choose_summariser", lambda config, key: slow)
    told = threading.Event()
    scheduler = Scheduler(grown, poll_seconds=0.05, tell=lambda report: told.set())
    scheduler.start()
    assert slow.asked.wait(20)
    written = grown.remember("Said while the summary was being written")
    assert grown.jobs.compact().reason == "another job is running"
    slow.may_answer.set()
    assert told.wait(30)
    scheduler.stop()
    assert written.id in text_of(grown)
    assert grown.jobs.show("last").status == "done"


def test_sc3_after_compaction_memory_is_small_and_long_memory_tells(grown: Memory) -> None:
    high_value = [record for record in grown.records() if policy(record.category).protected]
    grown.search("release key")  # so that there is an index to keep in line
    grown.jobs.compact()
    assert len(text_of(grown)) <= 24_000
    assert "## Summary (" in text_of(grown, "LONGMEMORY.md")
    assert set(high_value) <= set(grown.records())
    summary = grown.records(category="compaction")[0]
    hits = grown.search(summary.text.splitlines()[1], category="compaction").hits
    assert summary.id in {hit.record_id for hit in hits}


def test_sc4_a_session_starts_with_the_long_memory(grown: Memory) -> None:
    grown.jobs.compact()
    shown = grown.session_start().text
    assert shown.index("Long-term summary (LONGMEMORY):") < shown.index("MEMORY.md")
    assert len(shown) <= 32_000


def test_guardrail_1_and_2_a_dead_job_holds_no_lock(grown: Memory) -> None:
    with Folder(grown.root) as folder:
        with OwnerLock(folder, JOB_LOCK):
            assert grown.jobs.compact().status == "skipped"
        assert Path(grown.root, JOB_LOCK).exists()  # a file that is left over locks nothing
        assert grown.jobs.compact().status == "done"


def test_guardrail_3_a_failed_write_leaves_memory_as_it_was(grown: Memory) -> None:
    before = text_of(grown)
    Path(grown.root, "LONGMEMORY.md").mkdir()  # no file can take its place
    with pytest.raises(StorageError):
        grown.jobs.compact()
    assert text_of(grown) == before


def test_guardrail_4_daily_logs_are_not_modified(grown: Memory) -> None:
    before = {path: seal for path, seal in tree(grown.root).items() if path.startswith("memory/")}
    grown.jobs.compact()
    after = tree(grown.root)
    assert before == {path: after[path] for path in before}


def test_guardrail_5_each_profile_is_compacted_alone(grown: Memory, tmp_path: Path) -> None:
    other = Memory(tmp_path / "other", settings=ON)
    other.remember("tea")
    before = tree(other.root)
    grown.jobs.compact()
    assert tree(other.root) == before


def test_guardrail_6_and_7_switched_off_nothing_new_appears(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={"store.durability": "fast"})
    live(memory, stopped_time, 60)
    maintain(memory)
    assert not Path(root, "LONGMEMORY.md").exists()
    assert memory.records(category="compaction") == ()


def test_r6_a_thousand_appends_during_a_slow_summary_are_all_there(grown: Memory) -> None:
    slow = Slow()
    job = CompactJob(grown.config, grown._clock, slow)
    thread = threading.Thread(target=run_job, args=(grown._workplace(), job))
    thread.start()
    assert slow.asked.wait(20)
    ids = [grown.remember(f"Appended meanwhile, number {n}").id for n in range(1000)]
    slow.may_answer.set()
    thread.join(60)
    assert grown.jobs.show("last").status == "done"
    text = text_of(grown)
    assert [record_id for record_id in ids if text.count(record_id) != 1] == []


def test_r6_a_hand_edit_during_every_summary_wins(grown: Memory) -> None:
    path = Path(grown.root, "MEMORY.md")

    class Editing(RuleBased):
        def summarise(self, statements, max_chars):  # type: ignore[no-untyped-def]
            path.write_text("Edited by hand\n" + path.read_text("utf-8"), "utf-8")
            return super().summarise(statements, max_chars)

    job = CompactJob(grown.config, grown._clock, Editing())
    with pytest.raises(Exception, match="was changed since"):
        run_job(grown._workplace(), job)
    assert text_of(grown).startswith("Edited by hand\n")
    assert '"category":"compaction"' not in text_of(grown)


def test_r23_after_many_jobs_each_is_undone_to_the_same_bytes(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock, settings={**ON, "compact.max_records": 30})
    states = list[tuple[str, bytes, bytes | None]]()
    while len(states) < JOBS:
        live(memory, stopped_time, 3, records=3, seed=len(states))
        before = bytes_of(root, "MEMORY.md"), bytes_of(root, "LONGMEMORY.md")
        report = memory.jobs.compact()
        if report.status == "done":
            states.append((report.id, before[0] or b"", before[1]))
    for job_id, memory_before, long_before in reversed(states):
        memory.jobs.undo(job_id)
        assert (bytes_of(root, "MEMORY.md") or b"").startswith(memory_before)
        assert bytes_of(root, "LONGMEMORY.md") == long_before
    assert not Path(root, ".memolith/archive/MEMORY-archive.md").exists()


def bytes_of(root: str, path: str) -> bytes | None:
    return Path(root, path).read_bytes() if Path(root, path).exists() else None
