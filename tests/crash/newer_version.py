"""A writer of a later version: it keeps the lock, and writes lines with keys we do not know.

Usage: newer_version.py ROOT DAY COUNT. Key order, spacing and number spelling are not ours either.
"""

from __future__ import annotations

import fcntl
import os
import sys


def line(number: int) -> bytes:
    """The n-th line, with unknown keys at both levels."""
    return (
        f'- {{ "schema": 2.50, "id":"newer-{number}", "mood": {{"now": 1e2, "then": []}},'
        f' "text":"newer caf\\u00e9 {number}","category":"note","sessionId":"main","provenance":'
        f'{{"device":"ß","sourceChannel":"newer","confidence":0.50,'
        f'"timestamp":"2026-01-01T00:00:00.000Z","sensitivity":"private-user"}}}}\n'
    ).encode()


def main(root: str, day: str, count: str) -> None:
    """Append so many records to both files, each under the lock."""
    for number in range(int(count)):
        lock = os.open(f"{root}/.memolith/write.lock", os.O_RDWR)
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in (f"memory/{day}.md", "MEMORY.md"):
            with open(f"{root}/{name}", "ab", buffering=0) as file:
                file.write(line(number))
                os.fsync(file.fileno())
        os.close(lock)


if __name__ == "__main__":
    main(*sys.argv[1:])
