"""What many memories cost that one process has open and has searched.

Run:  make bench    (or: python benchmarks/many_memories.py [--memories N])

Each memory gets records and answers a search, so its index and the model are open. Descriptors are counted
while all memories are idle, and again after each was closed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from memolith import Memory

RECORDS = 20
MAX_MEGABYTES = 600  # for 200 memories
MAX_DESCRIPTORS = 3  # of one idle memory; one more for the model that all share


def descriptors() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))


def megabytes() -> float:
    """The resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def open_memory(root: Path) -> Memory:
    """A memory that has been written to and searched."""
    memory = Memory(str(root))
    for number in range(RECORDS):
        memory.remember(f"Locker {number} in {root.name} belongs to Ana")
    assert memory.search("who has locker 7?").hits
    return memory


def main() -> int:
    """Print the figures; the exit code says whether the limits are kept."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--memories", type=int, default=200)
    count = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as folder:
        open_memory(Path(folder, "first")).close()  # every library is loaded now
        before, alone = descriptors(), megabytes()
        memories = [open_memory(Path(folder, f"house-{number}")) for number in range(count)]
        idle, used = descriptors(), megabytes()
        for memory in memories:
            memory.close()
        left = descriptors() - before
    each = (idle - before - 1) / count
    print(
        f"{count} memories: {used:.0f} MB resident (at most {MAX_MEGABYTES}); {alone:.0f} MB before"
    )
    print(f"descriptors of an idle memory: {each:.2f} (at most {MAX_DESCRIPTORS})")
    print(f"descriptors left after close: {left} (0)")
    return 0 if used <= MAX_MEGABYTES and each <= MAX_DESCRIPTORS and not left else 1


if __name__ == "__main__":
    sys.exit(main())
