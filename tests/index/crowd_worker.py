"""A process of a crowd: it writes, or searches and compares what it found; prints its figures at the end.

python -m tests.index.crowd_worker write|search ROOT SECONDS NUMBER

A writer has files of its own and numbers their versions. Outside the memory it notes each number twice: before
the file is touched and when it is done. So a searcher knows which versions it may find, and which it must.
"""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

from memolith import Memory
from memolith.index import database
from memolith.results import WEAK

FILES = 5
WRITERS = 2
LEAST = 20  # changes or searches of each, however slow the machine is
# A process that stands still while it writes is not one that writes for too long.
database._BUSY_MILLISECONDS = 300_000
# Said of what changed between the look at the disk and the reading of the text: it is not shown.
OVERTAKEN = "changed during the search"
# Said when a file was away at that moment, between two versions or before its first.
AWAY = "Nothing says"


def write(root: Path, seconds: float, number: int) -> dict[str, object]:
    """Change files the ways people and programs do: in place, by an atomic save, elsewhere, as records."""
    chance = random.Random(number)
    versions = dict.fromkeys(range(FILES), 0)
    deadline = time.monotonic() + seconds
    with Memory(root, channel="library") as memory:
        while time.monotonic() < deadline or sum(versions.values()) < LEAST:
            file = chance.randrange(FILES)
            versions[file] += 1
            name = f"w{number}f{file}"
            note(root, f"{name}.begun", versions[file])
            change(root, name, f"{name} version {versions[file]} was seen\n", chance)
            note(root, f"{name}.done", versions[file])
            memory.remember(f"remembered{number} for the {sum(versions.values())}. time")
            time.sleep(0.05)
    return {"written": sum(versions.values())}


def change(root: Path, name: str, text: str, chance: random.Random) -> None:
    """Put a new version in the place of the old one, somewhere below the memory."""
    places = [root / "memory" / f"{name}.md", root / "memory" / "nested" / "deep" / f"{name}.md"]
    there = next((place for place in places if place.exists()), places[0])
    match chance.randrange(3):
        case 0:
            there.write_text(text, "utf-8")
        case 1:
            there.with_name(f".{name}.swp").write_text(text, "utf-8")
            there.with_name(f".{name}.swp").replace(there)
        case _:
            other = places[places[0] == there]
            there.unlink(missing_ok=True)
            other.write_text(text, "utf-8")


def note(root: Path, name: str, version: int) -> None:
    """Note a version, outside the memory, whole or not at all."""
    place = root.parent / "notes" / name
    place.with_suffix(".new").write_text(str(version))
    os.replace(place.with_suffix(".new"), place)


def noted(root: Path, name: str) -> int:
    """The version last noted."""
    try:
        return int((root.parent / "notes" / name).read_text())
    except FileNotFoundError:
        return 0


def search(root: Path, seconds: float, number: int) -> dict[str, object]:
    """Search the versions of random files: none older than before, none that does not exist yet."""
    chance = random.Random(number)
    searches, wrong = 0, []
    warnings = set[str]()
    deadline = time.monotonic() + seconds
    with Memory(root, channel="library") as memory:
        while time.monotonic() < deadline or searches < LEAST:
            name = f"w{chance.randrange(WRITERS)}f{chance.randrange(FILES)}"
            oldest = noted(root, f"{name}.done")
            result = memory.search(name, 50)
            newest = noted(root, f"{name}.begun")
            texts = [hit.text for hit in result.hits if name in hit.text.split()]
            found = [int(text.split()[2]) for text in texts]
            searches += 1
            known = (OVERTAKEN,) if found else (OVERTAKEN, AWAY, WEAK)
            told = (text for text in result.warnings if not any(part in text for part in known))
            warnings.update(told)
            stale = any(not oldest <= version <= newest for version in found)
            missed = not found and 0 < oldest == newest
            if stale or missed:
                wrong.append([name, oldest, found, newest])
    return {"searches": searches, "wrong": wrong[:5], "warnings": sorted(warnings)[:5]}


if __name__ == "__main__":
    kind, where, length, who = sys.argv[1:]
    act = {"write": write, "search": search}[kind]
    print(json.dumps(act(Path(where), float(length), int(who))))
