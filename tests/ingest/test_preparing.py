"""What the index needs of chunks is made of some at once, however many a file has."""

from __future__ import annotations

import tracemalloc

import numpy as np

from memolith.embed.static_model import StaticModel
from memolith.ingest.preparing import Preparer, Said


def said(number: int) -> Said:
    return Said(
        "Birds", f"heron {number} " + "stands in the river and waits " * 40, "", "", "public"
    )


def test_a_large_file_needs_little_more_room_than_a_part_of_it() -> None:
    model = StaticModel()
    preparer = Preparer(model, model)
    preparer.prepare([said(number) for number in range(10)], [])
    peaks = []
    for size in (1_000, 6_000):
        chunks = [said(number) for number in range(size)]
        tracemalloc.start()
        prepared = preparer.prepare(chunks, [])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert len(prepared.terms) == len(prepared.vectors) == len(prepared.tokens) == size
    assert peaks[1] < 2.5 * peaks[0]


def test_each_chunk_gets_what_is_its_own() -> None:
    model = StaticModel()
    chunks = [said(number) for number in range(2_500)]
    together = Preparer(model, model).prepare(chunks, [])
    for at in (0, 999, 1_000, 2_499):
        alone = Preparer(model, model).prepare([chunks[at]], [])
        assert sorted(together.terms[at].hashes) == sorted(alone.terms[0].hashes)
        assert together.tokens[at] == alone.tokens[0]
        assert np.allclose(together.vectors[at], alone.vectors[0], atol=1e-5)
