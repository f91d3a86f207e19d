"""The kernel's notices: silence means that nothing changed, and doubt is no silence."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith.files.change_hint import ChangeHint, is_local

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


@pytest.fixture
def hint(tmp_path: Path) -> Iterator[ChangeHint]:
    (tmp_path / "there.md").write_text("old")
    (tmp_path / "below").mkdir()
    made = ChangeHint()
    made.watch(str(tmp_path))
    yield made
    made.close()


def edit_in_place(root: Path) -> None:
    with (root / "there.md").open("r+") as file:
        file.write("new")


def save_as_editors_do(root: Path) -> None:
    (root / ".there.swp").write_text("new")
    (root / ".there.swp").replace(root / "there.md")


CHANGES: list[Callable[[Path], object]] = [
    edit_in_place,
    save_as_editors_do,
    lambda root: (root / "another.md").write_text("x"),
    lambda root: (root / "there.md").unlink(),
    lambda root: (root / "there.md").rename(root / "moved.md"),
    lambda root: (root / "folder").mkdir(),
    lambda root: (root / "below").rename(root / "renamed"),
    lambda root: os.utime(root / "there.md", (1, 1)),
    lambda root: os.truncate(root / "there.md", 0),
]


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_noticed_at_once(
    hint: ChangeHint, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    assert hint.is_quiet()
    change(tmp_path)
    assert not hint.is_quiet()
    assert not hint.is_quiet()  # until somebody takes it
    assert hint.take() != set()
    assert hint.is_quiet()


def test_files_that_were_touched_are_named(hint: ChangeHint, tmp_path: Path) -> None:
    edit_in_place(tmp_path)
    (tmp_path / "né.md").write_text("new")
    (tmp_path / ".hidden").write_text("new")
    assert hint.take() == {str(tmp_path / "there.md"), str(tmp_path / "né.md")}
    assert hint.take() == set()


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "folder").mkdir(),
        lambda root: (root / "below").rename(root / "renamed"),
        lambda root: (root / "below").rmdir(),
        lambda root: root.rename(root.with_name("elsewhere")),
        lambda root: root.chmod(0o700),
    ],
)
def test_what_happens_to_folders_means_doubt(
    hint: ChangeHint, tmp_path: Path, change: Callable[[Path], object]
) -> None:
    change(tmp_path)
    assert not hint.is_quiet()
    assert hint.take() is None


def test_a_folder_that_is_watched_under_a_new_name_is_named_by_that(
    hint: ChangeHint, tmp_path: Path
) -> None:
    hint.watch(str(tmp_path / "below"))
    (tmp_path / "below").rename(tmp_path / "renamed")
    (tmp_path / "renamed" / "early.md").write_text("x")
    assert hint.take() is None
    hint.watch(str(tmp_path))
    hint.watch(str(tmp_path / "renamed"))
    (tmp_path / "renamed" / "late.md").write_text("x")
    assert hint.take() == {str(tmp_path / "renamed" / "late.md")}


def test_a_folder_that_is_no_longer_looked_at_means_doubt(hint: ChangeHint, tmp_path: Path) -> None:
    hint.watch(str(tmp_path / "below"))
    (tmp_path / "other").mkdir()
    assert hint.take() is None
    hint.watch(str(tmp_path))
    (tmp_path / "below" / "note.md").write_text("x")
    assert hint.take() is None


def test_notices_that_the_kernel_dropped_mean_doubt(hint: ChangeHint, tmp_path: Path) -> None:
    most = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if most > 100_000:
        pytest.skip("this kernel keeps more notices than a test has time for")
    for number in range(most + 10):
        (tmp_path / f"{number % 2}.md").touch()
    assert hint.take() is None


def test_reading_is_no_change(hint: ChangeHint, tmp_path: Path) -> None:
    (tmp_path / "there.md").read_text()
    list(tmp_path.iterdir())
    assert hint.is_quiet()


def test_without_a_watched_folder_there_is_no_silence_to_believe() -> None:
    hint = ChangeHint()
    assert not hint.works
    assert not hint.is_quiet()


def test_a_folder_that_cannot_be_watched_makes_the_whole_hint_worthless(
    hint: ChangeHint, tmp_path: Path
) -> None:
    hint.watch(str(tmp_path / "missing"))
    assert not hint.works
    assert not hint.is_quiet()
    hint.watch(str(tmp_path))
    assert not hint.works  # half a hint is a lie
    hint.close()
    hint.watch(str(tmp_path))
    assert hint.is_quiet()


def test_a_link_is_not_watched(hint: ChangeHint, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "below")
    hint.watch(str(tmp_path / "link"))
    assert not hint.works


def test_a_forked_child_does_not_eat_its_parents_notices(hint: ChangeHint, tmp_path: Path) -> None:
    (tmp_path / "another.md").write_text("x")
    child = os.fork()
    if child == 0:
        os._exit(0 if not hint.is_quiet() else 1)  # in doubt, and without reading
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not hint.is_quiet()


def test_what_is_closed_holds_no_handle(tmp_path: Path) -> None:
    before = handles_of_the_kernels_notices()
    hint = ChangeHint()
    hint.watch(str(tmp_path))
    assert len(handles_of_the_kernels_notices() - before) == 1
    hint.close()
    assert handles_of_the_kernels_notices() <= before


def handles_of_the_kernels_notices() -> set[str]:
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if "inotify" in os.readlink(f"/proc/self/fd/{number}"):
                found.add(number)
    return found


def test_what_nobody_closed_is_given_back(tmp_path: Path) -> None:
    def open_notices() -> int:
        found = 0
        for path in os.listdir("/proc/self/fd"):
            with suppress(OSError):  # the listing itself is gone by now
                found += "inotify" in os.readlink(f"/proc/self/fd/{path}")
        return found

    before = open_notices()
    forgotten = ChangeHint()
    forgotten.watch(str(tmp_path))
    assert open_notices() == before + 1
    del forgotten
    assert open_notices() == before


@pytest.mark.parametrize("kind", [0xEF53, 0x58465342, 0x9123683E, 0x01021994, 0x794C7630])
def test_disks_of_this_machine_are_believed(kind: int) -> None:
    assert is_local(kind)


# NFS, SMB, 9p, FUSE (sshfs among them), Ceph, AFS, and one nobody knows.
@pytest.mark.parametrize(
    "kind", [0x6969, 0xFE534D42, 0xFF534D42, 0x01021997, 0x65735546, 0x00C36400, 0x5346414F, 0]
)
def test_shares_are_not_believed(kind: int) -> None:
    assert not is_local(kind)
