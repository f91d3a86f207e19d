"""Jobs of a server run in processes of their own: with its settings, its errors, and its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import ConfigError, JobFailedError, JobNotFoundError
from memolith.jobs import worker
from memolith.jobs.api import Jobs
from memolith.jobs.reports import JobReport
from memolith.jobs.scheduler import Scheduler
from memolith.jobs.worker import run_in_process
from tests.lifecycle.dreams import tree

needs_proc = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="looks into /proc"
)


class StopError(Exception):
    """Raised to stop a job."""


def jobs_of(process: int) -> list[int]:
    """The processes it has started to run a job."""
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread or process that has ended
            for child in (task / "children").read_text().split():
                if b"jobs\0run\0" in Path(f"/proc/{child}/cmdline").read_bytes():
                    found.append(int(child))  # noqa: PERF401 - those before one that has ended count
    return found


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.fixture
def memory(root: str) -> Memory:
    with Memory(root) as memory:
        for number in range(5):
            memory.remember(f"Cup {number} is blue")
    return Memory(root, settings={"trim.max_records": 2})


def files(memory: Memory) -> dict[str, str]:
    """Every file with its digest, without locks."""
    return {path: seen for path, seen in tree(memory.root).items() if not path.endswith(".lock")}


def test_a_job_does_the_same_in_a_process_of_its_own(memory: Memory) -> None:
    planned = run_in_process(memory.jobs, Jobs.trim, dry_run=True)
    assert planned.counts == memory.jobs.trim(dry_run=True).counts
    report = run_in_process(memory.jobs, Jobs.trim)
    assert report.status == "done"
    assert memory.jobs.show("last") == memory.jobs.show(report.id)
    assert len(memory.records()) < 5


@needs_proc
def test_it_runs_in_another_process_and_none_is_left(memory: Memory) -> None:
    running: list[int] = []
    with memory._store.writing() as held:  # it has to wait for us

        def look(done: int, total: int) -> None:
            running.extend(jobs_of(os.getpid()))
            held.close()

        assert run_in_process(memory.jobs, Jobs.trim, progress=look).status == "done"
    assert len(set(running)) == 1
    assert jobs_of(os.getpid()) == []


def test_who_waits_for_it_may_stop_it_and_no_file_is_changed(memory: Memory) -> None:
    before = files(memory)

    def stop(done: int, total: int) -> None:
        raise StopError

    with memory._store.writing(), pytest.raises(StopError):
        run_in_process(memory.jobs, Jobs.trim, progress=stop)
    assert files(memory) == before


def test_an_error_is_the_same_as_here(memory: Memory) -> None:
    with pytest.raises(JobNotFoundError) as there:
        run_in_process(memory.jobs, Jobs.show, job_id="nothing")
    with pytest.raises(JobNotFoundError) as here:
        memory.jobs.show("nothing")
    assert (there.value.name, str(there.value)) == (here.value.name, str(here.value))


@needs_proc
def test_a_process_that_dies_is_an_error_that_says_so(memory: Memory) -> None:
    def kill(done: int, total: int) -> None:
        (job,) = jobs_of(os.getpid())
        os.kill(job, signal.SIGKILL)

    with memory._store.writing(), pytest.raises(JobFailedError, match="-9"):
        run_in_process(memory.jobs, Jobs.trim, progress=kill)


def test_it_has_the_settings_of_the_server_whatever_the_file_says_by_now(memory: Memory) -> None:
    Path(memory.root, "memolith.toml").write_text("[trim\nmax_records = 'none'", "utf-8")
    assert memory.reconfigure().problem
    with pytest.raises(ConfigError):
        Memory(memory.root)
    assert run_in_process(memory.jobs, Jobs.trim).status == "done"


def test_a_memory_of_a_class_that_only_we_know_has_its_jobs_run_too(memory: Memory) -> None:
    class Ours(Memory):
        pass

    assert run_in_process(Ours(memory.root).jobs, Jobs.trim, dry_run=True).status == "skipped"


def test_a_clock_that_was_given_is_obeyed_here(
    root: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "Popen", None)  # no process could be started
    with Memory(root, clock=clock) as memory:
        memory.remember("Tea at four")
        assert run_in_process(memory.jobs, Jobs.dream).status == "skipped"


@pytest.mark.parametrize("python", ["/nowhere/python", "/bin/false", "/bin/sh"])
def test_where_no_process_can_be_had_the_job_runs_here(
    memory: Memory, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", python)
    if python == "/bin/false":  # a Python that does not find our code
        monkeypatch.setattr("memolith.jobs.worker.can_start_python", lambda: True)
    assert run_in_process(memory.jobs, Jobs.trim).status == "done"


@needs_proc
def test_a_job_does_not_outlive_its_server(memory: Memory) -> None:
    code = (
        "import sys, time\n"
        "from memolith import Memory\n"
        "from memolith.jobs.worker import run_in_process\n"
        "from memolith.jobs.api import Jobs\n"
        "def wait(*_):\n"
        "    print('waits', flush=True)\n"
        "    time.sleep(3600)\n"
        "memory = Memory(sys.argv[1], settings={'trim.max_records': 2})\n"
        "with memory._store.writing():\n"
        "    run_in_process(memory.jobs, Jobs.trim, progress=wait)\n"
    )
    words = [sys.executable, "-c", code, memory.root]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert server.stdout.readline() == "waits\n"
        (job,) = jobs_of(server.pid)
        server.kill()
    deadline = time.monotonic() + 300
    while is_alive(job):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_schedule_has_its_jobs_run_apart(root: str) -> None:
    news: list[JobReport | str] = []
    settings = {"dream.enabled": True, "compact.cron": "* * * * *"}
    with Memory(root, settings=settings) as memory:
        memory.remember("Tea at four")
        scheduler = Scheduler(memory.jobs, poll_seconds=0.01, tell=news.append)
        scheduler.start()
        deadline = time.monotonic() + 300
        while not any(isinstance(one, JobReport) for one in news):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        scheduler.stop(300)
    reports = [one for one in news if isinstance(one, JobReport)]
    assert [(report.job, report.status) for report in reports[:1]] == [("dream", "skipped")]


def test_a_schedule_keeps_the_failure_of_a_process(memory: Memory) -> None:
    def fail() -> None:
        raise JobFailedError("The process has ended.")

    report = memory.jobs.unattended("dream", fail)  # type: ignore[arg-type]
    assert (report.status, report.reason) == ("failed", "The process has ended.")
    assert memory.jobs.show("last").status == "failed"
