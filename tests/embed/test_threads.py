"""NumPy multiplies in one thread wherever Memolith is the first to load it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

SEARCH = """
import os, sys
os.environ.pop("OPENBLAS_NUM_THREADS", None)
from memolith import Memory
{first}
with Memory(sys.argv[1]) as memory:
    memory.remember("Ana owns the release key")
    assert memory.search("release key").hits
print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.parametrize(
    ("first", "threads"),
    [("", "1"), ("import numpy", "None"), ("os.environ['OPENBLAS_NUM_THREADS'] = '2'", "2")],
)
def test_a_search_starts_no_pool_of_threads(first: str, threads: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", SEARCH.format(first=first), str(tmp_path)]
    assert (
        subprocess.run(words, check=True, capture_output=True, text=True).stdout == f"{threads}\n"
    )
