"""Many memories in one process: they share the model, and a closed one holds nothing."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

from memolith import Memory

COUNT = 20
MAX_DESCRIPTORS = 3  # the database of an index, its log and its shared memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def open_memory(root: Path) -> Memory:
    memory = Memory(str(root))
    memory.remember("Ana owns the release key")
    assert memory.search("who can release?").hits
    return memory


def test_idle_memories_share_the_model_and_hold_few_descriptors(tmp_path: Path) -> None:
    gc.collect()  # memories of other tests
    with open_memory(tmp_path / "first") as first:  # every library is loaded, and the model is open
        before = descriptors()
        memories = [open_memory(tmp_path / str(number)) for number in range(COUNT)]
        assert descriptors() - before <= MAX_DESCRIPTORS * COUNT
        models = {id(memory._engine.finder().index.embedder) for memory in (first, *memories)}
        assert len(models) == 1
        for memory in memories:
            memory.close()
        assert descriptors() == before


def test_the_last_memory_frees_the_model_and_a_closed_one_opens_again(tmp_path: Path) -> None:
    gc.collect()
    open_memory(tmp_path / "first").close()
    before = descriptors()
    memory = open_memory(tmp_path / "second")
    memory.close()
    assert descriptors() == before
    assert memory.search("who can release?").hits
    memory.close()
    assert descriptors() == before
