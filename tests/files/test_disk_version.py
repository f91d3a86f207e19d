"""The version of a store: another one after every change, whoever made it and however many files there are."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memolith import Memory
from memolith import clock as clocks
from memolith.files.disk_view import StoreVersion

TICK = 0.06  # after this a change gets another time stamp


def edit_in_place(root: Path) -> None:
    with (root / "MEMORY.md").open("r+b") as file:
        file.write(b"X")


def replace_file(root: Path) -> None:
    (root / "new").write_bytes((root / "MEMORY.md").read_bytes())
    os.replace(root / "new", root / "MEMORY.md")


CHANGES: dict[str, Callable[[Path], object]] = {
    "a record by this library": lambda root: Memory(root).remember("coffee"),
    "a turn of a chat": lambda root: Memory(root).chats.log("a", "b"),
    "a note": lambda root: Memory(root).save_note("coffee"),
    "the same size, in place": edit_in_place,
    "the same bytes, another file": replace_file,
    "a new file": lambda root: (root / "PLAN.md").write_text("coffee"),
    "a new file in a folder that was empty": lambda root: (root / "memory/fact/x.md").write_text(
        "x"
    ),
    "a file that is gone": lambda root: (root / "USER.md").unlink(),
    "a file with another name": lambda root: (root / "USER.md").rename(root / "ME.md"),
}


@pytest.mark.parametrize("files", [0, 400], ids=["few", "many"])
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changes_the_files_changes_the_version(
    tmp_path: Path, change: Callable[[Path], object], files: int
) -> None:
    memory = Memory(tmp_path)
    memory.init()
    memory.remember("tea")
    for number in range(files):
        (tmp_path / f"memory/{number}.md").touch()
    (tmp_path / "memory/fact").mkdir(parents=True)
    time.sleep(TICK)
    version = StoreVersion(str(tmp_path))
    before = version()
    assert before == version() == version() == (before[0], True)
    change(tmp_path)
    assert version()[0] != before[0]


def test_right_after_a_change_the_version_is_not_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Memory(tmp_path).remember("tea")
    changed = max(path.stat().st_mtime_ns for path in (tmp_path, *tmp_path.rglob("*")))
    version = StoreVersion(str(tmp_path))
    monkeypatch.setattr(clocks, "file_time", lambda: changed + 1_000_000)
    assert not version()[1]
    monkeypatch.setattr(clocks, "file_time", lambda: changed + int(TICK * 1e9))
    assert version()[1]


def test_a_file_in_a_folder_made_a_moment_ago_changes_the_version(tmp_path: Path) -> None:
    version = StoreVersion(str(tmp_path))
    (tmp_path / "memory/new").mkdir(parents=True)
    empty = version()[0]
    (tmp_path / "memory/new/one.md").write_text("tea")
    assert version()[0] != empty
    (tmp_path / "memory/new/one.md").unlink()
    assert version()[0] == empty


def test_a_memory_that_does_not_exist_yet_has_a_version_that_is_never_settled(
    tmp_path: Path,
) -> None:
    version = StoreVersion(str(tmp_path / "missing"))
    before, settled = version()
    assert not settled
    Memory(tmp_path / "missing").remember("tea")
    assert version()[0] != before


def test_a_link_to_another_folder_that_leads_elsewhere_changes_the_version(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text(name)
    (tmp_path / "link").symlink_to("one")
    (tmp_path / "profile").mkdir()
    time.sleep(TICK)
    version = StoreVersion(str(tmp_path / "profile"), [str(tmp_path / "link")])
    before = version()
    assert before == version() == (before[0], True)
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("two")
    assert version()[0] != before[0]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_a_folder_that_can_be_read_again_changes_the_version(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/a.md").write_text("tea")
    (tmp_path / "memory").chmod(0)
    time.sleep(TICK)
    version = StoreVersion(str(tmp_path))
    before = version()
    (tmp_path / "memory").chmod(0o700)
    assert version()[0] != before[0]
