"""What was appended is on the disk before it is acknowledged, whatever else a transaction does."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.errors import StorageError
from memolith.files import atomic_write, transaction

if TYPE_CHECKING:
    from memolith.files.folder import Folder


def test_what_the_user_remembers_again_after_forgetting_it_is_synced(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(root) as memory:
        memory.forget(memory.remember("Tea at four").id)
        waiting = set[int]()  # inodes of files written and not synced since
        write, sync = atomic_write.write_all, atomic_write.sync_data

        def noted_write(fd: int, data: bytes) -> None:
            write(fd, data)
            waiting.add(os.fstat(fd).st_ino)

        def noted_sync(folder: Folder, fd: int) -> None:
            sync(folder, fd)
            waiting.discard(os.fstat(fd).st_ino)

        monkeypatch.setattr(atomic_write, "write_all", noted_write)
        monkeypatch.setattr(atomic_write, "sync_data", noted_sync)
        record = memory.remember("Tea at four")
        files = [os.path.join(root, path) for path in ("MEMORY.md", record.citation.path)]  # type: ignore[union-attr]
        assert not waiting & {os.stat(path).st_ino for path in files}


@pytest.mark.parametrize(("slow", "threads"), [(0.0, 2), (3600.0, 1)])
def test_only_where_syncs_are_slow_the_second_file_is_synced_by_a_thread(
    slow: float, threads: int, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "_SLOW_SYNC", slow)
    synced = set[tuple[int, int]]()
    sync = atomic_write.sync_data

    def noted_sync(folder: Folder, fd: int) -> None:
        sync(folder, fd)
        synced.add((os.fstat(fd).st_ino, threading.get_ident()))

    with Memory(root) as memory:
        memory.remember("Tea at four")
        memory.remember("Cake at four")  # makes the table of fingerprints
        monkeypatch.setattr(atomic_write, "sync_data", noted_sync)
        memory.remember("Coffee at five")
    assert len({inode for inode, _ in synced}) == 2
    assert len({thread for _, thread in synced}) == threads


@pytest.mark.parametrize("slow", [0.0, 3600.0])
@pytest.mark.parametrize("path", ["MEMORY.md", "memory/"])
def test_a_sync_that_fails_in_either_thread_is_an_error_and_takes_the_line_back(
    slow: float, path: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transaction, "_SLOW_SYNC", slow)
    sync = atomic_write.sync_data

    def failing_sync(folder: Folder, fd: int) -> None:
        if path in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(folder, fd)

    with Memory(root) as memory:
        memory.remember("Tea at four")
        with monkeypatch.context() as broken:
            broken.setattr(atomic_write, "sync_data", failing_sync)
            with pytest.raises(StorageError, match=path):
                memory.remember("Coffee at five")
        assert [record.text for record in memory.records()] == ["Tea at four"]
        memory.remember("Coffee at five")
        assert [record.text for record in memory.records()] == ["Tea at four", "Coffee at five"]


def test_a_line_is_safe_where_the_kernel_cannot_begin_early(
    root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(atomic_write, "_advise", refuse)
    with Memory(root) as memory:
        memory.remember("Tea at four")
    monkeypatch.setattr(atomic_write, "_advise", None)  # as on macOS
    with Memory(root) as memory:
        memory.remember("Coffee at five")
        assert [record.text for record in memory.records()] == ["Tea at four", "Coffee at five"]
