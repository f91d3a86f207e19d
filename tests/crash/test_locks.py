"""R19: the writer lock, whatever happens to its holder and its file."""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import LocksUnavailableError, StorageError, WriterBusyError
from tests.crash import mounts, privileges, rig_preload
from tests.crash.oracle import Expected, judge, snapshot
from tests.crash.workers import LiveWorker, Order, environment, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.crash.conftest import Figures

IMPATIENT = {"store.lock_timeout_seconds": 0.3}
PATIENT = {"store.lock_timeout_seconds": 300}
TRIM = {"trim.max_records": 3}


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile that holds one record."""
    root = tmp_path / "root"
    with Memory(str(root)) as memory:
        memory.remember("written before")
    return root


@contextlib.contextmanager
def lock_held(root: Path) -> Iterator[None]:
    """Hold the lock as another program would, through the kernel alone."""
    with (root / ".memolith/write.lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def texts(root: Path) -> list[str]:
    with Memory(str(root)) as memory:
        return [record.text for record in memory.records()]


def test_a_writer_that_waits_too_long_says_so_and_writes_nothing(profile: Path) -> None:
    before = snapshot(profile)
    with lock_held(profile), Memory(str(profile), settings=IMPATIENT) as memory:
        began = time.monotonic()
        with pytest.raises(WriterBusyError) as caught:
            memory.remember("impatient")
        waited = time.monotonic() - began
    assert waited >= 0.25
    assert caught.value.waited_seconds == pytest.approx(0.3)
    assert snapshot(profile) == before
    with Memory(str(profile)) as memory:
        memory.remember("later")
    assert texts(profile) == ["written before", "later"]


def test_reading_needs_no_lock(profile: Path) -> None:
    with lock_held(profile):
        assert texts(profile) == ["written before"]


def test_a_dead_holder_leaves_no_lock_behind(profile: Path, tmp_path: Path) -> None:
    traffic = {"do": "traffic", "seed": 1, "label": "x", "mix": {"remember": 1}}
    for life in range(5):
        with LiveWorker(
            Order(root=profile, steps=[traffic]), tmp_path / f"{life}.ledger"
        ) as holder:
            holder.wait_for_lines(8)
            holder.kill()
        with Memory(str(profile), settings=IMPATIENT) as memory:
            memory.remember(f"after life {life}")


def test_a_process_number_used_again_is_not_taken_for_the_holder(profile: Path) -> None:
    lock = profile / ".memolith/write.lock"
    for content in (f'{{"pid":{os.getpid()}}}', str(os.getpid()), "\0\xff garbage"):
        lock.write_text(content)
        with Memory(str(profile), settings=IMPATIENT) as memory:
            memory.remember(f"somebody else has number {content!r}")
    assert len(texts(profile)) == 4


def test_a_lock_file_replaced_while_we_wait_is_not_the_lock_any_more(profile: Path) -> None:
    lock = profile / ".memolith/write.lock"
    with Memory(str(profile), settings=PATIENT) as memory, contextlib.ExitStack() as new:
        with lock_held(profile):
            waiting = threading.Thread(target=memory.remember, args=["patient"])
            waiting.start()
            time.sleep(0.2)
            lock.unlink()
            lock.touch()
            new.enter_context(lock_held(profile))
        time.sleep(0.2)  # the old file is free now, but it is not the lock any more
        assert "patient" not in (profile / "MEMORY.md").read_text()
    waiting.join()
    assert texts(profile) == ["written before", "patient"]


@pytest.mark.parametrize("fate", ["deleted", "replaced"])
def test_a_lock_file_taken_away_while_held_costs_no_record(
    fate: str, profile: Path, tmp_path: Path, figures: Figures
) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    library, lock = rig_preload.build(tmp_path), profile / ".memolith/write.lock"
    taken_away = tmp_path / "taken away"
    slow = rig_preload.environment(
        library, "/staging", "sync", fault="slow", when=1, until=taken_away
    )
    expected = Expected()
    before = [{"do": "remember", "text": f"old {n}"} for n in range(6)]
    _, said = run(Order(root=profile, steps=before), tmp_path / "before.ledger")
    expected.add(said)

    order = Order(root=profile, trim_settings=TRIM, steps=[{"do": "trim"}])
    with LiveWorker(order, tmp_path / "slow.ledger", env=slow) as trimmer:
        trimmer.wait_until(lambda: any((profile / ".memolith/staging").glob("*")))
        lock.unlink()
        if fate == "replaced":
            lock.touch()
        second = [{"do": "remember", "text": f"second writer {n}"} for n in range(5)]
        order = Order(root=profile, settings=PATIENT, steps=second)
        _, said = run(order, tmp_path / "second.ledger")
        expected.add(said)
        taken_away.touch()
        assert trimmer.finish() in (0, 3), trimmer.stderr()
        expected.add(trimmer.said())
    with Memory(str(profile)) as memory:
        memory.remember("next")
    verdict = judge(profile, expected)
    figures("R19", lock_file=fate, acked=len(expected.acknowledged), **verdict.figures())
    assert not verdict.lost
    assert not verdict.torn
    assert not verdict.twice


def test_a_lock_file_we_may_not_open_is_a_clear_error(profile: Path, tmp_path: Path) -> None:
    if reason := privileges.why_not():
        pytest.skip(reason)
    before = snapshot(profile)
    (profile / ".memolith/write.lock").chmod(0o400)
    order = Order(root=profile, steps=[{"do": "remember", "text": "refused"}, {"do": "records"}])
    code, said = run(order, tmp_path / "l.ledger", wrap=privileges.without())
    assert code == 3
    assert [line.kind for line in said if line.word == "error"] == ["StorageError"]
    assert "write.lock" in next(line.message for line in said if line.word == "error")
    assert said[-1].texts == ["written before"]
    assert snapshot(profile) == before


def test_something_else_in_the_place_of_the_lock_file_is_a_clear_error(profile: Path) -> None:
    lock, before = profile / ".memolith/write.lock", snapshot(profile)
    lock.unlink()
    lock.mkdir()
    with Memory(str(profile)) as memory, pytest.raises(StorageError, match=r"write\.lock"):
        memory.remember("refused")
    assert snapshot(profile) == before


FORKS_WHILE_WRITING = """
import os, sys, threading, time
from pathlib import Path
from memolith import Memory
memory = Memory(sys.argv[1])
memory.remember("warm-up")
writing = threading.Thread(target=memory.remember, args=["never acknowledged"], daemon=True)
writing.start()
while not any("never acknowledged" in path.read_text() for path in Path(sys.argv[1], "memory").glob("*.md")):
    time.sleep(0.01)
