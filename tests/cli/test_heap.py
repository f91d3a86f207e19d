"""Threads of a server share what they free."""

import os
import re
import subprocess
import sys

import pytest

# Thirty threads, each of which allocates; how many heaps there are is what glibc says of itself.
ARENAS = """
import ctypes, os, tempfile, threading
from memolith.cli.serve import share_heap
share_heap()
gate = threading.Barrier(30)
def work():
    kept = [ctypes.create_string_buffer(100_000) for _ in range(5)]
    libc.malloc(1000)
    gate.wait()
libc = ctypes.CDLL(None)
threads = [threading.Thread(target=work) for _ in range(30)]
for thread in threads: thread.start()
for thread in threads: thread.join()
libc.malloc_stats()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="glibc counts arenas")
@pytest.mark.parametrize(("variable", "most"), [(None, 2), ("5", 5)])
def test_thirty_threads_have_few_arenas(variable: str | None, most: int) -> None:
    environment = {name: value for name, value in os.environ.items() if "ARENA" not in name}
    if variable:
        environment["MALLOC_ARENA_MAX"] = variable
    done = subprocess.run(
        [sys.executable, "-c", ARENAS], env=environment, capture_output=True, text=True, check=True
    )
    arenas = re.findall(r"^Arena \d+", done.stderr, re.MULTILINE)
    if not arenas:
        pytest.skip("this C library does not tell of its arenas")
    assert len(arenas) <= most
