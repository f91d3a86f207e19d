"""Nothing stays open between writes, and nothing that happens to the files meanwhile is missed."""

from __future__ import annotations

import os
import shutil
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import MemolithError, WriterBusyError
from memolith.files import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable


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
    memory.chats.log("a", "b")
    memory.jobs.trim()
    memory.status()
    memory.doctor()
    with suppress(MemolithError):
        memory.get("../x")


def test_no_file_of_the_memory_stays_open(memory: Memory) -> None:
    use_everything(memory)
    memory.close()
    assert open_handles(memory.root) == []
    memory.remember("after close")
    assert open_handles(memory.root) == []
    assert "after close" in texts(memory.root)


def test_after_an_error_nothing_stays_open(memory: Memory) -> None:
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


CHANGES: list[Callable[[Path], None]] = [
    replaced_by_an_editor, lock_replaced, state_made_anew, folders_copied, whole_profile_restored,
    written_by_another,
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
    assert open_handles(memory.root) == []


def in_a_child(action: Callable[[], bool]) -> bool:
    """Whether the action succeeds in a forked child."""
    child = os.fork()
    if not child:
        worked = False
        with suppress(BaseException):
            worked = action()
        os._exit(0 if worked else 1)
    return os.waitpid(child, 0)[1] == 0


def test_a_forked_child_writes_with_handles_of_its_own(memory: Memory) -> None:
    memory.remember("one")

    def child() -> bool:
        memory.remember("of the child")
        return open_handles(memory.root) == []

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

    with memory._store.writing() as transaction:
        assert in_a_child(child)
        transaction.append("MEMORY.md", b"the lock is still ours\n")
        transaction.commit()
    assert texts(root) == ["one"]


def test_a_duplicate_in_the_last_line_is_found_without_its_newline(memory: Memory) -> None:
    first = memory.remember("one")
    path = Path(memory.root, "MEMORY.md")
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert memory.remember("one").id == first.id


def test_an_append_reads_memory_md_at_most_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("one")
    path = Path(memory.root, "MEMORY.md")
    read = 0
    for name in ("read", "pread"):
        real = getattr(os, name)

        def counted(fd: int, *args: int, real: Callable[..., bytes] = real) -> bytes:
            nonlocal read
            data = real(fd, *args)
            if os.readlink(f"/proc/self/fd/{fd}") == str(path):
                read += len(data)
            return data

        monkeypatch.setattr(os, name, counted)
    before = path.stat().st_size
    memory.remember("two")
    assert read == path.stat().st_size - before  # its own line, to see that it is there
    path.touch()
    read = 0
    memory.remember("three")
    assert read == path.stat().st_size


@pytest.mark.parametrize(
    ("text", "near"), [("Tea at four", "TEA at  Four."), ("Über Öl", "über öl")]
)
def test_near_copies_are_found_in_what_is_known_of_a_file(
    text: str, near: str, memory: Memory
) -> None:
    first = memory.remember(text)
    for number in range(3):
        assert memory.remember(f"number {number} ö").citation
    assert memory.remember(near).id == first.id
    last = memory.remember("the last")
    assert "the last" in memory.get(str(last.citation)).text


def test_an_edit_of_the_same_size_and_time_is_seen(memory: Memory) -> None:
    memory.remember("tea at four")
    path = Path(memory.root, "MEMORY.md")
    found = path.stat()
    path.write_bytes(path.read_bytes().replace(b"tea at four", b"tea at nine"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert memory.remember("tea at nine").reused
    assert not memory.remember("tea at four").reused


class Editor:
    """Saves a file in the moment in which it is synced, without what was appended since it was read."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.saves = 0
        self.text = path.read_bytes()
        self._sync = os.fdatasync
        monkeypatch.setattr(atomic_write, "_data_sync", self.sync)

    def sync(self, fd: int) -> None:
        self._sync(fd)
        if not self.saves and os.path.samestat(os.fstat(fd), self.path.stat()):
            self.saves += 1
            self.save()

    def save(self) -> None:
        copy = self.path.with_suffix(".tmp")
        copy.write_bytes(self.text)
        copy.replace(self.path)


class EditorInPlace(Editor):
    """The same without a rename."""

    def save(self) -> None:
        self.path.write_bytes(self.text)


class EditorAndWriter(Editor):
    """The same, and another process writes then."""

    def save(self) -> None:
        super().save()
        with Memory(self.path.parent) as other:
            other.remember("by another")


@pytest.mark.parametrize("kind", [Editor, EditorInPlace])
@pytest.mark.parametrize("name", ["MEMORY.md", "memory/2026-11-15.md"])
def test_a_record_acknowledged_while_an_editor_saves_is_in_the_file(
    kind: type[Editor], name: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("before")
    editor = kind(Path(memory.root, name), monkeypatch)
    record = memory.remember("acknowledged")
    assert editor.saves == 1
    lines = editor.path.read_bytes().splitlines()
    assert sum(record.id.encode() in line for line in lines) == 1
    assert record.warnings == ()
    assert texts(memory.root) == ["before", "acknowledged"]


def test_a_record_that_an_editor_may_have_dropped_is_in_the_warning(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("before")
    EditorAndWriter(Path(memory.root, "MEMORY.md"), monkeypatch)
    record = memory.remember("acknowledged")
    assert "acknowledged" in texts(memory.root) or "MEMORY.md" in record.warnings[0]


def test_a_file_that_is_deleted_while_it_is_synced_is_in_the_warning(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.remember("before")
    editor = Editor(Path(memory.root, "MEMORY.md"), monkeypatch)
    monkeypatch.setattr(editor, "save", editor.path.unlink)
    (warning,) = memory.remember("acknowledged").warnings
    assert warning.startswith("MEMORY.md was changed by another program")
