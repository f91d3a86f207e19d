"""A memory for `doctor` to look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from memolith import Memory


@pytest.fixture
def files(root: str, memory: Memory) -> Path:
    """The folder of a memory with one record, and nothing wrong with it."""
    memory.init()
    memory.remember("Ana owns the release key")
    return Path(root)
