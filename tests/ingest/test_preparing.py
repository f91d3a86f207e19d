"""What the index needs of chunks is made of some at once, however many a file has."""

from __future__ import annotations

import tracemalloc

import numpy as np

from memolith.embed.static_model import StaticModel
from memolith.ingest.taking_in import prepare
from memolith.interfaces import IndexedChunk
from memolith.results import Chunk
from tests.index.samples import make_chunk

MODEL = StaticModel()


def said(number: int) -> Chunk:
    text = f"heron {number} " + "stands in the river and waits " * 40
    return make_chunk(text, heading="Birds")


def prepared(chunks: list[Chunk]) -> list[IndexedChunk]:
    items = [IndexedChunk(chunk, b"", b"", None) for chunk in chunks]
    prepare(items, MODEL, MODEL, [])
    return items


def test_a_large_file_needs_little_more_room_than_a_part_of_it() -> None:
    prepared([said(number) for number in range(10)])
    peaks = []
    for size in (1_000, 6_000):
        chunks = [said(number) for number in range(size)]
        tracemalloc.start()
        made = prepared(chunks)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(made) == size
    assert peaks[1] < 2.5 * peaks[0]


def test_each_chunk_gets_what_is_its_own() -> None:
    chunks = [said(number) for number in range(2_500)]
    together = prepared(chunks)
    for at in (0, 999, 1_000, 2_499):
        (own,), one = prepared([chunks[at]]), together[at]
        assert sorted(one.terms.hashes) == sorted(own.terms.hashes)
        assert one.tokens == own.tokens
        assert np.allclose(one.vector, own.vector, atol=1e-5)
