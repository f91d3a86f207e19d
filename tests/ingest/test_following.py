"""A server's index follows its files without a search: a hint, which a search never relies on."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.watching import follow_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 300.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Memory]:
    """A memory with a file in a nested folder, searched once, and followed."""
    (tmp_path / "memory/deep/er").mkdir(parents=True)
    (tmp_path / "memory/deep/er/heron.md").write_text("a heron\n", "utf-8")
    with Memory(tmp_path) as memory:
        memory.search("heron")
        following = follow_files(memory, interval=0.05)
        try:
            yield memory
        finally:
            following.close()


def indexed(memory: Memory) -> set[str]:
    """What the index holds, asked without looking at a single file."""
    finder = memory._engine.finder()
    with finder.index._guard:
        return set(finder.index.open().files())


def wait_until(memory: Memory, expected: set[str]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while indexed(memory) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert indexed(memory) == expected


def new_file(root: Path) -> set[str]:
    (root / "memory/deep/grebe.md").write_text("a grebe\n", "utf-8")
    return {"memory/deep/er/heron.md", "memory/deep/grebe.md"}


def new_folder(root: Path) -> set[str]:
    (root / "memory/one/two").mkdir(parents=True)
    time.sleep(0.3)  # a folder is watched a moment after it appears
    (root / "memory/one/two/grebe.md").write_text("a grebe\n", "utf-8")
    return {"memory/deep/er/heron.md", "memory/one/two/grebe.md"}


def renamed_file(root: Path) -> set[str]:
    (root / "memory/deep/er/heron.md").rename(root / "memory/grebe.md")
    return {"memory/grebe.md"}


def renamed_folder(root: Path) -> set[str]:
    (root / "memory/deep").rename(root / "memory/shallow")
    return {"memory/shallow/er/heron.md"}


def atomic_save(root: Path) -> set[str]:
    (root / "memory/deep/er/.grebe.md.swp").write_text("a grebe\n", "utf-8")
    os.replace(root / "memory/deep/er/.grebe.md.swp", root / "memory/deep/er/grebe.md")
    return {"memory/deep/er/heron.md", "memory/deep/er/grebe.md"}


def deleted_file(root: Path) -> set[str]:
    (root / "memory/deep/er/heron.md").unlink()
    return set()


def new_record(root: Path) -> set[str]:
    with Memory(root) as other:
        other.remember("a grebe")
        daily = {f"memory/{path.name}" for path in (root / "memory").glob("*.md")}
    return {"memory/deep/er/heron.md", "MEMORY.md"} | daily


@pytest.mark.parametrize(
    "change",
    [new_file, new_folder, renamed_file, renamed_folder, atomic_save, deleted_file, new_record],
)
def test_what_changes_on_the_disk_is_indexed_without_a_search(
    server: Memory, change: Callable[[Path], set[str]]
) -> None:
    time.sleep(0.3)  # until it watches
    wait_until(server, change(Path(server.root)))


def test_a_memory_nobody_has_searched_is_left_alone(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("a heron")
        following = follow_files(memory, interval=0.05)
        (tmp_path / "memory/grebe.md").write_text("a grebe\n", "utf-8")
        time.sleep(0.5)
        following.close()
        assert not (tmp_path / ".memolith/index").exists()


def test_an_index_that_cannot_be_used_does_not_end_the_following(server: Memory) -> None:
    import shutil

    root = Path(server.root)
    time.sleep(0.3)
    shutil.rmtree(root / ".memolith/index")
    (root / ".memolith/index").write_text("not a folder", "utf-8")
    (root / "memory/bittern.md").write_text("a bittern\n", "utf-8")
    time.sleep(0.5)
    (root / ".memolith/index").unlink()
    (root / "memory/grebe.md").write_text("a grebe\n", "utf-8")
    assert [hit.text for hit in server.search("grebe", 1).hits] == ["a grebe"]
    (root / "memory/coot.md").write_text("a coot\n", "utf-8")
    names = ("heron", "bittern", "grebe", "coot")
    wait_until(
        server, {f"memory/{'deep/er/' if name == 'heron' else ''}{name}.md" for name in names}
    )
