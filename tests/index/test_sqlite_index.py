"""What the built-in index promises beyond the contract of all engines (`tests.contract.test_index`)."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import apsw
import pytest

from memolith.index.database import Database
from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import IndexReplacedError
from tests.index.samples import MODEL, make_chunk, put, texts_at

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    index = SqliteIndex(str(tmp_path / "index"), MODEL)
    yield index
    index.close()


def test_nobody_else_may_read_the_index(tmp_path: Path, index: SqliteIndex) -> None:
    put(index, make_chunk("word"))
    for path in (tmp_path / "index").iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert os.stat(tmp_path / "index").st_mode & 0o077 == 0


def test_an_index_that_two_threads_use_at_once_is_not_thrown_away(index: SqliteIndex) -> None:
    put(index, make_chunk("red boat"))
    for error in (apsw.ThreadingViolationError, apsw.MisuseError, apsw.ConnectionClosedError):
        with pytest.raises(IndexReplacedError), index._database.operation():
            raise error("by mistake")
    assert index.stats().chunks == 1


@pytest.mark.parametrize("change", ["DELETE FROM meta", "UPDATE meta SET value = 'made up'"])
def test_an_index_that_names_no_model_is_made_anew(
    tmp_path: Path, index: SqliteIndex, change: str
) -> None:
    put(index, make_chunk("red boat"))
    index._db.execute(change)
    with pytest.raises(IndexReplacedError):
        texts_at(index, "boat")
    again = SqliteIndex(str(tmp_path / "index"), MODEL)
    assert again.stats().chunks == 0
    again.close()


def test_a_writer_that_meets_another_waits_and_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index, other = (SqliteIndex(str(tmp_path), MODEL) for _ in range(2))
    second = threading.Thread(target=put, args=(other, make_chunk("blue boat", path="blue.md")))
    check = Database.check_model

    def check_while_another_writes(database: Database) -> None:
        check(database)
        if second.ident is None:
            second.start()
            second.join(0.5)  # as long as the first has the write lock, it waits

    monkeypatch.setattr(Database, "check_model", check_while_another_writes)
    put(index, make_chunk("red boat", path="red.md"))
    second.join(10)
    assert texts_at(index, "boat") == {("red.md", 1), ("blue.md", 1)}
    index.close()
    other.close()
