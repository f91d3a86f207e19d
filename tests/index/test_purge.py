"""What was forgotten leaves the disk, whoever was killed or is at work beside it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from memolith.index import segments as module
from memolith.index.postings import term_hash
from memolith.index.segment import Segment
from memolith.index.sqlite import SqliteIndex
from memolith.index.sqlite_schema import VERSION
from memolith.interfaces import FileChange, IndexReplacedError
from tests.index.samples import MODEL, keys_of, make_chunk, put

FORGOTTEN = term_hash("n7").to_bytes(8, "little")
_HOUR = 3600
# Writes the segment file that is due, and dies by SIGKILL in the middle of it.
_KILLED = """
import os, signal, sys
from contextlib import contextmanager
from memolith.index import segment, segments
from memolith.index.database import Database
from memolith.index.sqlite import SqliteIndex
from tests.index.samples import MODEL

def die(*args):
    os.kill(os.getpid(), signal.SIGKILL)

segments.RECENT = 10
index = SqliteIndex(sys.argv[1], MODEL)
if sys.argv[2] == "before it has its name":
    segment.os.replace = die
else:
    Database.writing = die
index.maintain()
"""


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SqliteIndex:
    """Forty chunks, so many that a file is due; one of them is to be forgotten."""
    monkeypatch.setattr(module, "RECENT", 10)
    index = SqliteIndex(str(tmp_path), MODEL)
    put(index, *(make_chunk(f"all n{number}", f"{number}.md") for number in range(40)))
    return index


def holding(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if FORGOTTEN in path.read_bytes()]


def forget(index: SqliteIndex) -> None:
    index.replace_files([FileChange("7.md", None)])
    index.purge()


@pytest.mark.parametrize("moment", ["before it has its name", "before the commit"])
def test_nothing_stays_in_what_a_killed_process_left(
    tmp_path: Path, index: SqliteIndex, moment: str
) -> None:
    killed = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), moment], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = tmp_path.glob("*.segment*")
    assert FORGOTTEN in left.read_bytes()
    forget(index)
    assert holding(tmp_path) == []
    assert len(keys_of(index, "all")) == 39
    index.close()


def test_what_a_killed_process_left_goes_with_the_next_file_that_is_written_an_hour_later(
    tmp_path: Path, index: SqliteIndex
) -> None:
    subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path), "before the commit"], check=False)
    (left,) = tmp_path.glob("*.segment")
    fresh = tmp_path / left.name.replace(".segment", "x.segment.new")
    fresh.write_bytes(b"being written by another process")
    os.utime(left, (0, left.stat().st_mtime - 2 * _HOUR))
    assert index.maintain()
    assert fresh.exists()
    assert not left.exists()
    assert len(list(tmp_path.glob("*.segment"))) == 1
    index.close()


def test_nothing_stays_in_the_index_of_another_version(tmp_path: Path, index: SqliteIndex) -> None:
    other = f"index-v{VERSION - 1}-000003"
    for name in (f"{other}.db", f"{other}.db-wal", f"{other}.1-9-ab.segment", "index-v17-1.db"):
        (tmp_path / name).write_bytes(b"xx" + FORGOTTEN)
    (tmp_path / "notes.txt").write_text("not ours")
    forget(index)
    assert holding(tmp_path) == []
    assert not list(tmp_path.glob(f"{other}*"))
    assert (tmp_path / "notes.txt").exists()
    index.close()


def test_a_purge_that_is_overtaken_goes_on(
    tmp_path: Path, index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.maintain()
    other = SqliteIndex(str(tmp_path), MODEL)
    save, overtaken = Segment.save, []

    def overtake(segment: Segment, path: str) -> None:
        save(segment, path)
        if not overtaken:
            overtaken.append(path)
            put(other, *(make_chunk(f"all more{n}", f"more{n}.md") for n in range(20)))
            other.replace_files([FileChange("8.md", None)])
            other._segments.maintain(0)

    monkeypatch.setattr(Segment, "save", overtake)
    forget(index)
    assert overtaken
    assert holding(tmp_path) == []
    assert len(keys_of(index, "all")) == 58
    for one in (index, other):
        one.close()


def test_a_purge_that_is_always_overtaken_leaves_everything_to_the_next_generation(
    tmp_path: Path, index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.maintain()
    monkeypatch.setattr(index._segments, "_write", lambda *_: False)
    forget(index)
    assert holding(tmp_path) == []
    with pytest.raises(IndexReplacedError):
        index.files()
    index.close()


def test_who_read_the_rows_before_a_purge_writes_no_file_of_them_afterwards(
    tmp_path: Path, index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SqliteIndex(str(tmp_path), MODEL)
    save, is_saving, may_save = Segment.save, threading.Event(), threading.Event()

    def wait(segment: Segment, path: str) -> None:
        if threading.current_thread() is not threading.main_thread():
            is_saving.set()
            assert may_save.wait(60)
        save(segment, path)

    monkeypatch.setattr(Segment, "save", wait)
    written: list[bool] = []
    thread = threading.Thread(target=lambda: written.append(slow.maintain()))
    thread.start()
    assert is_saving.wait(60)
    # Few are left, so no file of them is due: nothing but the purge itself overtakes the other.
    index.replace_files([FileChange(f"{number}.md", None) for number in range(7, 40)])
    index.purge()
    may_save.set()
    thread.join()
    assert written == [False]
    assert holding(tmp_path) == []
    for one in (index, slow):
        one.close()


def test_a_file_that_a_purge_swept_away_while_it_was_written_is_no_error(
    tmp_path: Path, index: SqliteIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = SqliteIndex(str(tmp_path), MODEL)
    replace, swept = os.replace, []

    def sweep_first(source: str, target: str) -> None:
        if not swept:
            swept.append(source)
            other.purge()
        replace(source, target)

    monkeypatch.setattr("memolith.index.segment.os.replace", sweep_first)
    assert not index.maintain()
    assert swept
    assert len(keys_of(index, "all")) == 40
    assert len(list(tmp_path.glob("*.segment"))) == 1
    for one in (index, other):
        one.close()
