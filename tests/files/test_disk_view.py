"""Which files are searched."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from memolith import Memory
from memolith.errors import PathOutsideProfileError
from memolith.files.disk_view import discover
from memolith.files.folder import Folder


def found_in(root: Path) -> set[str]:
    with Folder(str(root)) as folder:
        return set(discover(folder)[0])


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name, encoding="utf-8")


def test_markdown_at_the_top_and_below_memory_and_the_chats_are_searched(tmp_path: Path) -> None:
    names = {
        "MEMORY.md", "USER.md", "conversation-history.jsonl", "memory/2026-04-09.md",
        "memory/fact/x.md", "memory/a/b/c/deep.md", "memory/Ünïcode 東京.md",
    }  # fmt: skip
    write(tmp_path, *names)
    assert found_in(tmp_path) == names


def test_everything_else_is_not(tmp_path: Path) -> None:
    write(
        tmp_path,
        "memolith.toml", "other/x.md", ".hidden.md", "memory/.hidden.md", "memory/.git/x.md",
        ".memolith/archive/x.md", "memory/picture.png", "memory/conversation-history.jsonl",
        "memory/x.sync-conflict-20260101-1-ABC.md", "memory/x (conflicted copy 2026).md",
    )  # fmt: skip
    assert found_in(tmp_path) == set()


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, "memory/real.md", "outside/x.md")
    (tmp_path / "memory/link.md").symlink_to(tmp_path / "outside/x.md")
    (tmp_path / "memory/folder").symlink_to(tmp_path / "outside")
    (tmp_path / "memory/loop").symlink_to(tmp_path / "memory")
    os.mkfifo(tmp_path / "memory/pipe.md")
    assert found_in(tmp_path) == {"memory/real.md"}


def test_links_and_pipes_are_named_by_doctor_but_not_in_every_answer(memory: Memory) -> None:
    memory.remember("a heron")
    folder = Path(memory.root, "memory")
    (folder / "link.md").symlink_to("elsewhere.md")
    os.mkfifo(folder / "pipe.md")
    (folder / "notes").symlink_to("/")
    assert memory.search("heron").warnings == ()
    assert {check.message for check in memory.doctor().checks if check.id == "shapes"} == {
        "memory/link.md is a symbolic link, which is not followed.",
        "memory/notes is a symbolic link, which is not followed.",
        "memory/pipe.md is neither file nor folder.",
    }


def test_a_memory_without_files_has_none(tmp_path: Path) -> None:
    assert found_in(tmp_path) == set()


def test_a_name_that_is_no_text_is_found_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    path = os.fsencode(tmp_path / "memory") + b"/\xff.md"
    with open(path, "wb"):
        pass
    assert found_in(tmp_path) == {"memory/\udcff.md"}


def test_a_folder_that_vanishes_or_is_a_file_is_no_error(tmp_path: Path) -> None:
    write(tmp_path, "MEMORY.md", "memory")
    with Folder(str(tmp_path)) as folder:
        found, warnings = discover(folder)
    assert set(found) == {"MEMORY.md"}
    assert len(warnings) == 1


def test_folders_nested_for_ever_end_somewhere(tmp_path: Path) -> None:
    deep = "memory/" + "d/" * 60
    write(tmp_path, f"{deep}x.md", "memory/y.md")
    assert found_in(tmp_path) == {"memory/y.md"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, "memory/open.md", "memory/shut/x.md")
    (tmp_path / "memory/shut").chmod(0)
    with Folder(str(tmp_path)) as folder:
        found, warnings = discover(folder)
    (tmp_path / "memory/shut").chmod(0o700)
    assert set(found) == {"memory/open.md"}
    assert "memory/shut" in warnings[0]


def test_a_file_with_a_second_name_is_neither_searched_nor_got(
    memory: Memory, tmp_path: Path
) -> None:
    """It may be a foreign file that somebody linked into the profile; a copy is fine."""
    memory.init()
    foreign = tmp_path / "diary.md"
    foreign.write_text("The penguin sleeps at noon")
    linked = Path(memory.root, "memory", "linked.md")
    linked.parent.mkdir(exist_ok=True)
    linked.hardlink_to(foreign)
    found = memory.search("penguin")
    assert found.hits == ()
    assert any("memory/linked.md has a second name" in warning for warning in found.warnings)
    with pytest.raises(PathOutsideProfileError, match="second name"):
        memory.get("memory/linked.md")
    assert any("linked.md has a second name" in check.message for check in memory.doctor().checks)
    foreign.unlink()
    assert [hit.citation.path for hit in memory.search("penguin").hits] == ["memory/linked.md"]
    linked.with_name("again.md").hardlink_to(linked)
    assert memory.search("penguin").hits == ()


@pytest.mark.parametrize(
    "name", ["MEMORY.md", "conversation-history.jsonl", "memory/2026-04-09.md"]
)
def test_a_folder_where_a_file_should_be_is_said(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    with Folder(str(tmp_path)) as folder:
        found, warnings = discover(folder)
    assert not found
    assert warnings == [f"{name} is a folder, where a file should be."]
    with Memory(tmp_path) as memory:
        assert memory.search("heron").warnings == tuple(warnings)


def test_a_folder_may_have_any_name_where_no_file_of_ours_belongs(tmp_path: Path) -> None:
    (tmp_path / "memory/birds.md").mkdir(parents=True)
    (tmp_path / "memory/birds.md/heron.md").write_text("The heron is grey\n")
    with Memory(tmp_path) as memory:
        found = memory.search("heron")
        assert [hit.citation.path for hit in found.hits] == ["memory/birds.md/heron.md"]
        assert found.warnings == ()


def test_a_file_that_is_being_replaced_is_not_taken_for_a_linked_one(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    path.write_text("# Memory\n")
    stop = threading.Event()

    def replace_it() -> None:
        while not stop.is_set():
            (tmp_path / "staged").write_text("# Memory\n")
            (tmp_path / "staged").replace(path)

    writer = threading.Thread(target=replace_it)
    writer.start()
    try:
        with Folder(str(tmp_path)) as folder:
            looks = [discover(folder) for _ in range(3_000)]
    finally:
        stop.set()
        writer.join()
    assert not any(warnings for _, warnings in looks)
