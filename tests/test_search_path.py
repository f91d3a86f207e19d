"""The path of a search is short: what it calls and enters is counted, so that it cannot grow unseen."""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from types import FrameType

import memolith
from memolith import Memory

PACKAGE = str(Path(memolith.__file__).parent)
RECORDS = 31
# The goal is 30 modules. These go down with the code.
MAX_CALLS = 500
MAX_MODULES = 42
# Python 3.12 and later make no call of them.
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}


def test_a_search_in_a_warm_process_makes_few_calls_in_few_modules(tmp_path: Path) -> None:
    with Memory(tmp_path) as memory:
        for number in range(RECORDS):
            memory.remember(f"Person {number} can release version {number} of the boat software")
        memory.search("who can release it?")
        time.sleep(0.1)  # until the file system's clock has ticked: then no file may have changed
        memory.index.sync()  # vectors that were still to come
        calls = min((calls_of_a_search(memory) for _ in range(3)), key=Counter.total)
    assert calls.total() <= MAX_CALLS, calls.most_common(10)
    assert len(calls) <= MAX_MODULES, sorted(calls)


def calls_of_a_search(memory: Memory) -> Counter[str]:
    """How many calls are made in each of our modules."""
    calls = Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_ours = code.co_filename.startswith(PACKAGE) and code.co_name not in COMPREHENSIONS
        if event == "call" and is_ours:
            calls[code.co_filename] += 1

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        found = memory.search("who can release?")
    finally:
        sys.setprofile(before)
    assert len(found.hits) == 10
    return calls
