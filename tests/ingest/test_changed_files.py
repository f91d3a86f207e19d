"""A search notices every change of the files at once, however it was made."""

from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from memolith import Memory, clock
from memolith.files import disk_view
from memolith.ingest import open_index
from tests.crash import mounts

if TYPE_CHECKING:
    from collections.abc import Callable

ALWAYS = 1 << 62  # nanoseconds: every file counts as just written


def texts(memory: Memory, question: str) -> list[str]:
    return [hit.text for hit in memory.search(question, limit=9).hits]


def fails(_: object) -> None:
    raise AssertionError("a folder is listed again")


def edit_in_place(root: Path) -> None:
    with (root / "memory/cup.md").open("r+") as file:
        file.write("Tea at nine")


def save_as_editors_do(root: Path) -> None:
    (root / "memory/.cup.swp").write_text("Tea at nine\n")
    (root / "memory/.cup.swp").replace(root / "memory/cup.md")


def link_from_elsewhere(root: Path) -> None:
    os.link(root / "memory/cup.md", root / "cup.txt")


FOUND = ["Tea at four"]
CHANGES: dict[str, tuple[Callable[[Path], object], list[str]]] = {
    "an edit of the same size": (edit_in_place, ["Tea at nine"]),
    "a save by an editor": (save_as_editors_do, ["Tea at nine"]),
    "a new file": (lambda root: (root / "new.md").write_text("Tea"), [*FOUND, "Tea"]),
    "a new folder": (
        lambda root: ((root / "memory/box").mkdir(), (root / "memory/box/a.md").write_text("Tea")),
        [*FOUND, "Tea"],
    ),
    "a removed file": (lambda root: (root / "memory/cup.md").unlink(), []),
    "a moved file": (lambda root: (root / "memory/cup.md").rename(root / "cup.md"), FOUND),
    "a renamed folder": (lambda root: (root / "memory").rename(root / "away"), []),
    "a hidden file": (lambda root: (root / ".hidden.md").write_text("Tea"), FOUND),
    "a second name": (link_from_elsewhere, []),
}


@pytest.mark.parametrize("are_listed", [True, False], ids=["new folders", "known folders"])
@pytest.mark.parametrize(("change", "expected"), CHANGES.values(), ids=CHANGES)
def test_every_change_is_noticed_by_the_next_search(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Path], object],
    expected: list[str],
    are_listed: bool,
) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory/cup.md").write_text("Tea at four\n")
    with Memory(tmp_path) as memory:
        assert texts(memory, "tea") == FOUND
        if not are_listed:  # folders that did not change lately are not listed again
            monkeypatch.setattr(disk_view, "_LISTING_TICK", clock.FILE_TICK)
            monkeypatch.setattr(open_index, "_LISTED_SECONDS", 60)
            time.sleep(2 * clock.FILE_TICK / 1e9)
            memory.index.sync()
            monkeypatch.setattr(os, "scandir", fails)
            assert texts(memory, "tea") == FOUND
            monkeypatch.undo()
        change(tmp_path)
        assert sorted(texts(memory, "tea"), reverse=True) == sorted(expected, reverse=True)


def test_a_file_that_loses_its_second_name_is_found_at_once(tmp_path: Path) -> None:
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile/cup.md").write_text("Tea at four\n")
    os.link(tmp_path / "profile/cup.md", tmp_path / "twin.md")
    with Memory(tmp_path / "profile") as memory:
        for _ in range(2):
            result = memory.search("tea")
            assert result.hits == ()
            assert any("cup.md" in warning for warning in result.warnings)
        (tmp_path / "twin.md").unlink()
        assert texts(memory, "tea") == FOUND


@pytest.mark.skipif(bool(mounts.why_no_fuse()), reason=mounts.why_no_fuse())
def test_a_write_of_another_machine_to_a_share_is_noticed(tmp_path: Path) -> None:
    there, share = tmp_path / "there", tmp_path / "share"
    (there / "memory").mkdir(parents=True)
    share.mkdir()
    (there / "memory/old.md").write_text("Tea at four\n")
    with mounts.fuse(there, share), Memory(share) as memory:
        assert texts(memory, "tea") == FOUND
        (there / "memory/new.md").write_text("Tea\n")
        assert set(texts(memory, "tea")) == {*FOUND, "Tea"}


def test_a_change_of_the_same_size_and_time_is_found(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "FILE_TICK", ALWAYS)
    note = Path(root, "memory/note.md")
    note.parent.mkdir(parents=True)
    note.write_text("Tea at four.\n")
    with Memory(root) as memory:
        assert texts(memory, "tea") == ["Tea at four."]
        stamp = note.stat()
        note.write_text("Tea at nine.\n")
        os.utime(note, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        assert texts(memory, "tea") == ["Tea at nine."]


def test_a_racy_file_is_read_again_but_written_to_the_index_only_once_it_is_settled(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clock, "FILE_TICK", ALWAYS)
    with Memory(root) as first, Memory(root) as second:
        first.remember("Coffee at five")
        first.search("coffee")
        (database,) = Path(root, ".memolith", "index").glob("*.db")
        with closing(apsw.Connection(str(database))) as connection:

            def version() -> int:
                """Another number whenever anybody writes into the index."""
                return int(connection.pragma("data_version"))

            before = version()
            for memory in (second, first, second, first):
                assert texts(memory, "coffee") == ["Coffee at five"]
            assert version() == before
            monkeypatch.setattr(clock, "FILE_TICK", -ALWAYS)
            first.search("coffee")
            settled = version()
            assert settled != before
            for memory in (second, first):
                memory.search("coffee")
            assert version() == settled
