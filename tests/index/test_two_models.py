"""Two processes that embed with different models: their vectors never meet in one index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from memolith.index.sqlite import SqliteIndex
from memolith.interfaces import IndexReplacedError
from tests.index.samples import ALL, MODEL, keys_of, make_chunk, put, vector_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OTHER = ("other model", MODEL[1])  # vectors of the same size: nothing else would tell


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An index whose model was changed by another process."""
    index = SqliteIndex(str(tmp_path), MODEL)
    put(index, make_chunk("red boat", path="boat.md"))
    put(index, make_chunk("late bird", path="bird.md"), embedded=False)
    keys_of(index, "boat")
    SqliteIndex(str(tmp_path), OTHER).close()
    yield index
    index.close()


def embed_bird(index: SqliteIndex) -> None:
    (key, *_) = (item.key for item in index.without_vector(10))
    index.set_vectors({key: vector_of("late bird")}, {})


@pytest.mark.parametrize(
    "do",
    [
        lambda index: put(index, make_chunk("new house", path="house.md")),
        embed_bird,
        lambda index: index.rank([], vector_of("red boat"), 10, [ALL])[0],
    ],
)
def test_nothing_is_written_or_found_by_vectors_of_the_model_before(
    tmp_path: Path, index: SqliteIndex, do: Callable[[SqliteIndex], object]
) -> None:
    with pytest.raises(IndexReplacedError, match="another model"):
        do(index)
    other = SqliteIndex(str(tmp_path), OTHER)
    assert other.stats().without_vector == other.stats().chunks == 2
    other.close()


def test_an_index_opened_without_a_model_is_opened_again_when_there_is_one(tmp_path: Path) -> None:
    index = SqliteIndex(str(tmp_path), None)
    put(index, make_chunk("red boat"), embedded=False)
    other = SqliteIndex(str(tmp_path), ("small model", 8))
    (waiting,) = other.without_vector(10)
    other.set_vectors({waiting.key: np.ones(8, np.float32)}, {})
    other.close()
    with pytest.raises(IndexReplacedError, match="another model"):
        keys_of(index, "boat")
    index.close()
