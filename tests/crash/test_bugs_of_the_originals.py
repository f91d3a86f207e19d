"""The bugs of the programs Memolith descends from, one named test each, by letter."""

from __future__ import annotations

import fcntl
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.clock import Clock
from memolith.errors import (
    ConfigError,
    PathOutsideProfileError,
    StorageError,
    WriterBusyError,
)
from tests.crash import rig_strace
from tests.crash.newer_version import line as foreign_line
from tests.crash.oracle import archive_files, read_records, snapshot
from tests.crash.workers import LiveWorker, Order

if TYPE_CHECKING:
    from pathlib import Path

TRIM = {"trim.max_records": 2}


@pytest.fixture
def profile(tmp_path: Path) -> Path:
    """A profile with five records, the third one secret, and some prose."""
    root = tmp_path / "root"
    with Memory(str(root)) as memory:
        for n in range(5):
            memory.remember(f"record {n}", sensitivity="secret" if n == 2 else "private-user")
    with (root / "MEMORY.md").open("ab") as file:
        file.write(b"\n## By hand\n\n* a list\r\n\tan indented line\n")
    return root


def archived(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in archive_files(root))


def memory_file(root: Path) -> bytes:
    return (root / "MEMORY.md").read_bytes()


def trim(root: Path) -> None:
    with Memory(str(root), settings=TRIM) as memory:
        memory.jobs.trim()


