"""Several servers of one memory do not all index the same write: one does, the others find it done."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.files.folder import Folder
from memolith.files.locks import SYNC_LOCK, OwnerLock
from memolith.ingest import sync as syncing
from memolith.ingest.sync import turn

if TYPE_CHECKING:
    from collections.abc import Iterator


def test_the_second_waits_for_the_first_and_knows_that_it_did(tmp_path: Path) -> None:
    inside, told = threading.Event(), list[bool]()

    def second() -> None:
        with Folder(str(tmp_path)) as folder:
            inside.set()
            with turn(folder) as waited:
                told.append(waited)

    with Folder(str(tmp_path)) as folder:
        thread = threading.Thread(target=second)
        with turn(folder) as waited:
            assert not waited
            thread.start()
            inside.wait()
            thread.join(0.05)
        thread.join()
        with turn(folder) as waited:
            assert not waited  # nobody holds it any more
    assert told == [True]


def test_what_another_has_indexed_meanwhile_is_not_cut_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(tmp_path) as memory, Memory(tmp_path) as other:
        memory.remember("Tea")
        memory.index.sync()
        other.remember("The heron nests by the lake")

        @contextmanager
        def after_the_other(folder: Folder) -> Iterator[bool]:
            monkeypatch.undo()
            assert other.index.sync().indexed == 2
            yield True

        monkeypatch.setattr(syncing, "turn", after_the_other)
        assert memory.index.sync().indexed == 0
        assert memory.search("heron").hits[0].text == "The heron nests by the lake"
        assert memory.index.status().changed == 0


def test_one_that_never_ends_keeps_nobody_from_searching(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        memory.remember("Tea")
        memory.index.sync()
        memory.remember("The heron nests by the lake")
        with Folder(str(tmp_path)) as folder, OwnerLock(folder, SYNC_LOCK):
            assert memory.search("heron").hits[0].text == "The heron nests by the lake"


def test_where_there_are_no_locks_nobody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncing, "_TURN_SECONDS", 3_600.0)
    (tmp_path / SYNC_LOCK).mkdir(parents=True)  # it cannot be opened for writing
    with Folder(str(tmp_path)) as folder, turn(folder) as waited:
        assert not waited
