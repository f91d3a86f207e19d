"""Finding when the index cannot be used as it should: what is there answers, and the result says so."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import apsw
import pytest

from memolith import Memory
from memolith.index import database
from tests.crash import mounts
from tests.index import damages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NO_MOUNTS = mounts.why_not("mount", "umount")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "profile"
    with Memory(root) as memory:
        memory.remember("A heron stands in the river")
        memory.index.sync()
    return root


def texts(memory: Memory, words: str) -> list[str]:
    return [hit.text for hit in memory.search(words).hits if words in hit.text]


def test_three_processes_hold_the_index_while_it_is_made_anew(root: Path) -> None:
    """R10: the next call of each is fresh, and none holds a file that is gone."""
    holders = [Memory(root) for _ in range(3)]
    for holder in holders:
        assert texts(holder, "heron")
    with Memory(root) as other:
        other.index.rebuild()
        other.remember("A grebe dives")
    for holder in holders:
        assert texts(holder, "grebe") == ["A grebe dives"]
    handles = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")
               if os.path.lexists(f"/proc/self/fd/{fd}")]  # fmt: skip
    assert not [name for name in handles if name.startswith(f"{root}/") and "(deleted)" in name]
    for holder in holders:
        holder.close()


def test_another_profiles_index_copied_in_gives_none_of_its_hits(
    root: Path, tmp_path: Path
) -> None:
    with Memory(tmp_path / "other") as other:
        other.remember("A secret otter of somebody else")
        other.index.sync()
    foreign = damages.database(damages.index_folder(tmp_path / "other"))
    with Memory(root) as memory:
        assert texts(memory, "heron")
        mine = damages.database(damages.index_folder(root))
        mine.write_bytes(foreign.read_bytes())  # in place, under the open handle
        for reader in (memory, Memory(root)):
            assert texts(reader, "heron") == ["A heron stands in the river"]
            assert texts(reader, "otter") == []


def test_a_moved_profile_is_searched_where_it_is_now(root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "copy")
    with Memory(tmp_path / "copy") as memory:
        memory.remember("A grebe dives")
        assert texts(memory, "heron")
        assert texts(memory, "grebe")


def test_a_file_in_place_of_the_indexs_folder_is_said_and_an_index_elsewhere_finds(
    root: Path,
) -> None:
    folder = damages.index_folder(root)
    shutil.rmtree(folder)
    folder.write_text("not a folder", encoding="utf-8")
    with Memory(root) as memory:
        result = memory.search("heron")
        assert [hit.text for hit in result.hits] == ["A heron stands in the river"]
        assert "index cannot be used" in result.warnings[0]
    folder.unlink()
    with Memory(root) as memory:
        assert texts(memory, "heron")
        assert memory.search("heron").warnings == ()


def test_a_locked_index_answers_with_what_it_has_and_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 50)
    with Memory(root) as memory:
        assert texts(memory, "heron")
        writer = apsw.Connection(str(damages.database(damages.index_folder(root))))
        writer.execute("BEGIN IMMEDIATE")
        memory.remember("A grebe dives")
        result = memory.search("heron")
        assert [hit.text for hit in result.hits] == ["A heron stands in the river"]
        assert "another process" in result.warnings[0]
        writer.execute("ROLLBACK")
        writer.close()
        assert texts(memory, "grebe")
        assert memory.search("grebe").warnings == ()


@pytest.fixture
def held_index(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Another process writes to the index, and does not come to an end."""
    monkeypatch.setattr(database, "_BUSY_MILLISECONDS", 50)
    writer = apsw.Connection(str(damages.database(damages.index_folder(root))))
    writer.execute("BEGIN IMMEDIATE")
    yield
    writer.execute("ROLLBACK")
    writer.close()


@pytest.mark.usefixtures("held_index")
def test_a_file_that_was_replaced_is_told_so_though_the_index_is_locked(root: Path) -> None:
    with Memory(root) as memory:
        file = memory.files.read("MEMORY.md")
        report = memory.files.write("MEMORY.md", f"{file.content}A grebe dives\n", file.version)
        assert memory.files.read("MEMORY.md").version == report.version != file.version
    [warning] = report.warnings
    assert "another process" in warning
    assert warning.endswith("The next search brings the index in line.")


