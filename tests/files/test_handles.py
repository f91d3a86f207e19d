"""Handles stay open between writes, and nothing that happens to the files meanwhile is missed."""

from __future__ import annotations

import gc
import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import MemolithError, WriterBusyError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.conftest import StoppedTime

MOST_HANDLES_OF_A_MEMORY = 8
MOST_MEMORIES = 8


def open_handles(root: str) -> list[str]:
    """What this process has open below a folder."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            found.append(os.readlink(f"/proc/self/fd/{name}"))
    root = os.path.realpath(root)
    return sorted(path for path in found if f"{path}/".startswith(f"{root}/"))


def texts(root: str) -> list[str]:
    with Memory(root) as reader:
        return [record.text for record in reader.records()]


def use_everything(memory: Memory) -> None:
    memory.remember("y")
    memory.save_note("a note")
    memory.records()
    memory.get("MEMORY.md")
    memory.log_turn("a", "b")
    memory.trim()
    memory.status()
    memory.doctor()
    with suppress(MemolithError):
        memory.get("../x")


def test_a_few_handles_are_kept_and_never_more(memory: Memory) -> None:
    use_everything(memory)
    use_everything(memory)
    first = open_handles(memory.root)
    assert 0 < len(first) <= MOST_HANDLES_OF_A_MEMORY
    for _ in range(3):
        use_everything(memory)
    assert open_handles(memory.root) == first


def test_days_that_pass_leave_no_handles_behind(memory: Memory, stopped_time: StoppedTime) -> None:
    for _ in range(12):
        memory.remember(f"said on {stopped_time.moment}")
        stopped_time.advance(days=1)
    assert len(open_handles(memory.root)) <= MOST_HANDLES_OF_A_MEMORY


def test_close_closes_them_all_and_a_later_call_opens_them_again(memory: Memory) -> None:
    use_everything(memory)
    memory.close()
    assert open_handles(memory.root) == []
    memory.remember("after close")
    assert "after close" in texts(memory.root)
    memory.close()
    memory.close()
    assert open_handles(memory.root) == []


def test_a_memory_that_nobody_has_any_more_has_nothing_open(root: str) -> None:
    memory = Memory(root)
    memory.remember("x")
    assert open_handles(root)
    del memory
    gc.collect()
    assert open_handles(root) == []


def test_of_many_memories_only_the_last_used_keep_their_handles(tmp_path: Path) -> None:
    memories = [Memory(tmp_path / str(number)) for number in range(3 * MOST_MEMORIES)]
    for _ in range(2):
        for memory in memories:
            memory.remember("x", category="event")
    with_handles = [memory for memory in memories if open_handles(memory.root)]
    assert with_handles == memories[-MOST_MEMORIES:]
    assert all(len(memory.records()) == 2 for memory in memories)


def test_after_an_error_nothing_is_kept(memory: Memory) -> None:
    memory.remember("x")
    with pytest.raises(MemolithError):
        memory.forget("no such id")
    assert open_handles(memory.root) == []


def replaced_by_an_editor(root: Path) -> None:
    for path in (root / "MEMORY.md", *root.glob("memory/*.md")):
        copy = path.with_suffix(".tmp")
        copy.write_bytes(path.read_bytes())
        copy.replace(path)


def lock_replaced(root: Path) -> None:
    (root / ".memolith/write.lock").unlink()
    (root / ".memolith/write.lock").touch()


def state_made_anew(root: Path) -> None:
    (root / ".memolith").rename(root / "elsewhere")


def folders_copied(root: Path) -> None:
    for name in ("memory", ".memolith"):
        (root / name).rename(root / "old")
        shutil.copytree(root / "old", root / name)
        shutil.rmtree(root / "old")


def whole_profile_restored(root: Path) -> None:
    root.rename(root.parent / "old")
    shutil.copytree(root.parent / "old", root)


def written_by_another(root: Path) -> None:
    with Memory(root) as other:
        other.remember("by another", category="event")


def table_lost(root: Path) -> None:
    (root / ".memolith/fingerprints").unlink()


CHANGES: list[Callable[[Path], None]] = [
    replaced_by_an_editor, lock_replaced, state_made_anew, folders_copied, whole_profile_restored,
    written_by_another, table_lost,
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_between_two_writes_is_noticed(
    change: Callable[[Path], None], memory: Memory
) -> None:
    memory.remember("zero", category="event")
    first = memory.remember("one")
    change(Path(memory.root))
    second = memory.remember("two")
    assert memory.remember("one").id == first.id
    assert second.citation
    assert "two" in memory.get(str(second.citation)).text
    found = [text for text in texts(memory.root) if text != "by another"]
    assert found == ["zero", "one", "two"]


def test_a_folder_that_is_deleted_is_made_anew(memory: Memory) -> None:
    memory.remember("one")
    shutil.rmtree(memory.root)
    memory.remember("two")
    assert texts(memory.root) == ["two"]


def test_a_file_that_is_deleted_is_made_anew(memory: Memory) -> None:
    memory.remember("one")
    Path(memory.root, "MEMORY.md").unlink()
    memory.remember("two")
    assert texts(memory.root) == ["two"]


def test_a_link_in_the_place_of_a_folder_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    memory.remember("one")
    elsewhere = tmp_path / "elsewhere"
    Path(memory.root, "memory").rename(elsewhere)
    Path(memory.root, "memory").symlink_to(elsewhere)
    (day,) = elsewhere.iterdir()
    copy = day.read_bytes()
    day.unlink()
    day.write_bytes(copy)
    with pytest.raises(MemolithError):
        memory.remember("two")
    assert day.read_bytes() == copy


def test_a_file_that_was_made_read_only_is_opened_anew(memory: Memory) -> None:
    memory.remember("one")
    with memory._writing() as transaction:
        before, _ = transaction.handles.open_for_append("MEMORY.md")
        os.dup2(os.open(os.devnull, os.O_RDONLY), before)  # whoever still uses it, fails
        Path(memory.root, "MEMORY.md").chmod(0o400)
        after, found = transaction.handles.open_for_append("MEMORY.md")
        assert os.fstat(after).st_ino == found.st_ino


def test_threads_that_share_a_memory_write_every_record_once(memory: Memory) -> None:
    def write(number: int) -> None:
        for at in range(15):
            memory.remember(f"{number}:{at}")

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(texts(memory.root)) == sorted(f"{n}:{at}" for n in range(6) for at in range(15))
    assert len(open_handles(memory.root)) <= MOST_HANDLES_OF_A_MEMORY


def in_a_child(action: Callable[[], bool]) -> bool:
    """Whether the action succeeds in a forked child."""
    child = os.fork()
    if not child:
        worked = False
        with suppress(BaseException):
            worked = action()
        os._exit(0 if worked else 1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_opens_its_own_handles(memory: Memory) -> None:
    memory.remember("one")

    def child() -> bool:
        had = open_handles(memory.root)
        memory.remember("of the child")
        return had == []

    assert in_a_child(child)
    memory.remember("of the parent")
    assert texts(memory.root) == ["one", "of the child", "of the parent"]


def test_a_forked_child_does_not_share_the_lock(root: str) -> None:
    memory = Memory(root, settings={"store.lock_timeout_seconds": 0.2})
    memory.remember("one")

    def child() -> bool:
        try:
            memory.remember("while the parent writes")
        except WriterBusyError:
            return True
        return False

    with memory._writing() as transaction:
        assert in_a_child(child)
        transaction.append("MEMORY.md", b"the lock is still ours\n")
        transaction.commit()
    assert texts(root) == ["one"]
