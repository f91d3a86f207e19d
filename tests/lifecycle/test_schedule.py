"""Jobs run when they are due, by one process, and a missed run is made up for once."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memolith import Memory
from memolith.cli.options import READER_GONE
from memolith.clock import Clock
from memolith.errors import WriterBusyError
from memolith.files.folder import Folder
from memolith.files.locks import SCHEDULE_LOCK, OwnerLock
from memolith.jobs import scheduler as scheduler_module
from memolith.jobs.compact import CompactJob
from memolith.jobs.reports import JobReport, ScheduledRun
from memolith.jobs.scheduler import NEVER, Scheduler, is_due, last_runs, maintain
from tests.conftest import StoppedTime
from tests.lifecycle.life import live

ON = {
    "compact.enabled": True,
    "compact.max_records": 60,
    "compact.max_chars": 20_000,
}


def at(*parts: int) -> datetime:
    return datetime(2026, *parts, tzinfo=UTC)  # type: ignore[misc]


def clock_at(moment: datetime, zone: str = "UTC") -> Clock:
    return Clock(zone, now=lambda: moment)


@pytest.mark.parametrize(
    ("last", "now", "due"),
    [
        (at(5, 1, 3), at(5, 1, 23), False),
        (at(5, 1, 3), at(5, 2, 2, 59), False),
        (at(5, 1, 3), at(5, 2, 3, 1), True),
        (at(5, 1, 3), at(5, 9, 12), True),
        (at(5, 9, 12), at(5, 9, 13), False),  # eight were missed, one made up for them
        (at(6, 1), at(5, 1), True),  # the clock was set back
    ],
)
def test_a_cron_expression_is_due_once_after_each_planned_time(
    last: datetime, now: datetime, due: bool
) -> None:
    assert is_due("0 3 * * *", last, clock_at(now)) is due
    assert is_due("0 3 * * *", NEVER, clock_at(now))


def test_an_interval_wins_over_cron() -> None:
    assert not is_due("0 3 * * *", at(5, 1, 2), clock_at(at(5, 1, 3, 30)), every_hours=2)
    assert is_due("0 3 * * *", at(5, 1, 2), clock_at(at(5, 1, 4)), every_hours=2)


def test_three_in_the_morning_is_that_of_the_user() -> None:
    assert not is_due("0 3 * * *", at(5, 1, 12), clock_at(at(5, 2, 3, 30), "America/Lima"))
    assert is_due("0 3 * * *", at(5, 1, 12), clock_at(at(5, 2, 8, 30), "America/Lima"))


def test_on_the_night_with_two_hours_of_the_same_name_it_runs_once() -> None:
    runs, last = 0, at(10, 24, 12)
    moment = at(10, 24, 22)
    while moment < at(10, 25, 10):  # 25 October 2026: Madrid sets its clocks back at 3:00
        if is_due("30 2 * * *", last, clock_at(moment, "Europe/Madrid")):
            runs, last = runs + 1, moment
        moment += timedelta(minutes=5)
    assert runs == 1


@pytest.fixture
def grown(root: str, clock: Clock, stopped_time: StoppedTime) -> Memory:
    memory = Memory(root, clock=clock, settings=ON)
    live(memory, stopped_time, 30)
    return memory


def test_maintain_runs_what_is_due_and_only_once(grown: Memory, stopped_time: StoppedTime) -> None:
    assert [report.status for report in maintain(grown.jobs)] == ["done"]
    assert maintain(grown.jobs) == ()
    stopped_time.advance(days=3)
    assert [report.status for report in maintain(grown.jobs)] == ["skipped"]
    assert maintain(grown.jobs) == ()


def test_a_run_that_finds_nothing_to_do_is_told_with_the_jobs(root: str, clock: Clock) -> None:
    memory = Memory(root, clock=clock, settings=ON)
    memory.remember("tea")
    maintain(memory.jobs)
    assert memory.jobs.list() == ()
    (run,) = memory.jobs.list().scheduled
    assert (run.job, run.at) == ("compact", clock.now())
    assert "within the limits" in run.came_of


def test_passing_the_limits_makes_it_due_before_its_time(
    grown: Memory, stopped_time: StoppedTime
) -> None:
    maintain(grown.jobs)
    stopped_time.advance(minutes=2)
    assert maintain(grown.jobs) == ()
    for number in range(60):
        grown.remember(f"letter {number}")
    assert [report.job for report in maintain(grown.jobs)] == ["compact"]
    grown.remember("one more")
    assert maintain(grown.jobs) == ()  # all are young: there is nothing to gain yet
    for number in range(60):
        grown.remember(f"postcard {number}")
    assert [report.job for report in maintain(grown.jobs)] == ["compact"]


def test_what_a_run_had_to_leave_is_not_compacted_again_until_it_grows(grown: Memory) -> None:
    size = Path(grown.root, "MEMORY.md").stat().st_size
    with Folder(grown.root) as folder:
        for left, is_wanted in ((0, True), (size, False), (int(size / 1.1), True)):
            last = ScheduledRun(job="compact", at=NEVER, left=left)
            assert CompactJob.is_wanted(grown.config, folder, last) is is_wanted


def test_a_first_maintain_says_what_is_due_and_runs_one_after_the_other(
    root: str, clock: Clock
) -> None:
    settings = {**ON, "dream.enabled": True, "experiences.enabled": True}
    memory = Memory(root, clock=clock, settings=settings)
    memory.remember("tea")
    told: list[str] = []
    reports = maintain(
        memory.jobs, lambda news: told.append(news if isinstance(news, str) else news.job)
    )
    due = "Due, one after the other: experiences, dream, compact."
    assert told == [due, "experiences", "dream", "compact"]
    assert [report.job for report in reports] == told[1:]
    assert maintain(memory.jobs) == ()


def test_while_another_process_keeps_the_schedule_nothing_is_run(grown: Memory) -> None:
    with (
        Folder(grown.root) as folder,
        OwnerLock(folder, SCHEDULE_LOCK),
        pytest.raises(WriterBusyError),
    ):
        maintain(grown.jobs)
    assert grown.jobs.list() == ()


def test_the_schedule_is_written_only_under_the_writer_lock(grown: Memory) -> None:
    # Whoever tidies up under the lock takes every staged file for one that was left behind.
    with Memory(grown.root, settings={**ON, "store.lock_timeout_seconds": 0.1}) as impatient:
        with grown._store.writing(), pytest.raises(WriterBusyError):
            maintain(impatient.jobs)
        with Folder(grown.root) as folder:
            assert last_runs(folder) == {}


def test_the_scheduler_runs_in_the_background_and_stops_cleanly(grown: Memory) -> None:
    done = threading.Event()
    scheduler = Scheduler(
        grown.jobs, poll_seconds=0.05, tell=lambda news: isinstance(news, str) or done.set()
    )
    scheduler.start()
    assert done.wait(300)
    scheduler.stop(300)
    assert not any(thread.name == "memolith-jobs" for thread in threading.enumerate())
    assert [report.status for report in grown.jobs.list()] == ["done"]
    with Folder(grown.root) as folder:
        assert list(last_runs(folder)) == ["compact"]
        OwnerLock(folder, SCHEDULE_LOCK).release()


def test_maintain_ends_when_nobody_reads_what_it_prints(grown: Memory) -> None:
    Path(grown.root, "memolith.toml").write_text("[compact]\nenabled=true\nmax_records=60\n")
    program = [sys.executable, "-m", "memolith", "maintain", "--root", grown.root]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as maintaining:
        assert maintaining.stdout is not None
        assert maintaining.stderr is not None
        maintaining.stdout.close()
        try:
            assert maintaining.wait(120) == READER_GONE
        finally:
            maintaining.kill()
        assert b"Traceback" not in maintaining.stderr.read()
    with Folder(grown.root) as folder:
        OwnerLock(folder, SCHEDULE_LOCK).release()


def test_an_unexpected_error_does_not_end_the_schedule_and_is_logged(
    grown: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    due, failures, done = scheduler_module._due, [ZeroDivisionError("of a look")], threading.Event()

    def look(*args: object) -> list[str]:
        if failures:
            raise failures.pop()
        return due(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(scheduler_module, "_due", look)
    scheduler = Scheduler(
        grown.jobs, poll_seconds=0.05, tell=lambda news: isinstance(news, str) or done.set()
    )
    with caplog.at_level("ERROR", "memolith.jobs"):
        scheduler.start()
        assert done.wait(300)
    scheduler.stop(300)
    assert "ZeroDivisionError" in caplog.text


def test_who_holds_a_lock_file_that_was_deleted_does_not_keep_the_schedule(grown: Memory) -> None:
    turns: list[bool] = []
    kept, lost = threading.Event(), threading.Event()

    def say(news: JobReport | str) -> None:
        if isinstance(news, str):
            turns.append(ours := news.startswith("Keeping the schedule"))
            (kept if ours else lost).set()

    scheduler = Scheduler(grown.jobs, poll_seconds=0.05, tell=say)
    scheduler.start()
    assert kept.wait(300)
    with Folder(grown.root) as folder:
        while not lost.is_set():  # it may take the name again before we do
            Path(grown.root, SCHEDULE_LOCK).unlink(missing_ok=True)
            with suppress(BlockingIOError), OwnerLock(folder, SCHEDULE_LOCK) as ours:
                assert ours.has_its_name()
                assert lost.wait(300)
    scheduler.stop(300)
    assert turns[:2] == [True, False]


def test_a_lock_whose_file_was_replaced_says_so(grown: Memory) -> None:
    with Folder(grown.root) as folder, OwnerLock(folder, SCHEDULE_LOCK) as first:
        assert first.has_its_name()
        Path(grown.root, SCHEDULE_LOCK).unlink()
        assert not first.has_its_name()
        with OwnerLock(folder, SCHEDULE_LOCK) as second:
            assert second.has_its_name()
            assert not first.has_its_name()


def test_of_two_schedulers_the_second_takes_over_when_the_first_dies(grown: Memory) -> None:
    code = (
        "import sys, time; from memolith.files.folder import Folder;"
        "from memolith.files.locks import OwnerLock, SCHEDULE_LOCK;"
        "held = OwnerLock(Folder(sys.argv[1]), SCHEDULE_LOCK); print('held', flush=True);"
        "time.sleep(600)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, grown.root], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        done = threading.Event()
        waits, turns = threading.Event(), list[bool]()

        def say(news: JobReport | str) -> None:
            if isinstance(news, str):
                turns.append(news.startswith("Keeping the schedule"))
                waits.set()
            else:
                done.set()

        scheduler = Scheduler(grown.jobs, poll_seconds=0.05, tell=say)
        scheduler.start()
        assert not done.wait(0.4)
        assert waits.wait(300)
        assert turns == [False]
        other.kill()
        assert done.wait(300)
        scheduler.stop(300)
        assert turns == [False, True]


def test_a_job_that_fails_is_reported_and_tried_again_at_its_next_time(
    grown: Memory, stopped_time: StoppedTime
) -> None:
    # A folder where the archive should be: the job cannot be done.
    Path(grown.root, ".memolith/archive/MEMORY-archive.md").mkdir(parents=True)
    (report,) = maintain(grown.jobs)
    assert report.status == "failed"
    assert grown.jobs.show("last").reason == report.reason
    assert maintain(grown.jobs) == ()
    Path(grown.root, ".memolith/archive/MEMORY-archive.md").rmdir()
    stopped_time.advance(days=1)
    assert [report.status for report in maintain(grown.jobs)] == ["done"]


def test_nothing_is_run_unless_it_is_switched_on(root: str, clock: Clock) -> None:
    memory = Memory(root, clock=clock)
    memory.remember("tea")
    assert maintain(memory.jobs) == ()
