"""What a process has seen on the disk: one write costs one look at one file, and nothing is missed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.files import discovery, seen
from memolith.files.folder import Folder
from memolith.files.roots import Roots
from memolith.files.seen import SeenFiles
from tests.crash import mounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


class Looking:
    """Looks at a memory again and again, and counts what that takes."""

    def __init__(self, root: Path, extra_paths: str = "") -> None:
        self.root = root
        self.seen = SeenFiles()
        self._extra_paths = extra_paths
        self.walked = 0
        self.stats: list[object] = []
        self.warnings: list[str] = []
        self()

    def __call__(self) -> set[str]:
        """The paths that are seen, each with the stamp it has."""
        self.walked, self.stats = 0, []
        with Folder(str(self.root)) as folder, Roots(folder, self._extra_paths) as roots:
            found, self.warnings = self.seen.now(roots)
            there, _ = roots.discover()
        self.walked -= 1  # the one to compare with
        assert dict(found) == there
        return set(found)


@pytest.fixture
def look(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Looking]:
    monkeypatch.setattr(seen, "BELIEVED_SECONDS", 1e9)  # however slow the machine is
    (tmp_path / "memory" / "shelf").mkdir(parents=True)
    for name in ("MEMORY.md", "USER.md", "memory/2026-11-10.md", "memory/shelf/cup.md"):
        (tmp_path / name).write_text("old\n")
    looking = Looking(tmp_path)
    real_walk, real_stat = Roots.discover, os.stat

    def walk(self: Roots, *given: object) -> object:
        looking.walked += 1
        return real_walk(self, *given)  # type: ignore[arg-type]

    def stat(path: object, **options: object) -> os.stat_result:
        looking.stats.append(path)
        return real_stat(path, **options)  # type: ignore[arg-type, call-overload, no-any-return]

    monkeypatch.setattr(Roots, "discover", walk)
    monkeypatch.setattr(discovery.os, "stat", stat)
    yield looking
    looking.seen.close()


def test_after_one_write_one_file_is_looked_at_and_no_folder(look: Looking) -> None:
    (look.root / "memory" / "shelf" / "cup.md").write_text("new and longer\n")
    look()
    assert look.walked == 0
    assert look.stats == ["cup.md"]
    look()
    assert (look.walked, look.stats) == (0, [])


def test_a_record_costs_a_look_at_its_two_files(look: Looking) -> None:
    with Memory(look.root) as memory:
        memory.remember("Tea at four")  # may make folders
        look()
        memory.remember("Coffee at five")
        look()
    assert look.walked == 0
    assert len(look.stats) == 2


@pytest.mark.parametrize(
    ("change", "walks"),
    [
        (lambda root: (root / "new.md").write_text("x"), 0),
        (lambda root: (root / "memory" / "new.md").write_text("x"), 0),
        (lambda root: (root / "USER.md").unlink(), 0),
        (lambda root: (root / "USER.md").rename(root / "memory" / "moved.md"), 0),
        (lambda root: os.replace(root / "USER.md", root / "MEMORY.md"), 0),
        (lambda root: (root / ".hidden.md").write_text("x"), 0),
        (lambda root: (root / "picture.png").write_text("x"), 0),
        (lambda root: (root / "memory" / "a.sync-conflict-1.md").write_text("x"), 0),
        (lambda root: (root / "DREAMS.md").write_text("x"), 0),
        (lambda root: (root / "conversations.jsonl").write_text("{}\n"), 0),
        (lambda root: (root / "memory" / "conversations.jsonl").write_text("{}\n"), 0),
        (lambda root: (root / "memory" / "link.md").symlink_to(root / "USER.md"), 1),
        (lambda root: os.link(root / "USER.md", root / "memory" / "twin.md"), 1),
        (lambda root: os.link(root / "USER.md", root / "twin.txt"), 1),
        (lambda root: (root / "memory" / "folder.md").mkdir(), 1),
        (lambda root: (root / "memory" / "shelf").rename(root / "memory" / "board"), 1),
        (lambda root: (root / "memory" / "shelf").rename(root / "away"), 1),
        (lambda root: (root / "memory").rename(root / "elsewhere"), 1),
    ],
)
def test_whatever_changes_is_seen_as_by_a_walk(
    look: Looking, change: Callable[[Path], object], walks: int
) -> None:
    change(look.root)
    look()
    assert look.walked == walks


def test_what_is_written_into_a_new_folder_is_seen(look: Looking) -> None:
    (look.root / "memory" / "box").mkdir()
    (look.root / "memory" / "box" / "pen.md").write_text("x")
    assert "memory/box/pen.md" in look()
    (look.root / "memory" / "box" / "ink.md").write_text("x")
    assert "memory/box/ink.md" in look()
    assert look.walked == 0


def test_the_kernel_is_believed_for_a_while_only(
    look: Looking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen, "BELIEVED_SECONDS", -1.0)
    look()
    assert look.walked == 1


def test_whoever_asks_for_it_has_everything_looked_at(look: Looking) -> None:
    look.seen.look_everywhere()
    look()
    assert look.walked == 1
    look()
    assert look.walked == 0


def test_a_second_name_of_a_file_costs_no_walk_and_is_told_each_time(look: Looking) -> None:
    os.link(look.root / "USER.md", look.root / "memory" / "twin.md")
    for walks in (1, 0, 0):
        assert not {"USER.md", "memory/twin.md"} & look()
        assert look.walked == walks
        assert len(look.warnings) == 2
    (look.root / "memory" / "twin.md").unlink()
    assert "USER.md" in look()
    assert look.warnings == []


def test_a_file_that_loses_its_second_name_elsewhere_is_seen_at_once(
    look: Looking, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "twin.md"
    os.link(look.root / "USER.md", elsewhere)
    look.seen.look_everywhere()
    assert "USER.md" not in look()
    elsewhere.unlink()
    assert "USER.md" in look()


@pytest.mark.skipif(bool(mounts.why_no_fuse()), reason=mounts.why_no_fuse())
def test_what_another_machine_writes_to_a_share_is_seen_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seen, "BELIEVED_SECONDS", 1e9)
    there, share = tmp_path / "there", tmp_path / "share"
    (there / "memory").mkdir(parents=True)
    share.mkdir()
    (there / "memory" / "old.md").write_text("old\n")
    with mounts.fuse(there, share):
        look = Looking(share)
        assert look() == {"memory/old.md"}
        (there / "memory" / "new.md").write_text("new\n")
        assert look() == {"memory/old.md", "memory/new.md"}
        assert not look.seen.hint.works
        look.seen.close()
