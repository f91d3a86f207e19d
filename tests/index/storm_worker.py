"""A process that searches or writes while its index is being damaged; prints its figures at the end.

python -m tests.index.storm_worker read|write ROOT STOP SEED

It goes on until the file STOP is there, and until it has done enough to tell something.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
from pathlib import Path

from memolith import Memory
from memolith.errors import IndexUnavailableError

LEAST = 20


def scan(root: Path) -> dict[str, set[str]]:
    """By marker, every text of a record that holds it, read without any index."""
    found: dict[str, set[str]] = {}
    for path in (root / "MEMORY.md", *sorted((root / "memory").glob("*.md"))):
        for line in path.read_bytes().split(b"\n")[:-1]:
            if line.startswith(b"- {"):
                text = json.loads(line[2:])["text"]
                for marker in re.findall(r"marker\w+", text):
                    found.setdefault(marker, set()).add(text)
    return found


def read(root: Path, stop: Path, seed: str, chance: random.Random) -> dict[str, object]:
    searches, wrong, slowest, cpu, warned = 0, [], 0.0, 0.0, 0
    with Memory(root, channel="library") as memory:
        while searches < LEAST or not stop.exists():
            before = scan(root)
            marker = chance.choice(sorted(before))
            time.sleep(0.03)  # searches that follow each other faster look at the files only once
            started, worked = time.monotonic(), time.process_time()
            result = memory.search(marker, 400)
            slowest = max(slowest, time.monotonic() - started)
            cpu = max(cpu, time.process_time() - worked)
            with stop.with_suffix(f".{seed}").open("ab") as counted:
                counted.write(b".")
            after = scan(root).get(marker, set())
            found = {hit.text for hit in result.hits if marker in hit.text.split()}
            searches += 1
            warned += bool(result.warnings)
            if not before[marker] <= found <= after:
                wrong.append([marker, sorted(before[marker] - found), list(result.warnings)])
    figures = {"slowest": slowest, "cpu": cpu, "warned": warned}
    return {"searches": searches, "wrong": wrong[:5], **figures}


def write(root: Path, stop: Path, _: str, chance: random.Random) -> dict[str, object]:
    written = refused = 0
    with Memory(root, channel="library") as memory:
        while written < LEAST or not stop.exists():
            marker = f"marker{chance.randrange(60)}"
            memory.remember(f"storm {chance.random()} {marker} was seen", category="event")
            written += 1
            if written % 5 == 0:
                try:
                    memory.index.sync()
                except IndexUnavailableError:  # said so; the record itself is safe
                    refused += 1
            time.sleep(0.1)
    return {"written": written, "refused": refused}


if __name__ == "__main__":
    kind, where, end, seed = sys.argv[1:]
    act = {"read": read, "write": write}[kind]
    print(json.dumps(act(Path(where), Path(end), seed, random.Random(int(seed)))))