@pytest.mark.usefixtures("held_index")
def test_what_is_forgotten_leaves_an_index_that_is_locked(root: Path) -> None:
    with Memory(root) as memory:
        [record] = memory.records()
        report = memory.forget(record.id)
        assert report.warnings == ()
        assert texts(memory, "heron") == []
    folder = damages.index_folder(root)
    assert not [
        path for path in folder.rglob("*") if path.is_file() and b"heron" in path.read_bytes()
    ]


def test_what_is_forgotten_is_told_so_though_the_index_cannot_be_used(root: Path) -> None:
    folder = damages.index_folder(root)
    shutil.rmtree(folder)
    folder.write_text("not a folder", encoding="utf-8")
    (root / ".memolith" / "embeddings.db").mkdir()  # there is something to be emptied
    with Memory(root) as memory:
        [record] = memory.records()
        report = memory.forget(record.id)
        assert memory.records() == ()
    assert report.record_id == record.id
    assert "memolith sync --rebuild" in report.warnings[-1]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if NO_MOUNTS:
        pytest.skip(NO_MOUNTS)
    with mounts.mounted(tmp_path / "disk", ["-t", "tmpfs", "-o", "size=3m", "tmpfs"]) as disk:
        yield disk


def test_on_a_full_disk_what_is_indexed_is_found_and_the_rest_is_said(small_disk: Path) -> None:
    root = small_disk / "profile"
    with Memory(root) as memory:
        memory.remember("A heron stands in the river")
        assert texts(memory, "heron")
        for number in range(200):
            memory.remember(f"Bird {number} " + " ".join(f"w{number}x{i}" for i in range(40)))
        with suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass
        result = memory.search("heron")
        assert [hit.text for hit in result.hits if "heron" in hit.text]
        assert "full" in " ".join(result.warnings)
    with Memory(root) as fresh:
        told = " ".join(fresh.search("heron").warnings)
    assert "the disk is full" in told
    assert "read-only" not in told


@pytest.mark.parametrize("room", [0, 40])
def test_on_a_full_disk_without_an_index_one_elsewhere_finds(small_disk: Path, room: int) -> None:
    with Memory(small_disk / "profile") as memory:
        memory.remember("A heron stands in the river")
        with suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as file:
            while file.write(b"x" * 1024):
                pass
        os.truncate(small_disk / "fill", os.path.getsize(small_disk / "fill") - room * 1024)
        result = memory.search("heron")
        assert [hit.text for hit in result.hits] == ["A heron stands in the river"]
        assert "the disk is full. A temporary index is used instead" in " ".join(result.warnings)
        assert [hit.text for hit in memory.search("heron").hits] == ["A heron stands in the river"]


def test_where_no_index_can_be_made_anywhere_a_search_says_so(
    small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(small_disk))
    with Memory(small_disk / "profile") as memory:
        memory.remember("A heron stands in the river")
        with suppress(OSError), (small_disk / "fill").open("wb", buffering=0) as file:
            while file.write(b"x" * 1024):
                pass
        result = memory.search("heron")
        assert not result.hits
        assert "Nothing was searched" in " ".join(result.warnings)


SEARCH = """
import sys
from memolith import Memory
with Memory(sys.argv[1]) as memory:
    result = memory.search("heron")
    print(len(result.hits), *result.warnings)
"""


@pytest.mark.parametrize("indexed", [True, False])
def test_a_read_only_profile_is_searched_with_its_index_or_one_for_the_process_alone(
    root: Path, tmp_path: Path, indexed: bool
) -> None:
    if NO_MOUNTS:
        pytest.skip(NO_MOUNTS)
    if not indexed:
        shutil.rmtree(damages.index_folder(root))
    place = tmp_path / "read-only"
    place.mkdir()
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c",
         'mount --bind "$1" "$2" && mount -o remount,bind,ro "$2" && exec "$3" -c "$4" "$2"',
         "sh", root, place, sys.executable, SEARCH],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1"), done.stdout
    assert ("read-only and has no index" in done.stdout) is not indexed


def test_who_closes_during_a_sync_gets_it_when_the_sync_ends(tmp_path: Path) -> None:
    root = tmp_path / "profile"
    memory = Memory(root)
    memory.remember("A heron stands in the river")
    reached, go_on = threading.Event(), threading.Event()

    def wait(*_: object) -> None:
        reached.set()
        assert go_on.wait(300)

    syncing = threading.Thread(target=memory.index.sync, args=(wait,))
    syncing.start()
    assert reached.wait(300)
    memory.close()
    go_on.set()
    syncing.join(300)
    opened = [
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{fd}")
    ]
    assert not [name for name in opened if name.startswith(f"{root}/.memolith/index")]
