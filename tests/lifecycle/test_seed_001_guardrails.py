"""The guardrails 1 to 9 of the guide to long-term memory, one named test each."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.main import COMMANDS
from memolith.clock import Clock
from memolith.config.sections import SETTINGS
from memolith.errors import StorageError
from memolith.files.locks import JOB_LOCK
from memolith.jobs.compact import CompactJob
from memolith.jobs.run import run_job
from memolith.jobs.scheduler import maintain
from tests.conftest import StoppedTime
from tests.lifecycle.conftest import ON, Slow
from tests.lifecycle.life import live, text_of, tree, undocumented_settings

DOCS = Path(__file__).parents[2] / "docs"


def test_guardrail_1_while_a_job_writes_every_other_call_goes_on(grown: Memory, slow: Slow) -> None:
    job = CompactJob(grown.jobs.store, slow)
    thread = threading.Thread(target=run_job, args=(job,))
    thread.start()
    assert slow.asked.wait(300)
    record = grown.remember("Said while a job was at work")
    assert record.id in {hit.record_id for hit in grown.search("said while a job").hits}
    assert grown.session_start().text
    assert thread.is_alive()
    slow.may_answer.set()
    thread.join()
    assert grown.jobs.show("last").status == "done"


def test_guardrail_2_a_job_that_was_killed_holds_no_lock(grown: Memory) -> None:
    script = (
        "import os, sys, signal\n"
        "from memolith.files.folder import Folder\n"
        "from memolith.files.locks import JOB_LOCK, OwnerLock\n"
        "with Folder(sys.argv[1]) as folder, OwnerLock(folder, JOB_LOCK):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script, grown.root], check=False)
    assert killed.returncode < 0
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
    grown.jobs.extract_experiences()
    assert tree(other.root) == before


def test_guardrail_6_switched_off_no_new_file_appears_and_sessions_start_as_before(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    memory = Memory(root, clock=clock)
    live(memory, stopped_time, 60)
    before, shown = set(tree(root)), memory.session_start().text
    maintain(memory.jobs)
    assert {path for path in set(tree(root)) - before if not path.endswith(".lock")} == set()
    assert memory.session_start().text == shown
    assert memory.records(category="compaction") == ()


def test_guardrail_7_every_job_is_off_unless_it_is_switched_on() -> None:
    switches = [f"{job}.enabled" for job in ("compact", "dream", "experiences")]
    assert [SETTINGS[name].default for name in switches] == [False, False, False]
    assert (SETTINGS["trim.max_records"].default, SETTINGS["trim.max_chars"].default) == (0, 0)
    assert SETTINGS["llm.url"].default == ""


def test_guardrail_8_with_every_job_on_window_session_recall_and_heartbeat_work_as_before(
    root: str, clock: Clock, stopped_time: StoppedTime
) -> None:
    everything = {**ON, "experiences.enabled": True, "dream.enabled": True, "trim.max_records": 90}
    with Memory(root, clock=clock, settings=everything) as memory:
        live(memory, stopped_time, 30)
        assert len(memory.records()) <= 90  # the rolling window
        assert {report.status for report in maintain(memory.jobs)} <= {"done", "skipped"}
        record = memory.remember("The staging database listens on port 5433", category="fact")
        assert memory.recall("staging database port").hits[0].record_id == record.id
        for kind in ("main", "heartbeat"):
            assert "port 5433" in memory.session_start(kind=kind).text


def test_guardrail_9_every_job_command_and_setting_is_documented() -> None:
    pages = {path.name: path.read_text("utf-8") for path in DOCS.glob("*.md")}
    jobs = ("compact", "dream", "experiences", "flush", "jobs", "maintain", "scan", "trim")
    assert set(jobs) <= set(COMMANDS)
    assert [job for job in jobs if f"memolith {job}" not in pages["cli.md"]] == []
    guides = pages["lifecycle.md"] + pages["dreaming.md"] + pages["experiences.md"]
    assert [job for job in jobs if f"memolith {job}" not in guides] == []
    sections = ("compact", "long_memory", "experiences", "dream", "jobs", "trim", "llm")
    assert undocumented_settings(*sections) == []