child = os.fork()
if child == 0:
    time.sleep(600)
    os._exit(0)
print(child, flush=True)
time.sleep(600)
"""


def test_a_forked_child_does_not_keep_a_dead_parents_lock(profile: Path, tmp_path: Path) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    library = rig_preload.build(tmp_path)
    slow = rig_preload.environment(library, "MEMORY.md", "write", fault="slow", when=2, seconds=600)
    command = [sys.executable, "-c", FORKS_WHILE_WRITING, str(profile)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment(slow))
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait(300)
        try:
            with Memory(str(profile), settings={"store.lock_timeout_seconds": 2}) as memory:
                memory.remember("the child is alive, the lock is free")
            os.kill(child, 0)  # still alive, or the test proves nothing
        finally:
            os.kill(child, 9)
    assert texts(profile)[-1] == "the child is alive, the lock is free"


@pytest.mark.usefixtures("private_mounts")
def test_a_file_system_without_locks_is_read_but_not_written(
    tmp_path: Path, figures: Figures
) -> None:
    if reason := mounts.why_no_fuse():
        pytest.skip(reason)
    folder, mount_point = tmp_path / "folder", tmp_path / "no-locks"
    folder.mkdir()
    mount_point.mkdir()
    with Memory(str(folder)) as memory:
        memory.remember("written on a real file system")
    before = snapshot(folder)
    with mounts.fuse(folder, mount_point), Memory(str(mount_point)) as memory:
        with pytest.raises(LocksUnavailableError, match="lock"):
            memory.remember("two writers could meet here")
        assert [record.text for record in memory.records()] == ["written on a real file system"]
    figures(
        "R19", file_system="FUSE, flock says ENOLCK", acked=0, changed=snapshot(folder) != before
    )
    assert snapshot(folder) == before


def test_a_kernel_without_locks_is_a_clear_error(profile: Path, tmp_path: Path) -> None:
    if reason := rig_preload.why_not():
        pytest.skip(reason)
    before, library = snapshot(profile), rig_preload.build(tmp_path)
    env = rig_preload.environment(library, "write.lock", "flock", fault="enolck", when=0)
    steps = [{"do": "remember", "text": "refused"}, {"do": "trim"}]
    code, said = run(Order(root=profile, steps=steps), tmp_path / "l.ledger", env=env)
    assert code == 3
    assert {line.kind for line in said if line.word == "error"} == {"LocksUnavailableError"}
    assert snapshot(profile) == before
