"""Of a large file the end is read, and what matters of the rest."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.context.window import read_window
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line, readable_record
from memolith.types import Provenance, Record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    Memory(root).init()
    chance = random.Random(3)
    with (root / "MEMORY.md").open("ab") as file:
        for number in range(1_800):
            text = f"{number} " + "word " * (chance.choice((1, 10, 40)) if number % 97 else 4_000)
            record = Record(
                id=f"{number:08}-0000-4000-8000-000000000000",
                text=text,
                category=chance.choice(("note", "event", "turn-summary", "decision")),
                session="main",
                created=Memory(root)._store.clock.now(),
                provenance=Provenance(sensitivity=chance.choice(("secret", *["public"] * 30))),
            )
            file.write(encode_line(record))
    return root


def test_of_what_is_far_back_the_newest_decisions_and_every_secret_are_read(large: Path) -> None:
    with Folder(large) as folder:
        found = read_window(folder, "MEMORY.md", 60_000)
        lines = folder.read("MEMORY.md").splitlines()
    everything = [record for record in map(readable_record, lines) if record]
    tail = {record.id for record in found.records if record.category == "note"}
    first = next(at for at, record in enumerate(everything) if record.id in tail)
    far = [one for one in everything[:first] if one.category == "decision"][-150:]
    public = [one.id for one in far if one.sensitivity == "public"]
    assert len(public) > 50
    shown = [record.id for record in found.records]
    assert shown == sorted(shown)
    assert set(public) <= set(shown)
    assert found.secret == {one.id for one in everything if one.sensitivity == "secret"}
    assert found.unread == pytest.approx(first - len(far), abs=10)