def test_a_what_is_appended_while_a_rewrite_waits_for_the_lock_is_not_lost(profile: Path) -> None:
    with (profile / ".memolith/write.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        trimming = threading.Thread(target=trim, args=[profile])
        trimming.start()
        time.sleep(0.3)  # a rewrite that reads before it has the lock has read by now
        with (profile / "MEMORY.md").open("ab") as file:
            file.write(foreign_line(1))
    trimming.join()
    assert foreign_line(1) in memory_file(profile) + archived(profile)


def test_b_the_lock_is_exclusive_and_never_stale(profile: Path, tmp_path: Path) -> None:
    impatient = {"store.lock_timeout_seconds": 0.2}
    with (profile / ".memolith/write.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with Memory(str(profile), settings=impatient) as memory, pytest.raises(WriterBusyError):
            memory.remember("two at once")
    traffic = {"do": "traffic", "seed": 1, "label": "x", "mix": {"remember": 1}}
    with LiveWorker(Order(root=profile, steps=[traffic]), tmp_path / "l.ledger") as killed:
        killed.wait_for_lines(6)
        killed.kill()
    with Memory(str(profile), settings=impatient) as memory:
        memory.remember("nobody had to delete a lock file")


def test_c_a_secret_record_keeps_its_label_in_the_archive(profile: Path) -> None:
    line = next(line for line in memory_file(profile).split(b"\n") if b"record 2" in line)
    trim(profile)
    assert line in archived(profile).split(b"\n")
    assert b'"sensitivity":"secret"' in line


def test_d_sensitivity_is_consulted_by_every_way_of_reading(profile: Path) -> None:
    with Memory(str(profile)) as memory:
        memory.save_note("record 2 again, as a note", sensitivity="secret")
        day = next(path.name for path in (profile / "memory").glob("*.md"))
        shown = (
            *memory.records(), *memory.records(include_past=True), *memory.records(session="main"),
            *memory.records(), memory.get("MEMORY.md").text, memory.get(f"memory/{day}").text,
            memory.get("MEMORY.md", 1, 100).text, memory.status(), memory.doctor(),
        )  # fmt: skip
        assert "record 2" not in repr(shown)
        assert "record 3" in repr(shown)
        asked = [record.text for record in memory.records(session="main", include_secret=True)]
        assert "record 2" in asked


def test_e_nothing_is_cut_on_the_way_to_the_archive(tmp_path: Path) -> None:
    root = tmp_path / "root"
    texts = [f"{n} {'long ' * 12_000}end {n}" for n in range(4)]
    with Memory(str(root)) as memory:
        for text in texts:
            memory.remember(text)
    before = memory_file(root)
    trim(root)
    kept = read_records([root / "MEMORY.md", *archive_files(root)]).texts
    assert sorted(kept.values()) == sorted(texts)
    assert all(line in before for line in archived(root).split(b"\n"))


def test_f_a_failed_backup_stops_the_rewrite(profile: Path) -> None:
    (profile / ".memolith/backup").write_text("a file where the backups should go")
    before = snapshot(profile)
    with Memory(str(profile), settings=TRIM) as memory, pytest.raises(StorageError, match="backup"):
        memory.jobs.trim()
    assert snapshot(profile) == before
    assert archived(profile) == b""


def test_g_lines_that_are_no_records_are_kept_where_they_are(profile: Path) -> None:
    prose = b"\n## By hand\n\n* a list\r\n\tan indented line\n"
    with Memory(str(profile), settings=TRIM) as memory:
        memory.jobs.trim()
        memory.forget(memory.records()[-1].id)
        memory.remember("after")
    assert prose in memory_file(profile)
    assert memory_file(profile).startswith(b"# MEMORY.md")


def test_h_the_archive_is_on_disk_before_memory_is_replaced(profile: Path, tmp_path: Path) -> None:
    if reason := rig_strace.why_not():
        pytest.skip(reason)
    steps = rig_strace.window([], {"do": "trim"})
    order = Order(root=profile, trim_settings=TRIM, steps=steps)
    calls = rig_strace.calls_with_paths(order, tmp_path)

    def first(*words: str) -> int:
        return next(n for n, call in enumerate(calls) if all(word in call for word in words))

    backup = first("renameat", "/backup/", '"manifest.json"')
    archive_write = first("write(", "/archive/MEMORY-archive.md>")
    archive_sync = first("sync(", "/archive/MEMORY-archive.md>")
    swap = first("renameat", "/staging>", '"MEMORY.md"', f"{profile}>")
    folder_sync = first("fsync(", f"{profile}>)")
    new_file = calls[swap].partition('/staging>, "')[2].partition('"')[0]
    new_file_sync = first("sync(", new_file)
    assert backup < archive_write < archive_sync < swap < folder_sync
    assert new_file_sync < swap


def test_i_a_rewrite_is_a_new_file_made_under_the_lock(profile: Path) -> None:
    before, number = memory_file(profile), (profile / "MEMORY.md").stat().st_ino
    with (profile / "MEMORY.md").open("rb") as reader:
        trim(profile)
        assert reader.read() == before, "somebody who was reading saw the file change"
    assert (profile / "MEMORY.md").stat().st_ino != number
    with (profile / ".memolith/write.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        settings = {"trim.max_records": 1, "store.lock_timeout_seconds": 0.2}
        with Memory(str(profile), settings=settings) as memory, pytest.raises(WriterBusyError):
            memory.jobs.trim()


@pytest.mark.parametrize(
    ("zone", "day"), [("America/New_York", "2026-11-15"), ("Asia/Tokyo", "2026-11-16")]
)
def test_j_the_day_is_the_users_for_writing_and_for_reading(
    zone: str, day: str, tmp_path: Path
) -> None:
    late = datetime(2026, 11, 16, 3, 30, tzinfo=UTC)  # 22:30 in New York, 12:30 in Tokyo
    clock = Clock(zone, now=lambda: late)
    with Memory(str(tmp_path), clock=clock) as memory:
        record = memory.remember("late")
        assert str(record.citation).startswith(f"memory/{day}.md#L")
        assert "late" in memory.get(f"memory/{clock.today().isoformat()}.md").text


@pytest.mark.parametrize(
    "path", ["../outside.md", "/tmp/outside.md", "~/outside.md", "a/../../outside.md", "a//b.md"]
)
def test_k_an_archive_path_outside_of_the_profile_is_refused(path: str, profile: Path) -> None:
    before = snapshot(profile)
    with pytest.raises(ConfigError, match=r"trim\.archive_path"):
        Memory(str(profile), settings={"trim.archive_path": path})
    assert snapshot(profile) == before


def test_k_an_archive_behind_a_link_is_refused(profile: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (profile / "elsewhere").symlink_to(outside)
    before = snapshot(profile)
    settings = TRIM | {"trim.archive_path": "elsewhere/archive.md"}
    with (
        Memory(str(profile), settings=settings) as memory,
        pytest.raises((PathOutsideProfileError, StorageError), match="elsewhere"),
    ):
        memory.jobs.trim()
    assert snapshot(profile) == before
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "path", ["../root-sibling/x.md", "../root/../root-sibling/x.md", "{}/x.md"]
)
def test_l_a_sibling_folder_with_the_same_prefix_is_not_readable(
    path: str, profile: Path, tmp_path: Path
) -> None:
    sibling = tmp_path / "root-sibling"
    sibling.mkdir()
    (sibling / "x.md").write_text("not yours")
    with Memory(str(profile)) as memory, pytest.raises(PathOutsideProfileError):
        memory.get(path.format(sibling))


def test_m_a_link_is_not_followed_out_of_the_profile(profile: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("not yours")
    (profile / "memory/link.md").symlink_to(tmp_path / "outside.md")
    (profile / "memory/folder").symlink_to(tmp_path)
    with Memory(str(profile)) as memory:
        for path in ("memory/link.md", "memory/folder/outside.md"):
            with pytest.raises((PathOutsideProfileError, StorageError)):
                memory.get(path)
        assert "not yours" not in repr((memory.records(), memory.records(), memory.doctor()))


@pytest.mark.parametrize("path", ["memolith.toml", ".memolith/write.lock", "secrets.txt"])
def test_n_only_memory_files_are_readable(path: str, profile: Path) -> None:
    (profile / path).write_text("# not a memory")
    with Memory(str(profile)) as memory, pytest.raises(PathOutsideProfileError):
        memory.get(path)
