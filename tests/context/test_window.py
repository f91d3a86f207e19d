"""What is read of a large file does not depend on the pieces it is read in."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from memolith import Memory
from memolith.context import window
from memolith.files.folder import Folder
from memolith.files.record_format import encode_line
from memolith.types import Provenance, Record

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("large")
    Memory(root).init()
    chance = random.Random(3)
    with (root / "MEMORY.md").open("ab") as file:
        for number in range(3_000):
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


@pytest.mark.parametrize("size", [257, 4_096, 131_072])
def test_pieces_of_any_size_give_the_same(
    large: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    with Folder(large) as folder:
        monkeypatch.setattr(window, "_PIECE", 1 << 30)
        whole = window.read_window(folder, "MEMORY.md", 60_000)
        monkeypatch.setattr(window, "_PIECE", size)
        pieces = window.read_window(folder, "MEMORY.md", 60_000)
    assert [record.id for record in whole.records] == [record.id for record in pieces.records]
    assert (whole.secret, whole.unread) == (pieces.secret, pieces.unread)
    assert len([record for record in whole.records if record.category == "decision"]) > 50
    assert len(whole.secret) > 10
