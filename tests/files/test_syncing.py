"""What was appended is on the disk before it is acknowledged, whatever else a transaction does."""

from __future__ import annotations

import errno
import os

import pytest

from memolith import Memory
from memolith.errors import StorageError
from memolith.files import atomic_write


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

        def noted_sync(fd: int) -> None:
            sync(fd)
            waiting.discard(os.fstat(fd).st_ino)

        monkeypatch.setattr(atomic_write, "write_all", noted_write)
        monkeypatch.setattr(atomic_write, "sync_data", noted_sync)
        record = memory.remember("Tea at four")
        files = [os.path.join(root, path) for path in ("MEMORY.md", record.citation.path)]  # type: ignore[union-attr]
        assert not waiting & {os.stat(path).st_ino for path in files}


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/"])
def test_a_sync_that_fails_is_an_error_and_takes_the_line_back(
    path: str, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = atomic_write.sync_data

    def failing_sync(fd: int) -> None:
        if path in os.readlink(f"/proc/self/fd/{fd}"):
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        sync(fd)

    with Memory(root) as memory:
        memory.remember("Tea at four")
        with monkeypatch.context() as broken:
            broken.setattr(atomic_write, "sync_data", failing_sync)
            with pytest.raises(StorageError, match=path):
                memory.remember("Coffee at five")
        assert [record.text for record in memory.records()] == ["Tea at four"]
        memory.remember("Coffee at five")
        assert [record.text for record in memory.records()] == ["Tea at four", "Coffee at five"]
