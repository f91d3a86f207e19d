"""Chunks that were fetched are kept, and never longer than they are true."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from memolith.index import fetching
from memolith.index.sqlite import SqliteIndex
from tests.index.samples import MODEL, keys_of, make_chunk, put

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("by_another", [False, True])
def test_a_chunk_that_moved_is_fetched_from_its_new_place(
    tmp_path: Path, *, by_another: bool
) -> None:
    with closing(SqliteIndex(str(tmp_path), MODEL)) as index:
        put(index, make_chunk("harbour", line=3))
        keys = keys_of(index, "harbour")
        assert [index.fetch(keys)[key].chunk.first_line for key in keys * 2] == [3, 3]
        with closing(SqliteIndex(str(tmp_path), MODEL)) as other:
            put(other if by_another else index, make_chunk("harbour", line=8))
        assert [index.fetch(keys)[key].chunk.first_line for key in keys] == [8]


def test_a_chunk_that_is_gone_is_fetched_no_more(tmp_path: Path) -> None:
    with closing(SqliteIndex(str(tmp_path), MODEL)) as index:
        put(index, make_chunk("harbour"))
        keys = keys_of(index, "harbour")
        assert len(index.fetch(keys)) == 1
        put(index, make_chunk("garden"))
        assert index.fetch(keys) == {}


def test_no_more_chunks_are_kept_than_there_is_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "_MOST_KEPT", 2)
    with closing(SqliteIndex(str(tmp_path), MODEL)) as index:
        put(index, *[make_chunk(f"harbour {line}", line=line) for line in range(1, 9)])
        keys = keys_of(index, "harbour")
        for some in (keys[:3], keys[2:5], keys[:6], keys):
            assert list(index.fetch(some)) == some
            assert len(index._fetching._kept) <= 2 + len(some)
